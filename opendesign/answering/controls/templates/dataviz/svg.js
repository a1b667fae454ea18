const byId = (id) => document.getElementById(id);
const all = (selector) => [...document.querySelectorAll(selector)];
const narrow = innerWidth < 760;
const frame = { wide: narrow ? 480 : 1072, high: narrow ? 360 : 400, left: 48, right: 8, top: 16, bottom: 40 };

function make(kind, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/* A round step that divides the way from 0 to `most` in about five. */
function stepFor(most) {
  const rough = most / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
}

/* Twelve names of months fit on a telephone by their first letter only. */
function short(label, count) {
  return narrow && count > 6 ? label[0] : label;
}

function newSheet(label) {
  return make("svg", { viewBox: `0 0 ${frame.wide} ${frame.high}`, role: "img", "aria-label": label });
}

function drawHeights(sheet, most) {
  const step = stepFor(most);
  const top = Math.ceil(most / step) * step;
  const y = (value) => frame.high - frame.bottom - (value / top) * (frame.high - frame.top - frame.bottom);
  for (let value = 0; value <= top + step / 2; value += step) {
    sheet.append(make("line", { class: value ? "grid" : "axis", x1: frame.left, x2: frame.wide - frame.right, y1: y(value), y2: y(value) }));
    sheet.append(make("text", { x: frame.left - 8, y: y(value) + 5, "text-anchor": "end" }, value));
  }
  return y;
}

function withTip(mark, text) {
  const show = () => {
    const [box, around] = [mark.getBoundingClientRect(), byId("tip").parentElement.getBoundingClientRect()];
    byId("tip").textContent = text;
    byId("tip").hidden = false;
    const wide = byId("tip").offsetWidth;
    byId("tip").style.left = `${Math.max(0, Math.min(box.left - around.left + box.width / 2 - wide / 2, around.width - wide))}px`;
    byId("tip").style.top = `${Math.max(0, box.top - around.top - 44)}px`;
  };
  mark.classList.add("mark");
  mark.setAttribute("aria-label", text);
  mark.tipText = show;
  return mark;
}

function listenForTips() {
  for (const kind of ["pointerover", "focusin", "click"]) byId("chart").addEventListener(kind, (event) => event.target.tipText?.());
  for (const kind of ["pointerout", "focusout"]) byId("chart").addEventListener(kind, () => (byId("tip").hidden = true));
}
