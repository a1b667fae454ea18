// The page's time, chance and way out, in our hands. Runs before the page's own scripts in every frame of
// the page's origin. Time stands still until `advance` is called, so that what changes after an input was
// made by that input; the same seed and the same steps give the same page again.
(() => {
  if (window.__probe) return;
  let host = null;
  try {
    if (window.parent !== window) host = window.parent.__probe || null;
  } catch { /* a parent of another origin */ }
  if (window.parent !== window && !host) return; // an opaque frame cannot be watched: leave it alone

  if (!host) { // each load starts where the first one did
    try { localStorage.clear(); sessionStorage.clear(); } catch { /* storage refused */ }
  }
  const native = {
    setTimeout: window.setTimeout.bind(window),
    frame: window.requestAnimationFrame.bind(window),
    now: performance.now.bind(performance),
    Date: window.Date,
    stringify: JSON.stringify,
  };
  const EPOCH = 1767261600000;
  const FRAME = 16, FRAME_3D = 48; // ms of page time; software WebGL draws few frames a second
  const MOST_CALLBACKS = 20000, MOST_WALL = 6000; // of one `advance`
  const probe = host || {
    now: 0, reads: 0, frameMs: FRAME, cause: 0, phase: 0, nextId: 1, timers: new Map(), frames: new Map(),
    muted: false, guarded: false, blind: false, messages: false, log: [], listeners: new WeakMap(), global: new Set(), sources: [],
    roots: new WeakMap(), native,
  };
  // One string crosses to the driver: walking through nested results there would cost more than the answer.
  probe.call = async (name, args) => native.stringify(await probe[name](...args));
  Object.defineProperty(window, '__probe', { value: probe, enumerable: false });

  // ---- time. Each reading creeps forward a little, so that a loop that waits for the clock ends.
  const read = () => probe.now + Math.min(probe.reads++, 5e6) * 0.001;
  const add = (run, delay, every) => {
    const id = probe.nextId++;
    const wait = Math.max(1, Number(delay) || 0);
    probe.timers.set(id, { id, due: probe.now + wait, run, every: every ? Math.max(4, wait) : 0, cause: probe.cause });
    return id;
  };
  const callable = (fn, args) => () => (typeof fn === 'function' ? fn.apply(window, args) : window.eval(String(fn)));
  window.setTimeout = (fn, delay, ...args) => add(callable(fn, args), delay, false);
  window.setInterval = (fn, delay, ...args) => add(callable(fn, args), delay, true);
  window.clearTimeout = window.clearInterval = (id) => { probe.timers.delete(Number(id)); };
  window.requestAnimationFrame = (fn) => {
    const id = probe.nextId++;
    probe.frames.set(id, { id, run: (at) => fn.call(window, at), cause: probe.cause });
    return id;
  };
  window.cancelAnimationFrame = (id) => { probe.frames.delete(Number(id)); };
  window.requestIdleCallback = (fn) => add(() => fn({ didTimeout: false, timeRemaining: () => 10 }), 1, false);
  window.cancelIdleCallback = window.clearTimeout;
  performance.now = read;
  window.Date = new Proxy(native.Date, {
    construct: (target, args, made) => Reflect.construct(target, args.length ? args : [EPOCH + Math.floor(read())], made),
    apply: (target) => new target(EPOCH + Math.floor(read())).toString(),
    get: (target, name) => (name === 'now' ? () => EPOCH + Math.floor(read()) : Reflect.get(target, name)),
  });
  let seed = 20260115;
  Math.random = () => { // mulberry32
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };

  // ---- what the page listens to
  const listen = EventTarget.prototype.addEventListener;
  const note = (target, type, fn) => {
    if (target === window || target === document || target === document.documentElement || target === document.body) {
      probe.global.add(type);
    } else if (target instanceof Element) {
      if (!probe.listeners.has(target)) probe.listeners.set(target, new Set());
      probe.listeners.get(target).add(type);
    }
    if (type.startsWith('key') && fn && probe.sources.length < 40) {
      probe.sources.push(String(fn.handleEvent || fn).slice(0, 4000));
      if (target instanceof Element && target !== document.body) probe.keyTarget = target;
    }
  };

  // ---- input: a muted page gets none of it, while the browser does all it does for an inert element
  const INPUT = ['pointerdown', 'pointerup', 'pointermove', 'pointerover', 'pointerout', 'pointerenter', 'pointerleave',
    'pointercancel', 'gotpointercapture', 'lostpointercapture', 'mousedown', 'mouseup', 'mousemove', 'mouseover',
    'mouseout', 'mouseenter', 'mouseleave', 'click', 'dblclick', 'auxclick', 'contextmenu', 'wheel', 'keydown', 'keyup',
    'keypress', 'beforeinput', 'input', 'change', 'submit', 'reset', 'invalid', 'focus', 'blur', 'focusin', 'focusout',
    'touchstart', 'touchmove', 'touchend', 'dragstart', 'drag', 'dragenter', 'dragover', 'dragleave', 'drop', 'dragend',
    'select', 'selectstart', 'toggle', 'beforetoggle', 'hashchange', 'popstate', 'scroll', 'scrollend'];
  const SCROLL_KEYS = new Set(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', ' ', 'PageUp', 'PageDown', 'Home', 'End']);
  const scrolls = (event) => SCROLL_KEYS.has(event.key) &&
    !event.target.closest?.('input, textarea, select, button, a, summary, [contenteditable]');
  for (const type of INPUT) {
    listen.call(window, type, (event) => {
      if (!probe.muted) return;
      event.stopImmediatePropagation();
      if (type === 'keydown' && scrolls(event)) event.preventDefault();
    }, { capture: true, passive: type !== 'keydown' });
  }
  listen.call(window, 'keydown', (event) => { if (probe.guarded && scrolls(event)) event.preventDefault(); });
  EventTarget.prototype.addEventListener = function (type, fn, options) {
    try { note(this || window, String(type), fn); } catch { /* never the page's trouble */ }
    return listen.call(this || window, type, fn, options);
  };

  // ---- ways out: leaving, dialogs, popups, other documents
  const log = (kind, text) => { if (probe.log.length < 50) probe.log.push({ kind, text: String(text ?? '').slice(0, 80) }); };
  listen.call(window, 'beforeunload', (event) => event.stopImmediatePropagation(), { capture: true });
  window.alert = (text) => log('dialog', text);
  window.confirm = (text) => { log('dialog', text); return true; };
  window.prompt = (text, value) => { log('dialog', text); return value || 'Sample'; };
  window.print = () => log('dialog', 'print');
  window.open = (url) => { log('popup', url); return null; };
  window.navigation?.addEventListener('navigate', (event) => {
    if (!probe.guarded || event.destination.sameDocument || event.hashChange) return;
    log('navigation', event.destination.url);
    if (event.cancelable) event.preventDefault();
  });

  // ---- things that would otherwise move in real time or stay out of sight
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options);
    probe.roots.set(this, root);
    return root;
  };
  const context = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (type, options) {
    // Drawn by the CPU, since every picture of it is read back; and kept, so that it can be read at any time.
    if (type === '2d') return context.call(this, type, { ...options, willReadFrequently: true });
    if (/webgl/.test(String(type))) probe.frameMs = FRAME_3D;
    return context.call(this, type, { ...options, preserveDrawingBuffer: true });
  };
  for (const gl of [window.WebGLRenderingContext, window.WebGL2RenderingContext]) {
    for (const name of ['clear', 'drawArrays', 'drawElements', 'drawRangeElements', 'drawArraysInstanced', 'drawElementsInstanced']) {
      const draw = gl?.prototype[name];
      if (draw) gl.prototype[name] = function (...args) { if (!probe.blind) draw.apply(this, args); };
    }
  }
  const Channel = window.MessageChannel;
  window.MessageChannel = class MessageChannel extends Channel { constructor() { super(); probe.messages = true; } };
  const instantly = (owner, name) => {
    const original = owner[name];
    owner[name] = function (...args) {
      return original.apply(this, args.map((a) => (a && typeof a === 'object' ? { left: a.left, top: a.top, block: a.block,
        inline: a.inline, behavior: 'instant' } : a)));
    };
  };
  for (const name of ['scrollTo', 'scrollBy', 'scroll']) { instantly(window, name); instantly(Element.prototype, name); }
  instantly(Element.prototype, 'scrollIntoView');

  if (host) return;

  // ---- the hand on the clock
  const channel = new Channel();
  let wake = null;
  channel.port1.onmessage = () => wake();
  const turn = () => new Promise((done) => { wake = done; channel.port2.postMessage(0); });
  /** Let the browser do its own work: microtasks, messages, observers, two real frames, however late they come
   * on a busy machine: what a page does in them (a chart that fits itself in) must not depend on that. */
  probe.flush = async () => {
    for (let i = 0; i < 2; i++) {
      await new Promise((done) => { native.frame(done); native.setTimeout(done, 1000); });
      await turn();
    }
  };
  const call = async (entry, at) => {
    probe.cause = entry.cause;
    try { entry.run(at); } catch (error) { console.error(error); }
    for (let i = 0; i < 8; i++) await null; // what promises it kept belongs to it
    probe.cause = probe.phase;
  };
  /**
   * Move the page's time on by `ms`; with `only`, nothing runs but what that input phase has caused. WebGL, which
   * is slow without a GPU, draws the last frame alone, and none with `unseen`.
   */
  probe.advance = async (ms, only = null, unseen = false) => {
    const end = probe.now + ms, wall = native.now() + MOST_WALL;
    const mine = (entry) => only === null || entry.cause === only;
    let left = MOST_CALLBACKS;
    for (let i = 0; left > 0 && native.now() < wall; i++) {
      // The browser's own turns are few, since it would paint in each; a page that sends messages needs them.
      if (probe.messages || i % 16 === 15) await turn();
      const frames = [...probe.frames.values()].filter(mine);
      let due = Infinity;
      for (const t of probe.timers.values()) if (mine(t) && t.due < due) due = t.due;
      const frameDue = frames.length ? Math.max(probe.now + 1, (probe.lastFrame ?? 0) + probe.frameMs) : Infinity;
      const next = Math.max(probe.now, Math.min(due, frameDue));
      if (next > end) break;
      probe.now = next; probe.reads = 0;
      const ready = [...probe.timers.values()].filter((t) => mine(t) && t.due <= next).sort((a, b) => a.due - b.due || a.id - b.id);
      for (const t of ready) {
        if (!probe.timers.has(t.id)) continue;
        if (t.every) t.due = next + t.every; else probe.timers.delete(t.id);
        await call(t); left--;
      }
      if (next < frameDue) continue;
      probe.lastFrame = next;
      probe.blind = unseen || next + probe.frameMs <= end;
      for (const f of frames) {
        if (!probe.frames.delete(f.id)) continue;
        await call(f, probe.now); left--;
      }
    }
    probe.now = end; probe.reads = 0; probe.blind = false;
  };
  /** What goes on without input: pending frames, and the shortest period of a repeated timer (ms, 0: none). */
  probe.motion = () => {
    const periods = [...probe.timers.values()].map((t) => t.every || t.due - probe.now);
    return { frames: probe.frames.size, period: periods.length ? Math.min(...periods) : 0 };
  };
  /** From load to the state in which the page waits for a person. */
  probe.start = async () => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('* { scroll-behavior: auto !important }');
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    await probe.flush();
    await probe.advance(480);
    for (let i = 0; i < 6; i++) { // a loading screen: one-shot timers that are still to come
      const once = [...probe.timers.values()].filter((t) => !t.every && t.due > probe.now && t.due < 4000).map((t) => t.due);
      if (!once.length || probe.frameMs !== FRAME) break;
      await probe.advance(Math.min(...once) - probe.now + 1);
    }
    await probe.flush();
  };
})();
