const canvas = document.getElementById("scene");
const spin = document.getElementById("spin");
const zoom = document.getElementById("zoom");
const light = document.getElementById("light");
const paint = webglPainter(canvas) || flatPainter(canvas);
const radians = (degrees) => (degrees * Math.PI) / 180;
const start = { yaw: 30, pitch: 24 };
const view = { ...start, moment: 0, choice: 0, spinning: !matchMedia("(prefers-reduced-motion: reduce)").matches };

function draw() {
  const seen = {
    yaw: radians(view.yaw),
    pitch: radians(view.pitch),
    light: radians(Number(light.value)),
    distance: (farness * Number(zoom.value)) / 100,
  };
  paint(project(build(view), seen, canvas.width / canvas.height));
}

function say() {
  const yaw = ((Math.round(view.yaw) % 360) + 360) % 360;
  document.getElementById("readout").textContent = `Turned ${yaw}°, tilted ${Math.round(view.pitch)}°`;
}

function turnBy(across, along) {
  view.yaw += across;
  view.pitch = Math.max(-80, Math.min(80, view.pitch + along));
  draw();
  say();
}

function setSpin(on) {
  view.spinning = on;
  spin.setAttribute("aria-pressed", String(on));
  spin.textContent = on ? "Stop turning" : "Start turning";
}

let odd = false;
function frame() {
  odd = !odd;
  if (odd && view.spinning) {
    view.yaw += 0.8;
    view.moment += 1;
    draw();
  }
  requestAnimationFrame(frame);
}

function listenForDrag() {
  let last = null;
  canvas.addEventListener("pointerdown", (event) => {
    last = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
    setSpin(false);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!last) return;
    turnBy((event.clientX - last[0]) / 2, (event.clientY - last[1]) / 2);
    last = [event.clientX, event.clientY];
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (last = null));
}

function listen() {
  listenForDrag();
  canvas.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, -12], ArrowDown: [0, 12] }[event.key];
    if (!way) return;
    event.preventDefault();
    turnBy(...way);
  });
  for (const button of document.querySelectorAll("[data-turn]")) {
    button.addEventListener("click", () => turnBy(...button.dataset.turn.split(",").map(Number)));
  }
  for (const slider of [zoom, light]) slider.addEventListener("input", draw);
  spin.addEventListener("click", () => setSpin(!view.spinning));
  document.getElementById("reset").addEventListener("click", () => {
    Object.assign(view, start, { moment: 0 });
    zoom.value = 100;
    light.value = 35;
    turnBy(0, 0);
  });
  for (const button of document.querySelectorAll("[data-choice]")) {
    button.addEventListener("click", () => {
      view.choice = Number(button.dataset.choice);
      for (const other of document.querySelectorAll("[data-choice]")) {
        other.setAttribute("aria-pressed", String(other === button));
      }
      draw();
    });
  }
}

setSpin(view.spinning);
draw();
frame();
