{
for (const box of document.querySelectorAll(".tabs")) box.addEventListener("click", (event) => {
  const tab = event.target.closest("[data-tab]"); if (!tab) return;
  box.querySelectorAll("[data-tab]").forEach((one) => one.setAttribute("aria-selected", one === tab));
  box.querySelectorAll(".panel").forEach((panel, at) => { panel.hidden = at !== +tab.dataset.tab; });
});
for (const box of document.querySelectorAll(".chart")) box.addEventListener("click", (event) => {
  const button = event.target.closest("[data-scale]"); if (!button) return;
  box.querySelectorAll("[data-scale]").forEach((one) => one.setAttribute("aria-pressed", one === button));
  box.querySelectorAll("rect").forEach((bar) => {
    bar.dataset.full ||= bar.getAttribute("height");
    const height = bar.dataset.full * button.dataset.scale;
    bar.setAttribute("height", height); bar.setAttribute("y", 240 - height);
  });
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-add]"); if (!button) return;
  const count = button.parentNode.querySelector(".count");
  count.textContent = +count.textContent + +button.dataset.add;
});
for (const form of document.querySelectorAll("form")) form.addEventListener("submit", (event) => {
  event.preventDefault(); form.querySelector("output").textContent = " Thank you.";
});
const board = document.getElementById("board");
if (board) {
  const pen = board.getContext("2d"), hue = board.dataset.hue;
  let x = 60, running = false, score = 0;
  const paint = () => {
    pen.fillStyle = `hsl(${hue} 40% 14%)`; pen.fillRect(0, 0, board.width, board.height);
    for (let n = 0; n < 60; n++) {
      pen.fillStyle = `hsl(${(hue * 1 + n * 5) % 360} 70% 60%)`;
      pen.beginPath(); pen.arc((n * 83) % board.width, (n * 47) % board.height, 3 + n % 9, 0, 7); pen.fill();
    }
    pen.fillStyle = "#fff"; pen.fillRect(x, board.height - 40, 90, 16);
  };
  const tick = () => { if (!running) return; score++;
    document.getElementById("score").textContent = score; x = (x + 2) % board.width; paint();
    requestAnimationFrame(tick); };
  document.getElementById("start").addEventListener("click", () => { running = !running; tick(); });
  board.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") x -= 30; if (event.key === "ArrowRight") x += 30; paint(); });
  paint();
}
}
