function grouped(row, monthly) {
  if (monthly) return row;
  return [0, 3, 6, 9].map((from) => row[from] + row[from + 1] + row[from + 2]);
}

function chart(rows, series, monthly) {
  const labels = monthly ? months : ["Jan–Mar", "Apr–Jun", "Jul–Sep", "Oct–Dec"];
  const shown = series.map((one) => ({ one, values: grouped(rows[one], monthly) }));
  const sheet = newSheet("Bars for each series");
  const y = drawHeights(sheet, Math.max(10, ...shown.flatMap(({ values }) => values)));
  const room = (frame.wide - frame.left - frame.right) / labels.length;
  const wide = (room * 0.76) / Math.max(1, shown.length);
  labels.forEach((label, at) => {
    const left = frame.left + room * at + room * 0.12;
    shown.forEach(({ one, values }, place) => {
      const box = { x: left + place * wide, y: y(values[at]), width: wide - 2, height: y(0) - y(values[at]), rx: 3 };
      sheet.append(withTip(make("rect", { class: `bar s${one}`, ...box }), `${names[one]}, ${label}: ${values[at]}`));
    });
    sheet.append(make("text", { x: frame.left + room * (at + 0.5), y: frame.high - 12, "text-anchor": "middle" }, short(label, labels.length)));
  });
  return sheet;
}
