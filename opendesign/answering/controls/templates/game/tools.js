const canvas = document.getElementById("game");
const pen = canvas.getContext("2d");
const { width, height } = canvas;
const style = getComputedStyle(document.documentElement);
const colour = (name) => style.getPropertyValue(`--${name}`).trim();
const paints = Object.fromEntries(
  ["ground", "surface", "ink", "muted", "line", "accent", "soft", "series-1", "series-2", "series-3"].map((name) => [name, colour(name)]),
);

/* A number from 0 to 1: the same row of numbers on every visit. */
function chance() {
  drawn = (Math.imul(drawn, 1664525) + 1013904223) >>> 0;
  return drawn / 4294967296;
}

function block(x, y, wide, high, paint, round = 6) {
  pen.fillStyle = paint;
  pen.beginPath();
  pen.roundRect(x, y, wide, high, round);
  pen.fill();
}

function disc(x, y, radius, paint) {
  pen.fillStyle = paint;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
}

function within(low, value, high) {
  return Math.max(low, Math.min(high, value));
}
