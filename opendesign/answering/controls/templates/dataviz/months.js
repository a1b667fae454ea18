let span = 0;
const signed = (value) => (value < 0 ? `−${-value}` : `+${value}`);

function chosen() {
  return all("[name=series]:checked").map((box) => Number(box.value));
}

function figures(series) {
  const [year, before] = [byId("year").value, String(Number(byId("year").value) - 1)];
  const sum = (name) => series.reduce((total, one) => total + years[name][one].reduce((a, b) => a + b, 0), 0);
  byId("sum").textContent = series.length ? sum(year).toLocaleString("en") : "–";
  byId("change").textContent = series.length && years[before] ? `${signed(Math.round((1000 * (sum(year) - sum(before))) / sum(before)) / 10)} %` : "–";
  const monthly = months.map((_, at) => series.reduce((total, one) => total + years[year][one][at], 0));
  const best = monthly.indexOf(Math.max(...monthly));
  byId("top").textContent = series.length ? months[best] : "–";
  byId("top-month").textContent = series.length ? `${monthly[best]} in all shown series` : "Choose a series";
}

function draw() {
  const year = byId("year").value;
  const series = chosen();
  byId("tip").hidden = true;
  byId("caption").textContent = `${measured}, ${year}`;
  byId("chart").replaceChildren(chart(years[year], series, span));
  figures(series);
  const rows = months.map((month, at) => [{ text: month, value: at }, ...years[year].map((row) => ({ value: row[at] }))]);
  fill(rows);
}

function listen() {
  listenForTips();
  listenForSort(draw);
  byId("year").addEventListener("change", draw);
  for (const box of all("[name=series]")) box.addEventListener("change", draw);
  for (const button of all("[data-span]")) {
    button.addEventListener("click", () => {
      span = Number(button.dataset.span);
      for (const other of all("[data-span]")) other.setAttribute("aria-pressed", String(other === button));
      draw();
    });
  }
}

draw();
