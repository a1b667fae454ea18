const stars = all("button[data-star]");
const words = ["Not rated yet", "Poor", "Fair", "Good", "Very good", "Excellent"];
let rating = 0;

function light(number) {
  stars.forEach((star, at) => star.classList.toggle("lit", at < number));
  byId("word").textContent = words[number];
}

function draw() {
  light(rating);
  stars.forEach((star, at) => {
    star.setAttribute("aria-checked", String(at + 1 === rating));
    star.tabIndex = at + 1 === (rating || 1) ? 0 : -1;
  });
  const votes = counts.reduce((sum, count) => sum + count, 0);
  counts.forEach((count, at) => {
    const star = 5 - at;
    document.querySelector(`[data-count="${star}"]`).textContent = count;
    document.querySelector(`[data-share="${star}"]`).style.setProperty("--part", `${(100 * count) / votes}%`);
  });
  byId("votes").textContent = votes;
  byId("mean").textContent = (counts.reduce((sum, count, at) => sum + count * (5 - at), 0) / votes).toFixed(1);
}

function rate(number) {
  rating = Math.max(0, Math.min(5, number));
  say(rating ? `You chose ${rating} of 5` : "Choose one to five stars");
  draw();
}

function send() {
  if (!rating) {
    say("Please choose a star first");
    return;
  }
  const review = document.createElement("p");
  review.className = "review";
  const head = document.createElement("strong");
  head.textContent = `${rating} of 5`;
  const text = document.createElement("span");
  text.textContent = byId("words").value.trim() || words[rating];
  review.append(head, " ", text);
  byId("reviews").prepend(review);
  counts[5 - rating] += 1;
  byId("words").value = "";
  rate(0);
  say("Thank you. Your rating was added");
}

function listen() {
  stars.forEach((star, at) => {
    star.addEventListener("click", () => rate(at + 1));
    star.addEventListener("pointerenter", () => light(at + 1));
    star.addEventListener("pointerleave", () => light(rating));
    star.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      rate(Math.max(1, rating + step));
      stars[rating - 1].focus();
    });
  });
  byId("send").addEventListener("click", send);
  byId("clear").addEventListener("click", () => rate(0));
}

draw();
