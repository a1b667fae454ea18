const brick = { wide: 72, high: 24, gap: 6, left: 13, top: 56, columns: 10, rows: 5 };
const game = {
  reset() {
    this.paddle = { x: width / 2, y: height - 48 };
    this.bricks = [];
    for (let row = 0; row < brick.rows; row += 1) {
      for (let column = 0; column < brick.columns; column += 1) {
        const left = brick.left + column * (brick.wide + brick.gap);
        const top = brick.top + row * (brick.high + brick.gap);
        this.bricks.push({ left, top, paint: ["accent", "series-1", "series-2", "series-3", "accent"][row] });
      }
    }
    this.hold();
  },
  hold() {
    this.ball = { dx: 0, dy: 0, held: true };
    this.carry();
  },
  carry() {
    if (this.ball.held) Object.assign(this.ball, { x: this.paddle.x, y: this.paddle.y - 18 });
  },
  serve() {
    Object.assign(this.ball, { held: false, dx: chance() < 0.5 ? -3.2 : 3.2, dy: -5.2 });
  },
  move(across, along) {
    this.paddle.x = within(62, this.paddle.x + across, width - 62);
    this.paddle.y = within(height - 120, this.paddle.y + along, height - 28);
    this.carry();
  },
  press(key) {
    const way = { ArrowLeft: [-24, 0], ArrowRight: [24, 0], ArrowUp: [0, -18], ArrowDown: [0, 18] }[key];
    if (way) this.move(...way);
    else if (this.ball.held) this.serve();
    else this.ball.dx = -this.ball.dx;
  },
  step(held) {
    this.move(9 * (held.has("ArrowRight") - held.has("ArrowLeft")), 0);
    if (this.ball.held) return;
    const ball = this.ball;
    ball.x += ball.dx;
    ball.y += ball.dy;
    if (ball.x < 10 || ball.x > width - 10) ball.dx = Math.abs(ball.dx) * (ball.x < 10 ? 1 : -1);
    if (ball.y < 10) ball.dy = Math.abs(ball.dy);
    this.bounce(ball);
    this.hit(ball);
    if (ball.y > height + 20) {
      this.hold();
      lose();
    }
  },
  bounce(ball) {
    const { x, y } = this.paddle;
    if (ball.dy > 0 && Math.abs(ball.x - x) < 66 && Math.abs(ball.y - y) < 12) {
      ball.dy = -Math.abs(ball.dy);
      ball.dx = within(-6, (ball.x - x) / 11, 6);
    }
  },
  hit(ball) {
    const place = this.bricks.findIndex(
      ({ left, top }) => ball.x > left - 8 && ball.x < left + brick.wide + 8 && ball.y > top - 8 && ball.y < top + brick.high + 8,
    );
    if (place < 0) return;
    this.bricks.splice(place, 1);
    ball.dy = -ball.dy;
    gain(10);
    if (!this.bricks.length) this.reset();
  },
  draw() {
    for (const { left, top, paint } of this.bricks) block(left, top, brick.wide, brick.high, paints[paint], 4);
    block(this.paddle.x - 60, this.paddle.y - 8, 120, 16, paints.ink, 8);
    disc(this.ball.x, this.ball.y, 10, paints["series-1"]);
  },
};
