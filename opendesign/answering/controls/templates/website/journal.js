const byId = (id) => document.getElementById(id);
const saved = new Set();

function draw() {
  for (const place of document.querySelectorAll("[data-count]")) place.textContent = saved.size;
  byId("none").hidden = saved.size > 0;
  byId("saved-list").hidden = saved.size === 0;
  byId("saved-list").replaceChildren(
    ...[...saved].map((place) => {
      const row = document.createElement("li");
      row.className = "line";
      row.textContent = heads[place];
      return row;
    }),
  );
  for (const button of document.querySelectorAll("[data-save]")) {
    const on = saved.has(Number(button.dataset.save));
    button.setAttribute("aria-pressed", String(on));
    button.textContent = on ? "Saved" : "Save";
  }
}

function save(place) {
  if (!saved.delete(place)) saved.add(place);
  draw();
}

function read(place) {
  byId("story-head").textContent = heads[place];
  byId("story-lead").textContent = leads[place];
  byId("story-art").src = document.querySelectorAll("article.item img")[place].src;
  go("story");
}

function filter(kind) {
  for (const button of document.querySelectorAll("[data-filter]")) {
    button.setAttribute("aria-pressed", String(button.dataset.filter === kind));
  }
  for (const item of document.querySelectorAll("[data-kind]")) {
    item.hidden = kind !== "All" && item.dataset.kind !== kind;
  }
}

function listen() {
  listenForPages();
  for (const button of document.querySelectorAll("[data-save]")) {
    button.addEventListener("click", () => save(Number(button.dataset.save)));
  }
  for (const button of document.querySelectorAll("[data-read]")) {
    button.addEventListener("click", () => read(Number(button.dataset.read)));
  }
  for (const button of document.querySelectorAll("[data-filter]")) {
    button.addEventListener("click", () => filter(button.dataset.filter));
  }
  listenForForm(byId("letter"), (data) => {
    byId("done").hidden = false;
    byId("done").textContent = `Thank you, ${data.get("name")}. The next letter goes to ${data.get("email")}.`;
  });
}

draw();
