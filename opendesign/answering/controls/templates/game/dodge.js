const speed = 7;
const game = {
  reset() {
    this.craft = { x: width / 2, y: height - 70, safe: 0 };
    this.falling = Array.from({ length: 9 }, (_, place) => this.drop(50 * place - 150, place % 3 === 1));
    this.flashes = 2;
    this.glow = 0;
    this.time = 0;
  },
  drop(y, good = chance() < 0.3) {
    return { x: 40 + chance() * (width - 80), y, good, size: good ? 14 : 22 + chance() * 26, speed: 2 + chance() * 2.5 };
  },
  move(across, along) {
    this.craft.x = within(28, this.craft.x + across, width - 28);
    this.craft.y = within(40, this.craft.y + along, height - 28);
  },
  press(key) {
    const way = { ArrowLeft: [-18, 0], ArrowRight: [18, 0], ArrowUp: [0, -18], ArrowDown: [0, 18] }[key];
    if (way) this.move(...way);
    else if (this.flashes > 0) {
      this.flashes -= 1;
      this.glow = 20;
      this.falling = this.falling.map((_, place) => this.drop(-60 * place - 40));
    } else this.glow = 6;
  },
  step(held) {
    this.time += 1;
    this.move(speed * (held.has("ArrowRight") - held.has("ArrowLeft")), speed * (held.has("ArrowDown") - held.has("ArrowUp")));
    this.glow = Math.max(0, this.glow - 1);
    this.craft.safe = Math.max(0, this.craft.safe - 1);
    this.falling = this.falling.map((thing) => this.fall(thing));
    if (this.time % 60 === 0) gain(1);
  },
  fall(thing) {
    thing.y += thing.speed + this.time / 1500;
    const near = Math.hypot(thing.x - this.craft.x, thing.y - this.craft.y) < thing.size + 18;
    if (near && thing.good) gain(10);
    else if (near && this.craft.safe === 0) {
      this.craft.safe = 60;
      lose();
    }
    return (near && (thing.good || this.craft.safe === 60)) || thing.y > height + 60 ? this.drop(-60) : thing;
  },
  draw() {
    block(0, 0, width, height, this.glow ? paints.soft : paints.surface, 0);
    for (let place = 0; place < 40; place += 1) {
      disc((place * 197) % width, (place * 131 + this.time * (1 + (place % 3))) % height, 1 + (place % 2), paints.line);
    }
    for (const thing of this.falling) {
      if (thing.good) disc(thing.x, thing.y, thing.size, paints["series-2"]);
      else block(thing.x - thing.size, thing.y - thing.size, 2 * thing.size, 2 * thing.size, paints["series-1"]);
    }
    const { x, y, safe } = this.craft;
    if (safe % 10 < 6) {
      pen.fillStyle = paints.accent;
      pen.beginPath();
      for (const [dx, dy] of [[0, -26], [22, 20], [0, 10], [-22, 20]]) pen.lineTo(x + dx, y + dy);
      pen.fill();
    }
  },
};
