/* Days are counted from 1 January 2030, a Tuesday, so that no clock of the reader is asked. */
const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const before = (which) => lengths.slice(0, which).reduce((sum, days) => sum + days, 0);
const weekday = (day) => (day + 1) % 7; // 0 is Monday
let chosen = [];
let focus = before(month) + 9;

function nameOf(day) {
  const which = lengths.findIndex((_, at) => day < before(at) + lengths[at]);
  return `${day - before(which) + 1} ${names[which]}`;
}

function cell(day) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "day";
  button.textContent = day - before(month) + 1;
  button.setAttribute("aria-label", nameOf(day));
  button.dataset.day = day;
  button.tabIndex = day === focus ? 0 : -1;
  if (chosen.includes(day)) button.classList.add("is-on");
  if (chosen.length === 2 && day > chosen[0] && day < chosen[1]) button.classList.add("between");
  return button;
}

function draw() {
  byId("month").textContent = `${names[month]} 2030`;
  const heads = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"].map((name) => {
    const head = document.createElement("b");
    head.textContent = name;
    return head;
  });
  const blanks = Array.from({ length: weekday(before(month)) }, () => document.createElement("span"));
  const cells = Array.from({ length: lengths[month] }, (_, at) => cell(before(month) + at));
  byId("days").replaceChildren(...heads, ...blanks, ...cells);
  const [from, to] = chosen;
  const nights = to - from === 1 ? "1 night" : `${to - from} nights`;
  if (to !== undefined) say(`${nameOf(from)} to ${nameOf(to)}, ${nights}`);
  else if (from !== undefined) say(byId("range").checked ? `From ${nameOf(from)}. Choose the last day` : nameOf(from));
  else say(byId("range").checked ? "Choose the first day" : "Choose a day");
}

function choose(day) {
  const ranging = byId("range").checked && chosen.length === 1 && day > chosen[0];
  chosen = ranging ? [chosen[0], day] : [day];
  focus = day;
  draw();
}

function turn(step) {
  month = (month + step + 12) % 12;
  focus = before(month);
  draw();
}

function move(event) {
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };
  if (event.key === "PageUp" || event.key === "PageDown") turn(event.key === "PageUp" ? -1 : 1);
  else if (event.key in steps) {
    focus = Math.max(0, Math.min(364, focus + steps[event.key]));
    month = lengths.findIndex((_, at) => focus < before(at) + lengths[at]);
    draw();
  } else return;
  event.preventDefault();
  document.querySelector(`[data-day="${focus}"]`).focus();
}

function listen() {
  byId("days").addEventListener("click", (event) => {
    const button = event.target.closest("[data-day]");
    if (button) choose(Number(button.dataset.day));
  });
  byId("days").addEventListener("keydown", move);
  byId("before").addEventListener("click", () => turn(-1));
  byId("after").addEventListener("click", () => turn(1));
  for (const [id, kind] of [["clear", "click"], ["range", "change"]]) {
    byId(id).addEventListener(kind, () => {
      chosen = [];
      draw();
    });
  }
}

draw();
