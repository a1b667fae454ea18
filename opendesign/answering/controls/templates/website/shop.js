const cart = new Map();
const byId = (id) => document.getElementById(id);

function stepper(place, change, label) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = change > 0 ? "+" : "−";
  button.setAttribute("aria-label", label);
  button.addEventListener("click", () => add(place, change));
  return button;
}

function line(place, count) {
  const row = document.createElement("div");
  row.className = "line";
  const name = document.createElement("span");
  name.textContent = `${count} × ${goods[place]}`;
  const steps = document.createElement("span");
  steps.className = "row";
  steps.append(stepper(place, -1, `One less of ${goods[place]}`), stepper(place, 1, `One more of ${goods[place]}`));
  row.append(name, steps);
  return row;
}

function draw() {
  const entries = [...cart];
  const count = entries.reduce((sum, [, number]) => sum + number, 0);
  for (const place of document.querySelectorAll("[data-count]")) place.textContent = count;
  byId("lines").replaceChildren(...entries.map(([place, number]) => line(place, number)));
  byId("empty").hidden = count > 0;
  byId("total").textContent = "€" + entries.reduce((sum, [place, number]) => sum + number * prices[place], 0);
  for (const button of document.querySelectorAll("[data-add]")) {
    const number = cart.get(Number(button.dataset.add));
    button.textContent = number ? `In cart: ${number}` : "Add to cart";
  }
}

function add(place, change) {
  const number = (cart.get(place) || 0) + change;
  if (number > 0) cart.set(place, number);
  else cart.delete(place);
  byId("done").hidden = true;
  draw();
}

function filter(kind) {
  for (const button of document.querySelectorAll("[data-filter]")) {
    button.setAttribute("aria-pressed", String(button.dataset.filter === kind));
  }
  for (const item of document.querySelectorAll("#goods [data-kind]")) {
    item.hidden = kind !== "All" && item.dataset.kind !== kind;
  }
}

function listen() {
  listenForPages();
  for (const button of document.querySelectorAll("[data-add]")) {
    button.addEventListener("click", () => add(Number(button.dataset.add), 1));
  }
  for (const button of document.querySelectorAll("[data-filter]")) {
    button.addEventListener("click", () => filter(button.dataset.filter));
  }
  listenForForm(byId("order"), (data) => {
    const done = byId("done");
    done.hidden = false;
    done.textContent = cart.size
      ? `Thank you, ${data.get("name")}. Your order of ${byId("total").textContent} is on its way.`
      : "Your cart is empty: add something first.";
    if (cart.size) {
      cart.clear();
      draw();
    }
  });
}
