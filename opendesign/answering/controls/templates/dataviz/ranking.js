let measure = "size";
const signed = (value) => (value < 0 ? `−${-value}` : `+${value}`);
const textOf = (place) => (measure === "size" ? String(place.size) : `${signed(place.change)} %`);

function shown() {
  const [group, least] = [byId("group").value, Number(byId("least").value)];
  return places
    .filter((place) => (!group || place.group === group) && place.size >= least)
    .sort((a, b) => b[measure] - a[measure]);
}

function chart(rows) {
  const sheet = newSheet("A bar for each place, the largest first");
  const [left, right, high] = [160, 64, frame.high / 10];
  const most = Math.max(1, ...rows.map((place) => place[measure]));
  const least = Math.min(0, ...rows.map((place) => place[measure]));
  const x = (value) => left + ((value - least) / (most - least)) * (frame.wide - left - right);
  rows.forEach((place, at) => {
    const [from, to] = [x(Math.min(0, place[measure])), x(Math.max(0, place[measure]))];
    const middle = (at + 0.5) * high + 5;
    sheet.append(make("text", { x: left - 16, y: middle, "text-anchor": "end" }, place.name));
    const box = { x: from, y: at * high + 6, width: Math.max(2, to - from), height: high - 12, rx: 3 };
    sheet.append(withTip(make("rect", { class: `bar s${names.indexOf(place.group)}`, ...box }), `${place.name}, ${place.group}: ${textOf(place)}`));
    sheet.append(make("text", { x: to + 8, y: middle }, textOf(place)));
  });
  sheet.append(make("line", { class: "axis", x1: x(0), x2: x(0), y1: 0, y2: frame.high }));
  return sheet;
}

function draw() {
  const rows = shown();
  byId("tip").hidden = true;
  byId("caption").textContent = measure === "size" ? measured : "Change in a year, per cent";
  byId("least-text").textContent = byId("least").value;
  byId("chart").replaceChildren(chart(rows));
  byId("count").textContent = rows.length;
  byId("first").textContent = rows.length ? rows[0].name : "–";
  byId("mean").textContent = rows.length ? Math.round(rows.reduce((sum, place) => sum + place.size, 0) / rows.length) : "–";
  fill(rows.map((place) => [
    { text: place.name, value: place.name },
    { text: place.group, value: place.group },
    { value: place.size },
    { value: place.change },
  ]));
}

function listen() {
  listenForTips();
  listenForSort(draw);
  for (const id of ["group", "least"]) byId(id).addEventListener("input", draw);
  for (const button of all("[data-measure]")) {
    button.addEventListener("click", () => {
      measure = button.dataset.measure;
      for (const other of all("[data-measure]")) other.setAttribute("aria-pressed", String(other === button));
      draw();
    });
  }
}

draw();
