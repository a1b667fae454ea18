const farness = 4.2;
const lift = 0.04;
const sides = 6 + (number % 4);
const onRing = (radius, height, step, count) => {
  const angle = (2 * Math.PI * step) / count;
  return [radius * Math.cos(angle), height, radius * Math.sin(angle)];
};

/* A solid of revolution: rings of [radius, height] from the bottom up. */
function lathe(rings, count) {
  const faces = [];
  for (let level = 0; level + 1 < rings.length; level += 1) {
    for (let step = 0; step < count; step += 1) {
      const [low, high] = [rings[level], rings[level + 1]];
      const around = [
        onRing(low[0], low[1], step, count),
        onRing(high[0], high[1], step, count),
        onRing(high[0], high[1], step + 1, count),
        onRing(low[0], low[1], step + 1, count),
      ];
      const points = high[0] === 0 ? [around[0], around[1], around[3]] : low[0] === 0 ? around.slice(0, 3) : around;
      faces.push({ points, colour: series[(step + level) % 2 ? 0 : level % 2 ? 3 : 0] });
    }
  }
  return faces;
}

function circle(count, at) {
  return Array.from({ length: count + 1 }, (_, step) => at((2 * Math.PI * step) / count));
}

const shapes = [
  () => lathe([[0, -1.2], [0.7, -0.35], [1.15, 0.3], [0.75, 0.8], [0, 0.8]], sides),
  () => lathe([[0, -0.85], [1.2, -0.85], [1.2, 0.85], [0, 0.85]], 4),
  () => lathe(circle(24, (angle) => [1.2 * Math.abs(Math.sin(angle / 2)), -1.2 * Math.cos(angle / 2)]).map(([r, h], at) => [at % 24 ? r : 0, h]), 2 * sides + 8),
  () => lathe(circle(12, (angle) => [1 + 0.4 * Math.cos(angle), 0.4 * Math.sin(angle)]), 24),
];

function build(view) {
  return shapes[view.choice]();
}
