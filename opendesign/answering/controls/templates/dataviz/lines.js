function chart(rows, series, half) {
  const [from, to] = [[0, 12], [0, 6], [6, 12]][half];
  const labels = months.slice(from, to);
  const sheet = newSheet("A line for each series");
  const y = drawHeights(sheet, Math.max(10, ...series.flatMap((one) => rows[one].slice(from, to))));
  const room = (frame.wide - frame.left - frame.right) / labels.length;
  const x = (at) => frame.left + room * (at + 0.5);
  labels.forEach((label, at) => {
    sheet.append(make("text", { x: x(at), y: frame.high - 12, "text-anchor": "middle" }, short(label, labels.length)));
  });
  for (const one of series) {
    const values = rows[one].slice(from, to);
    const points = values.map((value, at) => `${x(at)},${y(value)}`).join(" ");
    sheet.append(make("polyline", { class: `path s${one}`, points }));
    values.forEach((value, at) => {
      const dot = make("circle", { class: `s${one}`, cx: x(at), cy: y(value), r: 6 });
      sheet.append(withTip(dot, `${names[one]}, ${labels[at]}: ${value}`));
    });
  }
  return sheet;
}
