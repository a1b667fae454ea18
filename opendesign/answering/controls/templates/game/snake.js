const cell = 40;
const columns = width / cell;
const rows = height / cell;
const ways = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const game = {
  reset() {
    this.body = [8, 7, 6, 5].map((x) => [x, 10]);
    this.way = ways.ArrowRight;
    this.wait = 0;
    this.place();
  },
  place() {
    do this.food = [Math.floor(chance() * columns), Math.floor(chance() * rows)];
    while (this.on(this.food, this.body));
  },
  on([x, y], cells) {
    return cells.some((one) => one[0] === x && one[1] === y);
  },
  press(key) {
    const way = ways[key];
    if (way && way[0] === -this.way[0] && way[1] === -this.way[1]) {
      this.body.reverse();
      const [head, neck] = this.body;
      const step = [head[0] - neck[0], head[1] - neck[1]];
      this.way = step.map((change) => (Math.abs(change) > 1 ? -Math.sign(change) : change));
    } else if (way) this.way = way;
    this.advance();
  },
  advance() {
    this.wait = 0;
    const head = [(this.body[0][0] + this.way[0] + columns) % columns, (this.body[0][1] + this.way[1] + rows) % rows];
    if (this.on(head, this.body.slice(0, -1))) {
      this.body = this.body.slice(0, 4);
      lose();
      return;
    }
    this.body.unshift(head);
    if (this.on(this.food, [head])) {
      gain(10);
      this.place();
    } else this.body.pop();
  },
  step() {
    this.wait += 1;
    if (this.wait >= within(5, 12 - Math.floor(state.score / 40), 12)) this.advance();
  },
  draw() {
    for (let row = 0; row < rows; row += 1) {
      for (let column = row % 2; column < columns; column += 2) block(column * cell, row * cell, cell, cell, paints.ground, 0);
    }
    this.body.forEach(([x, y], place) => {
      block(x * cell + 2, y * cell + 2, cell - 4, cell - 4, place ? paints.accent : paints.ink, place ? 8 : 14);
    });
    const [x, y] = this.body[0];
    disc(x * cell + 20 + 8 * this.way[0] - 5 * this.way[1], y * cell + 20 + 8 * this.way[1] - 5 * this.way[0], 3, paints.surface);
    disc(x * cell + 20 + 8 * this.way[0] + 5 * this.way[1], y * cell + 20 + 8 * this.way[1] + 5 * this.way[0], 3, paints.surface);
    disc(this.food[0] * cell + 20, this.food[1] * cell + 20, 14, paints["series-1"]);
  },
};
