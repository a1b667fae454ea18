// The page's time, chance and ways out, in our hands. Runs in the page's own world, before its scripts, in
// every frame of its origin. It decides nothing: what it hears it tells the isolated world (`time.js`), and it
// does what it is told from there, over events on a node that nobody else holds. Everything it needs later is
// taken now, while it is still the browser's own.
((secret) => {
  'use strict';
  const { apply, construct, defineProperty: define, getOwnPropertyDescriptor: describe, get } = Reflect;
  const Custom = CustomEvent, Pointing = MouseEvent, RealDate = Date, Channel = MessageChannel;
  const { addEventListener: listen, dispatchEvent: dispatch } = EventTarget.prototype;
  const { floor, max, min, imul } = Math;
  const detailOf = describe(Custom.prototype, 'detail').get;
  const { getRootNode: rootOf, appendChild: append, removeChild: remove } = Node.prototype;
  const { attachShadow, scrollIntoView } = Element.prototype;
  const source = Function.prototype.toString, slice = String.prototype.slice;
  const known = new WeakSet(), { has, add } = WeakSet.prototype;
  const create = document.createElement.bind(document);
  const evaluate = window.eval, top = window, page = document;

  // ---- the bridge
  const bridge = create('i');
  let accepted = false;
  const tell = (text) => { apply(dispatch, bridge, [new Custom('say', { __proto__: null, detail: text })]); };
  /** Shows a node to the other side; one in a shadow tree only its root can show unchanged. */
  const show = (node) => {
    const root = apply(rootOf, node, []);
    const inside = apply(has, known, [root]) && root !== node;
    apply(dispatch, inside ? root : bridge, [new Pointing(inside ? secret : 'node', { __proto__: null, relatedTarget: node })]);
  };
  const told = (name, does) => apply(listen, bridge, [name, (event) => does(apply(detailOf, event, []))]);
  told('accept', () => { accepted = true; });
  apply(dispatch, page, [new Pointing(secret, { __proto__: null, relatedTarget: bridge })]);
  if (!accepted) return; // an opaque frame cannot be watched: leave it alone

  // ---- time. Each reading creeps forward a little, so that a loop that waits for the clock ends.
  const EPOCH = 1767261600000;
  const jobs = { __proto__: null };
  let now = 0, reads = 0, lastId = 0;
  told('now', (value) => { now = value; reads = 0; });
  told('run', (id) => {
    const job = jobs[id];
    if (!job) return;
    if (!job.again) delete jobs[id];
    job.run();
  });
  const read = () => now + min(reads++, 5e6) * 0.001;
  const wall = () => EPOCH + floor(read());
  const keep = (run, again) => { jobs[++lastId] = { __proto__: null, run, again }; return lastId; };
  const callable = (fn, args) => (typeof fn === 'function' ? () => apply(fn, top, args) : () => evaluate(`${fn}`));
  const timer = (run, delay, again) => {
    const wait = +delay || 0, id = keep(run, again);
    tell(`timer ${id} ${wait <= 2147483647 ? max(1, wait) : 1} ${again ? 1 : 0}`);
    return id;
  };
  const drop = (id) => { const n = +id; if (jobs[n]) { delete jobs[n]; tell(`drop ${n}`); } };
  window.setTimeout = (fn, delay, ...args) => timer(callable(fn, args), delay, false);
  window.setInterval = (fn, delay, ...args) => timer(callable(fn, args), delay, true);
  window.clearTimeout = window.clearInterval = window.cancelAnimationFrame = window.cancelIdleCallback = drop;
  window.requestAnimationFrame = (fn) => {
    const id = keep(() => apply(fn, top, [now]), false);
    tell(`frame ${id}`);
    return id;
  };
  window.requestIdleCallback = (fn) => timer(() => apply(fn, top, [{ didTimeout: false, timeRemaining: () => 10 }]), 1, false);
  performance.now = read;
  window.Date = new Proxy(RealDate, {
    __proto__: null,
    construct: (target, args, made) => construct(target, args.length ? args : [wall()], made),
    apply: () => `${construct(RealDate, [wall()])}`,
    get: (target, name) => (name === 'now' ? wall : get(target, name)),
  });
  let seed = 20260115;
  Math.random = () => { // mulberry32
    seed = (seed + 0x6d2b79f5) | 0;
    let t = imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };

  // ---- what the page listens to
  const HEARD = { __proto__: null };
  for (const type of ['click', 'dblclick', 'pointerdown', 'pointerup', 'pointermove', 'pointerenter', 'pointerover', 'mousedown',
    'mouseup', 'mousemove', 'mouseenter', 'mouseover', 'touchstart', 'wheel', 'drop', 'keydown', 'keyup', 'keypress']) HEARD[type] = true;
  const text = (value, most) => { try { return apply(slice, `${value ?? ''}`, [0, most]); } catch { return ''; } };
  let sources = 40;
  const note = (target, type, fn) => {
    if (!HEARD[type]) return;
    try {
      if (target === top || target === page) tell(`hears ${type}`);
      else { show(target); tell(`node hears ${type}`); }
      const does = typeof fn === 'function' ? fn : fn?.handleEvent;
      if ((type === 'keydown' || type === 'keyup' || type === 'keypress') && typeof does === 'function' && sources-- > 0) {
        tell(`source ${text(apply(source, does, []), 4000)}`);
      }
    } catch { /* never the page's trouble */ }
  };
  EventTarget.prototype.addEventListener = function (type, fn, options) {
    const target = this ?? top;
    if (fn) note(target, text(type, 20), fn);
    return apply(listen, target, [type, fn, options]);
  };
  for (const owner of [HTMLElement.prototype, SVGElement.prototype, Document.prototype, window]) {
    for (const type in HEARD) {
      const own = describe(owner, `on${type}`);
      if (!own?.set) continue;
      const set = function (fn) {
        if (typeof fn === 'function') note(this ?? top, type, fn);
        apply(own.set, this, [fn]);
      };
      define(owner, `on${type}`, { __proto__: null, get: own.get, set, enumerable: true, configurable: true });
    }
  }

  // ---- ways out: dialogs and popups (for leaving see `time.js`)
  window.alert = (said) => tell(`log dialog ${text(said, 80)}`);
  window.confirm = (said) => { tell(`log dialog ${text(said, 80)}`); return true; };
  window.prompt = (said, value) => { tell(`log dialog ${text(said, 80)}`); return value || 'Sample'; };
  window.print = () => tell('log dialog print');
  window.open = (url) => { tell(`log popup ${text(url, 80)}`); return null; };

  // ---- things that would otherwise move in real time or stay out of sight
  Element.prototype.attachShadow = function (options) {
    const root = apply(attachShadow, this, [options]);
    const mark = create('i');
    show(mark);
    apply(append, root, [mark]);
    tell('node root'); // where the mark is now
    apply(remove, root, [mark]);
    apply(add, known, [root]);
    return root;
  };
  let blind = false;
  told('blind', (value) => { blind = value === 1; });
  const context = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (type, options) {
    const kind = `${type}`;
    // Drawn by the CPU, since every picture of it is read back; and kept, so that it can be read at any time.
    if (kind === '2d') return apply(context, this, [kind, { ...options, willReadFrequently: true }]);
    if (kind === 'webgl' || kind === 'webgl2' || kind === 'experimental-webgl') tell('webgl');
    return apply(context, this, [kind, { ...options, preserveDrawingBuffer: true }]);
  };
  for (const gl of [window.WebGLRenderingContext, window.WebGL2RenderingContext]) {
    for (const name of ['clear', 'drawArrays', 'drawElements', 'drawRangeElements', 'drawArraysInstanced', 'drawElementsInstanced']) {
      const draw = gl?.prototype[name];
      if (draw) gl.prototype[name] = function (...args) { if (!blind) apply(draw, this, args); };
    }
  }
  window.MessageChannel = class MessageChannel extends Channel { constructor() { super(); tell('messages'); } };
  for (const name of ['Worker', 'SharedWorker']) {
    const Real = window[name];
    if (Real) window[name] = { [name]: class extends Real { constructor(...args) { super(...args); tell('outside'); } } }[name];
  }
  const instantly = (owner, name, original = owner[name]) => {
    owner[name] = function (first, ...rest) {
      const asked = first && typeof first === 'object';
      return apply(original, this, asked
        ? [{ left: first.left, top: first.top, block: first.block, inline: first.inline, behavior: 'instant' }]
        : first === undefined ? [] : [first, ...rest]);
    };
  };
  for (const name of ['scrollTo', 'scrollBy', 'scroll']) { instantly(window, name); instantly(Element.prototype, name); }
  instantly(Element.prototype, 'scrollIntoView', scrollIntoView);
})("{{secret}}");
