"use strict";
// The pages work without this: it adds sorting, search, views, links to them, and the theme button.

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// -- theme -------------------------------------------------------------------------------------------------

const button = one(".theme");
const isDark = () =>
  (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
button.hidden = false;
button.setAttribute("aria-pressed", String(isDark()));
button.addEventListener("click", () => {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  button.setAttribute("aria-pressed", String(theme === "dark"));
  try { localStorage.setItem("theme", theme); } catch { /* it lasts until the page is left */ }
});

// -- state in the address: #sort=cost&dir=down&view=game&q=claude ---------------------------------------------

const readState = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
function writeState(state) {
  const kept = Object.entries(state).filter(([, value]) => value && value !== "all");
  const hash = new URLSearchParams(kept).toString();
  history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
}

// -- a table of runs -------------------------------------------------------------------------------------------

function board(table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const main = table.id === "main-board";
  const heads = [...table.tHead.rows[0].cells];
  const views = new Map(rows.map((row) => [row, JSON.parse(row.dataset.views)]));
  const state = main ? readState() : {};

  for (const head of heads) {
    const sorter = document.createElement("button");
    sorter.type = "button";
    sorter.append(...head.childNodes);
    head.append(sorter);
    sorter.addEventListener("click", () => {
      const key = head.dataset.key;
      const down = firstDown(key);
      if (state.sort !== key) { state.sort = key; state.dir = down ? "down" : "up"; }
      else state.dir = state.dir === "down" ? "up" : "down";
      if (key === "rank" && state.dir === "up") { delete state.sort; delete state.dir; }
      apply();
    });
  }

  const firstDown = (key) => {
    const head = heads.find((h) => h.dataset.key === key);
    return key !== "rank" && key !== "model" && head && !("low" in head.dataset);
  };
  const view = () => state.view || "all";
  const place = (row) => (views.get(row)[view()] || views.get(row).all).place;

  function value(row, key) {
    if (key === "model") return row.dataset.name;
    const cell = one(`td[data-key="${CSS.escape(key)}"]`, row);
    return cell && cell.dataset.value !== undefined ? Number(cell.dataset.value) : null;
  }

  function sort() {
    const key = heads.some((h) => h.dataset.key === state.sort) ? state.sort : "rank";
    const sign = state.dir === "down" ? -1 : 1;
    const order = [...rows].sort((a, b) => {
      if (key === "rank") return sign * (place(a) - place(b));
      const x = value(a, key), y = value(b, key);
      if (x === null || y === null) return (x === null) - (y === null) || place(a) - place(b);
      return sign * (x < y ? -1 : x > y ? 1 : 0) || place(a) - place(b);
    });
    body.append(...order);
    for (const head of heads) {
      if (head.dataset.key === key) head.setAttribute("aria-sort", state.dir === "down" ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    table.classList.toggle("by-rank", key === "rank" && sign === 1);
  }

  function show() {
    for (const row of rows) {
      const now = views.get(row)[view()];
      if (!now) continue;
      const [rank, ranks, tie] = now.rank;
      if (one(".rank", row)) {
        one(".rank b", row).textContent = rank;
        one(".ranks", row).textContent = ranks;
      }
      one(".tie", row).textContent = tie ? "not separated from " + tie : "";
      all("td[data-key]", row).slice(0, now.cells.length).forEach((cell, at) => {
        const [text, number, sub] = now.cells[at];
        if (number === null) delete cell.dataset.value; else cell.dataset.value = number;
        if (cell.classList.contains("total")) total(cell, text, number, sub); else cell.textContent = text;
      });
    }
  }

  function total(cell, text, mean, sub) {
    one(".mean", cell).textContent = text;
    one("small", cell).textContent = sub;
    const glyph = one(".iv", cell);
    if (!glyph) return;
    glyph.toggleAttribute("hidden", mean === null);
    const low = Number(table.dataset.low), high = Number(table.dataset.high);
    const at = (x) => ((100 * (x - low)) / (high - low)).toFixed(1);
    const [from, to] = sub ? sub.split(" – ") : [mean, mean];
    one(".range", glyph).setAttribute("d", `M${at(from)} 4H${at(to)}`);
    one(".dot", glyph).setAttribute("d", `M${at(mean)} 4h0`);
  }

  function search() {
    const words = (state.q || "").toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      row.hidden = !words.every((word) => row.dataset.name.includes(word));
      count += !row.hidden;
    }
    if (main) one(".count").textContent = count === rows.length ? `${count} models` : `${count} of ${rows.length} models`;
  }

  function apply() {
    show();
    sort();
    search();
    if (!main) return;
    one("[data-view]").value = view();
    one("[data-sort]").value = state.sort || "";
    if (one("[data-search]").value !== (state.q || "")) one("[data-search]").value = state.q || "";
    writeState(state);
  }

  if (main) {
    const tools = one(".tools");
    tools.hidden = false;
    one("[data-search]").addEventListener("input", (event) => { state.q = event.target.value; apply(); });
    one("[data-view]").addEventListener("change", (event) => { state.view = event.target.value; apply(); });
    one("[data-sort]").addEventListener("change", (event) => {
      const key = event.target.value;
      if (key) { state.sort = key; state.dir = firstDown(key) ? "down" : "up"; }
      else { delete state.sort; delete state.dir; }
      apply();
    });
    addEventListener("hashchange", () => {
      for (const key of Object.keys(state)) delete state[key];
      Object.assign(state, readState());
      check();
      apply();
    });
  }
  function check() {
    if (main && ![...one("[data-view]").options].some((option) => option.value === state.view)) delete state.view;
  }
  check();
  // A link to a place on the page is not a state: it is left alone.
  if (main && location.hash && !location.hash.includes("=")) { for (const k of Object.keys(state)) delete state[k]; show(); sort(); search(); }
  else apply();
}
all("table[data-board]").forEach(board);

// -- the list of cases -------------------------------------------------------------------------------------------

const list = one("table[data-list]");
if (list) {
  one(".tools").hidden = false;
  const input = one("[data-search]");
  const rows = [...list.tBodies[0].rows];
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      row.hidden = !words.every((word) => row.dataset.name.includes(word));
      count += !row.hidden;
    }
    one(".count").textContent = `${count} case${count === 1 ? "" : "s"}`;
  };
  input.value = readState().q || "";
  input.addEventListener("input", () => { filter(); writeState({ q: input.value }); });
  filter();
}

// -- choosing two models -------------------------------------------------------------------------------------------

for (const picker of all(".picker")) {
  picker.hidden = false;
  const [first, second, go] = ["[data-first]", "[data-second]", "[data-go]"].map((s) => one(s, picker));
  const point = () => {
    const same = first.value === second.value;
    go.classList.toggle("off", same);
    if (same) { go.removeAttribute("href"); return; }
    go.href = [first.value, second.value].sort().join("--") + ".html";
  };
  first.addEventListener("change", point);
  second.addEventListener("change", point);
  point();
}
