const order = { column: -1, down: false };

/* Writes rows of [text, number, number, …] in the order that was asked for. */
function fill(rows) {
  const sorted = [...rows];
  if (order.column >= 0) {
    sorted.sort((a, b) => (a[order.column].value > b[order.column].value ? 1 : -1) * (order.down ? -1 : 1));
  }
  const body = document.querySelector("#table tbody");
  body.replaceChildren(
    ...sorted.map((row) => {
      const line = document.createElement("tr");
      for (const { text, value } of row) {
        const cell = document.createElement("td");
        cell.textContent = text ?? value;
        if (text === undefined) cell.className = "number";
        line.append(cell);
      }
      return line;
    }),
  );
  all("#table th").forEach((head, at) => {
    if (at === order.column) head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
}

function listenForSort(redraw) {
  for (const button of all("[data-sort]")) {
    button.addEventListener("click", () => {
      const column = Number(button.dataset.sort);
      order.down = order.column === column ? !order.down : column > 0;
      order.column = column;
      redraw();
    });
  }
}
