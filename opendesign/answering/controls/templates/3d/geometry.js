const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const series = [0, 1, 2, 3].map((place) => channels(colourOf(`--series-${place}`)));

function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
}

function subtract(a, b) {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

function unit(a) {
  const length = Math.hypot(...a) || 1;
  return a.map((value) => value / length);
}

function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function dot(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function turn(point, yaw, pitch) {
  const [x, y, z] = point;
  const x1 = x * Math.cos(yaw) + z * Math.sin(yaw);
  const z1 = z * Math.cos(yaw) - x * Math.sin(yaw);
  return [x1, y * Math.cos(pitch) - z1 * Math.sin(pitch), y * Math.sin(pitch) + z1 * Math.cos(pitch)];
}

/* Faces of a scene, turned, lit and put in perspective: what both painters draw. */
function project(faces, view, aspect) {
  const light = unit([Math.sin(view.light), 0.9, Math.cos(view.light)]);
  const drawn = [];
  for (const face of faces) {
    const points = face.points.map((point) => turn(point, view.yaw, view.pitch));
    const normal = unit(cross(subtract(points[1], points[0]), subtract(points[2], points[0])));
    const away = points.map((point) => view.distance - point[2]);
    if (dot(normal, subtract([0, 0, view.distance], points[0])) <= 0) continue;
    const shade = face.glow ? 1 : 0.55 + 0.6 * Math.max(0, dot(normal, light));
    drawn.push({
      corners: points.map((point, at) => [(1.9 * point[0]) / away[at] / aspect, (1.9 * point[1]) / away[at] + lift, away[at]]),
      colour: face.colour.map((value) => Math.min(1, (0.14 + 0.86 * value) * shade)),
      depth: away.reduce((sum, value) => sum + value, 0) / away.length,
    });
  }
  return drawn;
}
