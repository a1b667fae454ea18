const byId = (id) => document.getElementById(id);

function chosen() {
  return Number(document.querySelector("[name=session]:checked").value);
}

function draw() {
  const guests = Number(byId("guests").value);
  byId("chosen").textContent = sessions[chosen()];
  byId("on").textContent = byId("day").value;
  byId("number").textContent = guests;
  byId("total").textContent = "€" + prices[chosen()] * guests;
}

function show(link) {
  for (const other of document.querySelectorAll("nav a")) other.removeAttribute("aria-current");
  const own = document.querySelector(`nav a[href="${link.getAttribute("href")}"]`);
  own.setAttribute("aria-current", "true");
}

function listen() {
  for (const input of document.querySelectorAll("[name=session], #day, #guests")) input.addEventListener("change", draw);
  for (const link of document.querySelectorAll("a[href^='#']")) link.addEventListener("click", () => show(link));
  listenForForm(byId("form"), (data) => {
    const done = byId("done");
    done.hidden = false;
    done.textContent = `Thank you, ${data.get("name")}. ${sessions[chosen()]} on ${data.get("day")} is yours, for ${byId("total").textContent}.`;
  });
}
