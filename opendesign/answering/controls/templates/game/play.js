/* The round: what is shared by all games. A game has reset(), step(held), press(key) and draw(). */
const state = { playing: false, over: false, score: 0, best: 0, lives: 3 };
const held = new Set();
const keys = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", " "];
const put = (id, text) => (document.getElementById(id).textContent = text);

function show(text) {
  for (const name of ["score", "best", "lives"]) put(name, state[name]);
  if (text) put("say", text);
  pen.fillStyle = paints.surface;
  pen.fillRect(0, 0, width, height);
  game.draw();
  if (state.playing) return;
  block(width / 2 - 200, height / 2 - 60, 400, 120, paints.ink, 16);
  pen.fillStyle = paints.surface;
  pen.textAlign = "center";
  pen.font = "700 31px system-ui, sans-serif";
  pen.fillText(state.over ? "Game over" : state.score ? "Paused" : "Ready?", width / 2, height / 2 - 8);
  pen.font = "400 20px system-ui, sans-serif";
  pen.fillText(state.over ? "Press Restart to play again" : "Press Start or an arrow key", width / 2, height / 2 + 30);
}

function begin() {
  if (state.over) fresh();
  state.playing = true;
  put("start", "Pause");
  show("Playing");
  canvas.focus({ preventScroll: true });
}

function pause() {
  state.playing = false;
  put("start", "Go on");
  show("Paused");
}

function fresh() {
  Object.assign(state, { playing: false, over: false, score: 0, lives: 3 });
  game.reset();
}

function lose() {
  state.lives -= 1;
  if (state.lives > 0) return;
  Object.assign(state, { playing: false, over: true });
  put("start", "Play again");
  show("Game over");
}

function gain(points) {
  state.score += points;
  state.best = Math.max(state.best, state.score);
}

function down(key) {
  mark(key, true);
  if (!state.playing && !state.over) begin();
  held.add(key);
  if (state.playing) {
    game.press(key);
    show();
  }
}

function up(key) {
  mark(key, false);
  held.delete(key);
}

function mark(key, on) {
  for (const button of document.querySelectorAll("[data-key]")) {
    if (button.dataset.key === key) button.classList.toggle("is-down", on);
  }
}

function frame() {
  if (state.playing) {
    game.step(held);
    if (state.playing) show();
  }
  requestAnimationFrame(frame);
}

function listenForKeys() {
  addEventListener("keydown", (event) => {
    if (!keys.includes(event.key) || (event.key === " " && event.target.closest("button"))) return;
    event.preventDefault();
    if (!event.repeat) down(event.key);
  });
  addEventListener("keyup", (event) => up(event.key));
  addEventListener("blur", () => [...held].forEach(up));
}

function listen() {
  listenForKeys();
  document.getElementById("start").addEventListener("click", () => (state.playing ? pause() : begin()));
  document.getElementById("restart").addEventListener("click", () => {
    fresh();
    begin();
  });
  for (const button of document.querySelectorAll("[data-key]")) {
    button.addEventListener("pointerdown", () => down(button.dataset.key));
    for (const end of ["pointerup", "pointerleave", "pointercancel"]) {
      button.addEventListener(end, () => up(button.dataset.key));
    }
    button.addEventListener("keydown", (event) => [" ", "Enter"].includes(event.key) && down(button.dataset.key));
    button.addEventListener("keyup", () => up(button.dataset.key));
  }
}

game.reset();
show();
frame();
