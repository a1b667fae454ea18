const switches = all("[role=switch]");
const isOn = (button) => button.getAttribute("aria-checked") === "true";
let count = 3;

function draw() {
  for (const button of switches) byId("preview").classList.toggle(button.id, isOn(button));
  byId("count").textContent = count;
  byId("places").textContent = count;
  byId("preview-head").style.fontSize = `${byId("size").value}px`;
  for (const button of all("[data-step]")) button.disabled = count + Number(button.dataset.step) < 1 || count + Number(button.dataset.step) > 9;
  const on = switches.filter(isOn).length;
  say(on === 1 ? "1 switch on" : `${on} switches on`);
}

function set(button, on) {
  button.setAttribute("aria-checked", String(on));
}

function listen() {
  for (const button of switches) {
    button.addEventListener("click", () => {
      set(button, !isOn(button));
      draw();
    });
  }
  for (const button of all("[data-step]")) {
    button.addEventListener("click", () => {
      count += Number(button.dataset.step);
      draw();
    });
  }
  byId("size").addEventListener("input", draw);
  byId("reset").addEventListener("click", () => {
    count = 3;
    byId("size").value = 24;
    for (const button of switches) set(button, button.id === "framed");
    draw();
  });
}

draw();
