const farness = 5.6;
const lift = 0.08;
const size = 7;

function box(x, z, half, low, high, colour) {
  const corner = (sx, y, sz) => [x + sx * half, y, z + sz * half];
  const around = [[-1, 1], [1, 1], [1, -1], [-1, -1]];
  const walls = around.map(([ax, az], at) => {
    const [bx, bz] = around[(at + 1) % 4];
    return [corner(ax, low, az), corner(bx, low, bz), corner(bx, high, bz), corner(ax, high, az)];
  });
  return [...walls, around.map(([ax, az]) => corner(ax, high, az))].map((points) => ({ points, colour }));
}

function heightOf(row, column) {
  const drawn = (Math.imul(row * 31 + column * 17 + number, 2654435761) >>> 16) % 100;
  const middle = Math.hypot(row - 3, column - 3);
  return 0.15 + Math.max(0, 1.1 - 0.32 * middle) + drawn / 220;
}

function build(view) {
  const ground = channels(colourOf("--line"));
  const faces = box(0, 0, 1.9, -0.65, -0.55, ground);
  for (let row = 0; row < size; row += 1) {
    const quarter = row < 2 ? 3 : row < 5 ? 2 : 1;
    for (let column = 0; column < size; column += 1) {
      const lit = view.choice === 0 || view.choice === quarter;
      const colour = lit ? series[quarter % 4] : ground;
      const top = -0.55 + heightOf(row, column);
      faces.push(...box((column - 3) * 0.5, (row - 3) * 0.5, 0.18, -0.55, top, colour));
    }
  }
  return faces;
}
