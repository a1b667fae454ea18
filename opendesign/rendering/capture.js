// Brings a page to rest. Runs in a world of its own: the page can neither see nor change what it uses here.
// `settings`: {event, load, settle, scroll, freeze, maxHeight}, times in milliseconds. Returns notes.
// Every wait is bounded; a wait that ran out is a note, never an error.
async (settings) => {
  const notes = [];
  const after = (ms) => new Promise((done) => setTimeout(done, ms));
  const within = (promise, ms) =>
    Promise.race([promise.then(() => true, () => true), after(Math.max(0, ms)).then(() => false)]);
  // A busy machine is late with its frames; what a page does in them (scroll handlers) has to have happened.
  const frame = () => Promise.race([new Promise((done) => requestAnimationFrame(done)), after(1000)]);
  const seconds = (ms) => `${+(ms / 1000).toFixed(1)} s`;
  const root = () => document.scrollingElement || document.documentElement || document.body;
  const height = () => (root() ? root().scrollHeight : 0);

  const reached = () =>
    document.readyState === "complete" ||
    (settings.event === "domcontentloaded" && document.readyState === "interactive");
  const loaded = new Promise((done) => {
    if (reached()) return done();
    const look = () => reached() && done();
    document.addEventListener("readystatechange", look);
  });
  if (!(await within(loaded, settings.load))) {
    notes.push(`load: the ${settings.event} event had not come after ${seconds(settings.load)}`);
  }

  if (!settings.settle) return notes;
  const end = performance.now() + settings.settle;
  const left = () => end - performance.now();

  // Changes since the page was last looked at. Structure: elements, text, height. Motion: attributes.
  let structure = performance.now();
  let motion = structure;
  const observer = new MutationObserver((records) => {
    motion = performance.now();
    if (records.some((record) => record.type !== "attributes")) structure = motion;
  });
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });

  if (document.fonts && document.fonts.status !== "loaded" && !(await within(document.fonts.ready, left()))) {
    notes.push(`fonts: still loading after ${seconds(settings.settle)}`);
  }

  const tall = Math.min(height(), settings.maxHeight);
  if (settings.scroll && tall > innerHeight * 1.05) {
    const stop = performance.now() + settings.settle;
    for (let y = innerHeight; y < Math.min(height(), settings.maxHeight); y += innerHeight) {
      if (performance.now() > stop) { notes.push("scroll: the pass down the page was cut short"); break; }
      scrollTo({ top: y, left: 0, behavior: "instant" });
      await frame();
      await frame();
    }
    scrollTo({ top: 0, left: 0, behavior: "instant" });
    await frame();
    await frame();
  }

  const pending = () => [...document.images].filter((image) => image.loading !== "lazy" && !image.complete);
  const settled = (image) =>
    new Promise((done) => { image.addEventListener("load", done); image.addEventListener("error", done); });
  const waiting = pending();
  if (waiting.length && !(await within(Promise.all(waiting.map(settled)), left()))) {
    notes.push(`images: ${pending().length} still loading after ${seconds(settings.settle)}`);
  }
  const shown = [...document.images].filter((image) => image.complete && image.naturalWidth).slice(0, 200);
  if (shown.length) await within(Promise.all(shown.map((image) => image.decode().catch(() => 0))), left());

  // Canvases are sampled small: a chart that is being drawn is waited for, a game that never rests is not.
  const canvases = [...document.querySelectorAll("canvas")].filter((c) => c.width && c.height).slice(0, 4);
  const probe = canvases.length ? new OffscreenCanvas(24, 24).getContext("2d", { willReadFrequently: true }) : null;
  const look = () => {
    let sum = 0;
    for (const canvas of canvases) {
      try {
        probe.clearRect(0, 0, 24, 24);
        probe.drawImage(canvas, 0, 0, 24, 24);
        for (const value of probe.getImageData(0, 0, 24, 24).data) sum = (Math.imul(sum, 31) + value) | 0;
      } catch { /* tainted: cannot be read */ }
    }
    return sum;
  };
  // A splash screen: a layer without content of its own over the whole window, with a page behind it.
  const splash = () => {
    const layers = [[0.1, 0.1], [0.9, 0.1], [0.5, 0.5], [0.1, 0.9], [0.9, 0.9]].map(([x, y]) => {
      let element = document.elementFromPoint(innerWidth * x, innerHeight * y);
      while (element && getComputedStyle(element).position !== "fixed") element = element.parentElement;
      return element;
    });
    const [layer] = layers;
    if (!layer || layers.some((other) => other !== layer) || layer.contains(document.body)) return false;
    const busy = layer.querySelector("canvas, video, iframe, a, button, input, select, textarea");
    const words = (element) => (element.textContent || "").trim().length;
    return !busy && layer.localName !== "canvas" && words(layer) < 80 && words(document.body) - words(layer) > 200;
  };
  let seen = null;
  let tallest = height();
  const began = performance.now();
  const quiet = 120; // ms without a change
  const ambient = 1500; // ms for which motion that changes no structure is waited for
  for (;;) {
    await frame();
    await after(30);
    const time = performance.now();
    if (height() !== tallest) { tallest = height(); structure = time; }
    if (probe) { await frame(); const now = look(); if (now !== seen) { seen = now; motion = time; } }
    const calm = time - structure > quiet && (time - motion > quiet || time - began > ambient);
    if (calm && !splash()) break;
    if (left() < 0) { notes.push(`settle: the page was still changing after ${seconds(settings.settle)}`); break; }
  }
  observer.disconnect();

  if (settings.freeze) {
    globalThis.__rest = () => {
      for (const animation of document.getAnimations()) {
        const timing = animation.effect && animation.effect.getComputedTiming();
        try {
          if (timing && Number.isFinite(timing.endTime) && animation.timeline instanceof DocumentTimeline) {
            animation.finish();
          } else if (animation.timeline instanceof DocumentTimeline) {
            animation.cancel();
          }
        } catch { /* an animation that cannot end stays where it is */ }
      }
      for (const drawing of document.querySelectorAll("svg")) {
        if (drawing.pauseAnimations) { drawing.pauseAnimations(); drawing.setCurrentTime(0); }
      }
    };
    __rest();
    await frame();
    await frame();
  }
  return notes;
}
