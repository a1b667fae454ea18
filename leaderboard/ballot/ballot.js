"use strict";
(() => {
  const $ = id => document.getElementById(id);
  const ballot = JSON.parse($("data").textContent);
  const { questions, pages } = ballot;
  const PLACE = `opendesign-ballot:${ballot.ballot}`, THEME = "theme";
  const CHOICES = ["left", "right", "tie", "both_bad"], LONGEST = 500;
  const known = new Map(questions.map(question => [question.id, question]));
  let kept = true; // whether this browser keeps what we store
  let state = fresh();
  let at = 0, seen = 0, since = null, ready = false;

  // What is kept

  function fresh() {
    const bytes = crypto.getRandomValues(new Uint8Array(8));
    return { rater: [...bytes].map(byte => byte.toString(16).padStart(2, "0")).join(""), votes: {} };
  }

  function get(name) {
    try { return localStorage.getItem(name); } catch { kept = false; return null; }
  }

  function put(name, text) {
    try { localStorage.setItem(name, text); } catch { kept = false; }
  }

  // Whatever is not as we wrote it is left out.
  function stored() {
    let found = null;
    try { found = JSON.parse(get(PLACE)); } catch { return null; }
    if (!found || !/^[0-9a-f]{16}$/.test(found.rater) || typeof found.votes !== "object" || !found.votes) return null;
    const sound = vote => vote && CHOICES.includes(vote.choice) && Number.isFinite(vote.seconds);
    return { rater: found.rater, votes: Object.fromEntries(Object.entries(found.votes).filter(([id, vote]) => known.has(id) && sound(vote))) };
  }

  // Another tab may have voted on since: nothing of it is written over.
  function keep() {
    const there = stored();
    if (there && there.rater === state.rater) state.votes = { ...there.votes, ...state.votes };
    put(PLACE, JSON.stringify(state));
    $("unkept").hidden = kept;
  }

  // Half of the raters see every pair the other way round.
  const sides = question => parseInt(state.rater[0], 16) % 2 ? [question.right, question.left] : [question.left, question.right];
  const count = () => Object.keys(state.votes).length;
  const nextOpen = from => {
    const open = [...questions.keys()].filter(n => !state.votes[questions[n].id]);
    return open.find(n => n >= from) ?? open[0] ?? -1;
  };

  // Screens

  function show(screen, focus) {
    for (const id of ["start", "question", "done"]) $(id).hidden = id !== screen;
    const asking = screen === "question";
    for (const id of ["where", "progress", "votes"]) $(id).hidden = screen === "start";
    $("votes").hidden = !asking;
    $("back").hidden = !asking || at === 0;
    $("progress").value = count();
    document.body.dataset.screen = screen;
    scrollTo(0, 0);
    $(focus).focus({ preventScroll: true });
  }

  function ask(n) {
    if (n < 0) return done();
    at = n;
    const question = questions[n], vote = state.votes[question.id];
    $("where").textContent = `${n + 1} of ${questions.length}`;
    $("ask").textContent = `Question ${n + 1} of ${questions.length}: which page is better for this request?`;
    const prompt = $("prompt");
    prompt.textContent = question.prompt || "(No request was kept: judge the pages as they are.)";
    prompt.lang = question.language;
    $("comment").value = vote?.comment ?? "";
    $("saying").open = Boolean(vote?.comment);
    for (const button of document.querySelectorAll("[data-choice]")) button.setAttribute("aria-pressed", vote?.choice === button.dataset.choice);
    enlarge(null);
    const shown = ["left", "right"].map((side, i) => picture($(side), sides(question)[i]));
    seen = 0; since = null;
    setReady(false);
    show("question", "ask");
    prompt.scrollTop = 0;
    if (prompt.scrollHeight > prompt.clientHeight + 1) prompt.tabIndex = 0; else prompt.removeAttribute("tabindex");
    // The clock runs from when there is something to see.
    Promise.allSettled(shown).then(() => { if (at === n && !$("question").hidden) { setReady(true); look(); } });
  }

  function picture(figure, id) {
    const image = figure.querySelector("img"), page = pages[id];
    image.width = page.width; image.height = page.height;
    image.dataset.page = id;
    image.src = `data:image/webp;base64,${$(id).textContent}`;
    figure.querySelector(".end").textContent = page.cut ? "The page goes on; its picture ends here" : "End of the page";
    return image.decode();
  }

  function setReady(now) {
    ready = now;
    for (const button of document.querySelectorAll("[data-choice]")) button.disabled = !now;
  }

  function look() {
    if (document.hidden || !ready) { if (since !== null) seen += performance.now() - since; since = null; }
    else since ??= performance.now();
  }

  function choose(choice) {
    if (!ready) return;
    const question = questions[at], [left, right] = sides(question);
    const before = state.votes[question.id]?.seconds ?? 0; // a second look adds to the first
    const seconds = before + (seen + (since === null ? 0 : performance.now() - since)) / 1000;
    const comment = $("comment").value.trim().slice(0, LONGEST);
    state.votes[question.id] = { left, right, choice, seconds: Math.round(seconds * 100) / 100, ...(comment && { comment }) };
    keep();
    ask(nextOpen(at + 1));
  }

  function done() {
    const left = questions.length - count();
    setReady(false);
    $("thanks").textContent = left ? "Your votes so far" : "Thank you. That was all.";
    $("sofar").textContent = `${count()} of ${questions.length} answered. ${kept ? "They are kept in this browser only." : "They are nowhere but on this page."}`;
    $("on").hidden = !left;
    $("download").disabled = $("copy").disabled = !count();
    $("text").value = text();
    $("told").textContent = "";
    $("where").textContent = `${count()} of ${questions.length}`;
    show("done", "thanks");
  }

  // One picture alone, at the same place of it

  function enlarge(side) {
    const before = middle();
    $("pages").dataset.only = side ?? "";
    for (const name of ["left", "right"]) {
      const button = $(name).querySelector(".larger");
      button.setAttribute("aria-pressed", side === name);
      button.textContent = side === name ? "Show both" : "Larger";
      $(name).querySelector(".other").hidden = side !== name;
    }
    const image = $(side ?? before.side).querySelector("img");
    if (before.share > 0) scrollTo(0, scrollY + image.getBoundingClientRect().top + before.share * image.clientHeight - innerHeight / 2);
  }

  // Which share of the picture is above the middle of the window; 0 before it is scrolled.
  function middle() {
    const side = $("pages").dataset.only || "left", box = $(side).querySelector("img").getBoundingClientRect();
    return { side, share: scrollY > 0 && box.height ? (innerHeight / 2 - box.top) / box.height : 0 };
  }

  // What leaves this page

  function text() {
    const votes = questions.filter(q => state.votes[q.id]).map(q => ({ question: q.id, ...state.votes[q.id] }));
    return JSON.stringify({ format: "opendesign-votes", v: 1, ballot: ballot.ballot, rater: state.rater, questions: questions.length, votes }, null, 1);
  }

  function download() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text()], { type: "application/json" }));
    link.download = `votes-${ballot.ballot}-${state.rater}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    saved = count();
    $("told").textContent = `Saved as ${link.download}, where this browser puts downloads.`;
  }

  async function copy() {
    const area = $("text");
    let worked = true;
    try { await navigator.clipboard.writeText(area.value); }
    catch {
      area.closest("details").open = true;
      area.select();
      worked = document.execCommand("copy");
    }
    if (worked) saved = count();
    $("told").textContent = worked ? "Copied. Paste it into a message or a file." : "Copying is not allowed here: the text below is selected, copy it by hand.";
  }

  let saved = 0;
  addEventListener("beforeunload", event => { if (!kept && count() > saved) event.preventDefault(); });

  // Hands

  const useKeys = () => $("keys").checked;
  document.addEventListener("keydown", event => {
    if (!useKeys() || $("question").hidden || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("textarea, input, blockquote")) return;
    const choice = { arrowleft: "left", arrowright: "right", t: "tie", b: "both_bad" }[event.key.toLowerCase()];
    if (choice) { event.preventDefault(); choose(choice); }
  });
  for (const button of document.querySelectorAll("[data-choice]")) button.addEventListener("click", () => choose(button.dataset.choice));
  for (const side of ["left", "right"]) {
    const toggle = () => enlarge($("pages").dataset.only === side ? null : side);
    $(side).querySelector(".larger").addEventListener("click", toggle);
    $(side).querySelector("img").addEventListener("click", toggle);
    const opposite = side === "left" ? "right" : "left";
    $(side).querySelector(".other").addEventListener("click", () => { enlarge(opposite); $(opposite).querySelector(".other").focus({ preventScroll: true }); });
  }
  document.addEventListener("visibilitychange", look);
  $("go").addEventListener("click", () => ask(nextOpen(0)));
  $("on").addEventListener("click", () => ask(nextOpen(at)));
  $("back").addEventListener("click", () => ask(Math.max(0, at - 1)));
  $("votes").addEventListener("click", done);
  $("download").addEventListener("click", download);
  $("copy").addEventListener("click", copy);
  $("anew").addEventListener("click", () => { state = fresh(); saved = at = 0; put(PLACE, JSON.stringify(state)); begin(); });

  const root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const told = () => $("theme").setAttribute("aria-pressed", dark());
  $("theme").addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; put(THEME, root.dataset.theme); told(); });

  function begin() {
    $("go").textContent = count() ? `Go on with question ${nextOpen(0) + 1}` : "Start";
    if (count() === questions.length) done(); else show("start", "welcome");
  }

  const theme = get(THEME);
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  told();
  state = stored() ?? state;
  keep();
  begin();
})();
