const heads = all(".fold > h3 > button");
const isOpen = (head) => head.getAttribute("aria-expanded") === "true";

function set(head, open) {
  head.setAttribute("aria-expanded", String(open));
  byId(head.getAttribute("aria-controls")).hidden = !open;
}

function count() {
  const way = byId("single").checked ? ", one at a time" : "";
  say(`${heads.filter(isOpen).length} of ${heads.length} open${way}`);
}

function toggle(head) {
  const open = !isOpen(head);
  if (open && byId("single").checked) heads.forEach((other) => set(other, false));
  set(head, open);
  count();
}

function setAll(open) {
  byId("single").checked = byId("single").checked && !open;
  heads.forEach((head) => set(head, open));
  count();
}

function listen() {
  heads.forEach((head, place) => {
    head.addEventListener("click", () => toggle(head));
    head.addEventListener("keydown", (event) => {
      const steps = { ArrowUp: place - 1, ArrowDown: place + 1, Home: 0, End: heads.length - 1 };
      if (!(event.key in steps)) return;
      event.preventDefault();
      heads[(steps[event.key] + heads.length) % heads.length].focus();
    });
  });
  byId("open").addEventListener("click", () => setAll(true));
  byId("close").addEventListener("click", () => setAll(false));
  byId("single").addEventListener("change", () => {
    heads.filter(isOpen).slice(1).forEach((head) => byId("single").checked && set(head, false));
    count();
  });
}
