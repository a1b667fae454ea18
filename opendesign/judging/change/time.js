// The hand on the page's clock, and the ear at its input; in the isolated world, in every frame of the page's
// origin. Time stands still until `advance` is called, so that what changes after an input was made by that
// input; the same steps give the same page again. `window.__probe` of the top frame serves all.
((secret) => {
  if (window.__probe) return;
  let host = null;
  try {
    if (window.parent !== window) host = window.parent.__probe || null;
  } catch { /* a parent of another origin */ }
  if (window.parent !== window && !host) return; // an opaque frame: left alone
  const dom = host ? host.dom : window.__dom;

  // ---- input: a muted page gets none of it, while the browser does all it does for an inert element
  const INPUT = ['pointerdown', 'pointerup', 'pointermove', 'pointerover', 'pointerout', 'pointerenter', 'pointerleave',
    'pointercancel', 'gotpointercapture', 'lostpointercapture', 'mousedown', 'mouseup', 'mousemove', 'mouseover',
    'mouseout', 'mouseenter', 'mouseleave', 'click', 'dblclick', 'auxclick', 'contextmenu', 'wheel', 'keydown', 'keyup',
    'keypress', 'beforeinput', 'input', 'change', 'submit', 'reset', 'invalid', 'focus', 'blur', 'focusin', 'focusout',
    'touchstart', 'touchmove', 'touchend', 'dragstart', 'drag', 'dragenter', 'dragover', 'dragleave', 'drop', 'dragend',
    'select', 'selectstart', 'toggle', 'beforetoggle', 'hashchange', 'popstate', 'scroll', 'scrollend'];
  const SCROLL_KEYS = new Set(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', ' ', 'PageUp', 'PageDown', 'Home', 'End']);
  const scrolls = (event) => SCROLL_KEYS.has(event.key) && !(event.target.nodeType === 1 &&
    dom.closest(event.target, 'input, textarea, select, button, a, summary, [contenteditable]'));
  const watch = (view, probe) => {
    for (const type of INPUT) {
      view.addEventListener(type, (event) => {
        if (!probe.muted) return;
        event.stopImmediatePropagation();
        if (type === 'keydown' && scrolls(event)) event.preventDefault();
      }, { capture: true, passive: type !== 'keydown' });
    }
    view.addEventListener('keydown', (event) => { if (probe.guarded && scrolls(event)) event.preventDefault(); });
    view.addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), { capture: true });
    view.navigation?.addEventListener('navigate', (event) => {
      if (!probe.guarded || event.destination.sameDocument || event.hashChange) return;
      probe.note('navigation', event.destination.url);
      if (event.cancelable) event.preventDefault();
    });
  };
  const greet = (probe) => {
    watch(window, probe);
    document.addEventListener(secret, (event) => probe.join(event.relatedTarget, window), { once: true });
  };
  if (host) { greet(host); return; }

  try { localStorage.clear(); sessionStorage.clear(); } catch { /* storage refused */ } // each load starts where the first did
  const FRAME = 16, FRAME_3D = 48; // ms of page time; software WebGL draws few frames a second
  const MOST_CALLBACKS = 20000, MOST_WALL = 6000; // of one `advance`
  const MOST_JOBS = 50000, MOST_SOURCE = 160000;
  const probe = {
    dom, now: 0, frameMs: FRAME, cause: 0, phase: 0, timers: new Map(), frames: new Map(), lastFrame: 0,
    muted: false, guarded: false, messages: false, outside: false, scene: false, log: [], listeners: new WeakMap(), global: new Set(), source: '', keyTarget: null,
    walk: dom.walk, byKey: dom.byKey, shadow: dom.shadow,
  };
  window.__probe = probe;
  // One string crosses to the driver: walking through nested results there would cost more than the answer.
  probe.call = async (name, args) => JSON.stringify(await probe[name](...args)) ?? 'null';
  probe.note = (kind, text) => { if (probe.log.length < 50) probe.log.push({ kind, text: String(text).slice(0, 80) }); };

  // ---- the page's side of each frame
  const hands = [];
  let shown = null; // the node that the page's side has just shown
  const heard = {
    timer: (hand, [id, wait, again]) => job(hand, probe.timers, id, { due: probe.now + Number(wait), every: again === '1' ? Math.max(4, Number(wait)) : 0 }),
    frame: (hand, [id]) => job(hand, probe.frames, id, {}),
    drop: (hand, [id]) => { probe.timers.delete(hand.base + Number(id)); probe.frames.delete(hand.base + Number(id)); },
    hears: (hand, [type]) => probe.global.add(type),
    source: (hand, words) => { if (probe.source.length < MOST_SOURCE) probe.source += words.join(' ') + '\n'; },
    log: (hand, [kind, ...words]) => probe.note(kind, words.join(' ')),
    webgl: () => { probe.frameMs = FRAME_3D; probe.scene = true; },
    messages: () => { probe.messages = true; },
    outside: () => { probe.outside = true; },
    node: (hand, [what, type]) => {
      const node = shown;
      if (node?.nodeType !== 1) return;
      if (what === 'root') {
        const root = dom.rootOf(node);
        dom.keepRoot(root);
        root.addEventListener(secret, (event) => { shown = event.relatedTarget; });
        return;
      }
      const page = dom.owner(node);
      if (node === dom.body(page) || node === dom.html(page)) { probe.global.add(type); return; }
      if (!probe.listeners.has(node)) probe.listeners.set(node, new Set());
      probe.listeners.get(node).add(type);
      if (type.startsWith('key')) probe.keyTarget = node;
    },
  };
  const job = (hand, kept, id, entry) => {
    const key = hand.base + Number(id);
    if (kept.size < MOST_JOBS) kept.set(key, { key, id: Number(id), hand, cause: probe.cause, ...entry });
  };
  probe.join = (bridge, view) => {
    const hand = { base: hands.length * 2 ** 32, view, tell: (name, value) => bridge.dispatchEvent(new CustomEvent(name, { detail: value })) };
    hands.push(hand);
    bridge.addEventListener('node', (event) => { shown = event.relatedTarget; });
    bridge.addEventListener('say', (event) => {
      const [what, ...words] = String(event.detail).split(' ');
      heard[what](hand, words);
    });
    hand.tell('accept');
    hand.tell('now', probe.now);
  };
  const tellAll = (name, value) => { for (const hand of hands) if (!hand.view.closed) hand.tell(name, value); };
  const setNow = (ms) => { probe.now = ms; tellAll('now', ms); };
  greet(probe);

  const channel = new MessageChannel();
  let wake = null;
  channel.port1.onmessage = () => wake();
  const turn = () => new Promise((done) => { wake = done; channel.port2.postMessage(0); });
  /** Let the browser do its own work: microtasks, messages, observers, two real frames, however late they come
   * on a busy machine: what a page does in them (a chart that fits itself in) must not depend on that. */
  probe.flush = async () => {
    for (let i = 0; i < 2; i++) {
      await new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 1000); });
      await turn();
    }
  };
  probe.wait = (ms) => new Promise((done) => { setTimeout(done, ms); });
  const call = async (entry) => {
    probe.cause = entry.cause;
    entry.hand.tell('run', entry.id);
    for (let i = 0; i < 8; i++) await null; // what promises it kept belongs to it
    probe.cause = probe.phase;
  };
  /**
   * Move the page's time on by `ms`; with `only`, nothing runs but what that input phase has caused. WebGL, which
   * is slow without a GPU, draws the last frame alone, and none with `unseen`.
   */
  probe.advance = async (ms, only = null, unseen = false) => {
    const end = probe.now + ms, wall = performance.now() + MOST_WALL;
    const mine = (entry) => only === null || entry.cause === only;
    let left = MOST_CALLBACKS, blind = false;
    for (let i = 0; left > 0 && performance.now() < wall; i++) {
      // The browser's own turns are few, since it would paint in each; a page that sends messages needs them.
      if (probe.messages || i % 16 === 15) await turn();
      const frames = [...probe.frames.values()].filter(mine);
      let due = Infinity;
      for (const t of probe.timers.values()) if (mine(t) && t.due < due) due = t.due;
      const frameDue = frames.length ? Math.max(probe.now + 1, probe.lastFrame + probe.frameMs) : Infinity;
      const next = Math.max(probe.now, Math.min(due, frameDue));
      if (next > end) break;
      setNow(next);
      const ready = [...probe.timers.values()].filter((t) => mine(t) && t.due <= next).sort((a, b) => a.due - b.due || a.key - b.key);
      for (const t of ready) {
        if (!probe.timers.has(t.key)) continue;
        if (t.every) t.due = next + t.every; else probe.timers.delete(t.key);
        await call(t); left--;
      }
      if (next < frameDue) continue;
      probe.lastFrame = next;
      const hidden = unseen || next + probe.frameMs <= end;
      if (hidden !== blind) { blind = hidden; tellAll('blind', blind ? 1 : 0); }
      for (const f of frames) {
        if (!probe.frames.delete(f.key)) continue;
        await call(f); left--;
      }
    }
    setNow(end);
    if (blind) tellAll('blind', 0);
  };
  /** What goes on without input: pending frames, and the shortest period of a repeated timer (ms, 0: none). */
  probe.motion = () => {
    const periods = [...probe.timers.values()].map((t) => t.every || t.due - probe.now);
    return { frames: probe.frames.size, period: periods.length ? Math.max(0, Math.min(...periods)) : 0 };
  };
  /** The elements that have these keys now keep them, wherever they go: what is added before them moves them on. */
  probe.keep = (keys) => { dom.kept = new Map(keys.filter(Boolean).map((key) => [key, dom.byKey(key)])); };
  /**
   * From load to the state in which the page waits for a person; with `watch`, what `idle` sees then. The elements
   * with these `keys` keep them from there on.
   */
  probe.start = async (watch, keys) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('* { scroll-behavior: auto !important }');
    const adopted = Object.getOwnPropertyDescriptor(Document.prototype, 'adoptedStyleSheets');
    adopted.set.call(document, [...adopted.get.call(document), sheet]);
    await probe.flush();
    await probe.advance(480);
    for (let i = 0; i < 6; i++) { // a loading screen: one-shot timers that are still to come
      const once = [...probe.timers.values()].filter((t) => !t.every && t.due > probe.now && t.due < 4000).map((t) => t.due);
      if (!once.length || probe.frameMs !== FRAME) break;
      await probe.advance(Math.min(...once) - probe.now + 1);
    }
    await probe.flush();
    probe.keep(keys);
    if (!watch) { probe.calm(true); await probe.flush(); }
    return watch ? probe.idle() : null;
  };
})("{{secret}}");
