const farness = 4.6;
const lift = 0.16;
const bodies = [
  { radius: 0.17, path: 0.95, speed: 2.4, colour: 1, choice: 1 },
  { radius: 0.26, path: 1.6, speed: 1.3, colour: 2, choice: 2 },
  { radius: 0.09, path: 1.6, speed: 1.3, colour: 3, choice: 2, moon: 0.44 },
  { radius: 0.21, path: 2.3, speed: 0.6, colour: 3, choice: 3 },
];

function ball(centre, radius, colour, glow) {
  const faces = [];
  const [levels, steps] = [10, 16];
  const at = (level, step) => {
    const down = (Math.PI * level) / levels;
    const round = (2 * Math.PI * step) / steps;
    return [
      centre[0] + radius * Math.sin(down) * Math.cos(round),
      centre[1] + radius * Math.cos(down),
      centre[2] - radius * Math.sin(down) * Math.sin(round),
    ];
  };
  for (let level = 0; level < levels; level += 1) {
    for (let step = 0; step < steps; step += 1) {
      const corners = [at(level, step), at(level + 1, step), at(level + 1, step + 1), at(level, step + 1)];
      const points = level === 0 ? corners.slice(0, 3) : level === levels - 1 ? [corners[0], corners[1], corners[3]] : corners;
      faces.push({ points, colour, glow });
    }
  }
  return faces;
}

function ring(path, colour) {
  const [faces, steps] = [[], 72];
  const at = (radius, step) => {
    const round = (2 * Math.PI * step) / steps;
    return [radius * Math.cos(round), 0, -radius * Math.sin(round)];
  };
  for (let step = 0; step < steps; step += 1) {
    const inside = [at(path - 0.01, step), at(path + 0.01, step), at(path + 0.01, step + 1), at(path - 0.01, step + 1)];
    faces.push({ points: inside, colour, glow: true }, { points: [...inside].reverse(), colour, glow: true });
  }
  return faces;
}

function build(view) {
  const quiet = channels(colourOf("--line"));
  const trail = channels(colourOf("--muted"));
  const faces = ball([0, 0, 0], 0.5, series[0], true);
  for (const path of [0.95, 1.6, 2.3]) faces.push(...ring(path, trail));
  bodies.forEach((body, place) => {
    const angle = (number % 60) / 10 + 2.1 * body.choice + (view.moment * body.speed) / 60;
    const centre = [body.path * Math.cos(angle), 0, -body.path * Math.sin(angle)];
    if (body.moon) {
      const round = place + (view.moment * 5) / 60;
      centre[0] += body.moon * Math.cos(round);
      centre[2] -= body.moon * Math.sin(round);
    }
    const lit = view.choice === 0 || view.choice === body.choice;
    faces.push(...ball(centre, body.radius, lit ? series[body.colour] : quiet, false));
  });
  return faces;
}
