// What a person could see of the page, element by element, and the difference of two such pictures.
// Elements are keyed by their place in the tree; only those that are visible are in a snapshot. Isolated world.
(() => {
  const probe = window.__probe;
  if (!probe || probe.snapshot) return;
  const dom = probe.dom, { shadow, inner, holds } = dom;
  const REST = 1200; // ms of our time: what ticks outside of the page's time (a worker) is waited for so long
  const MOST = 4000, LISTED = 300, CANVAS_PIXELS = 1e5;
  const SHAPE = ['d', 'points', 'x', 'y', 'cx', 'cy', 'r', 'rx', 'ry', 'width', 'height', 'x1', 'x2', 'y1', 'y2', 'transform', 'viewBox'];
  const hash = (text) => {
    let h = 2166136261;
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
    return (h >>> 0).toString(36);
  };
  const words = (el) => {
    let text = '';
    for (const node of dom.nodes(el)) if (node.nodeType === 3) text += node.nodeValue;
    return text.replace(/\s+/g, ' ').trim();
  };
  const ACROSS = 64, DOWN = 48; // cells of a canvas's picture, each a character: its mean tone from U+0100 on
  const SEEN = 6, FAINT = 2, FAINT_CELLS = 8; // tones by which one cell, or several, must differ to be seen (as in decide.py)
  const pixels = (canvas) => {
    try {
      if (!canvas.width || !canvas.height) return 'none';
      const k = Math.min(1, Math.sqrt(CANVAS_PIXELS / (canvas.width * canvas.height)));
      const copy = new OffscreenCanvas(Math.ceil(canvas.width * k), Math.ceil(canvas.height * k)), { width, height } = copy;
      const pen = copy.getContext('2d', { willReadFrequently: true });
      pen.imageSmoothingQuality = 'medium'; // means of what is left out, so that thin lines are in it
      pen.drawImage(canvas, 0, 0, width, height);
      const data = new Uint32Array(pen.getImageData(0, 0, width, height).data.buffer);
      const sums = new Uint32Array(ACROSS * DOWN), counts = new Uint32Array(ACROSS * DOWN);
      for (let y = 0, i = 0; y < height; y++) {
        const row = Math.floor(y * DOWN / height) * ACROSS;
        for (let x = 0; x < width; x++, i++) {
          const c = data[i], cell = row + ((x * ACROSS / width) | 0);
          // Of the four parts the weights differ, so that no usual pair of colours has the same tone.
          sums[cell] += (c & 255) * 7 + (c >>> 8 & 255) * 6 + (c >>> 16 & 255) * 4 + (c >>> 24) * 3;
          counts[cell]++;
        }
      }
      let tones = '';
      for (let i = 0; i < sums.length; i++) tones += String.fromCharCode(256 + (counts[i] ? Math.round(sums[i] / counts[i] / 20) : 0));
      return tones;
    } catch { return 'unreadable'; }
  };
  /** Whether a person would see two pictures of a canvas differ. */
  const differ = (a, b) => {
    if (a === b || a.length !== b.length) return a !== b;
    let faint = 0;
    for (let i = 0; i < a.length; i++) {
      const by = Math.abs(a.charCodeAt(i) - b.charCodeAt(i));
      if (by >= SEEN || by >= FAINT && ++faint >= FAINT_CELLS) return true;
    }
    return false;
  };
  const state = (el) => {
    let out = '';
    for (const a of dom.attributes(el)) if (a.name.startsWith('aria-') && a.name !== 'aria-label') out += a.name + '=' + a.value + ';';
    const tag = dom.tag(el);
    if (tag === 'INPUT' || tag === 'TEXTAREA' || tag === 'SELECT') {
      out += 'value=' + el.value + ';checked=' + !!el.checked + ';disabled=' + el.disabled + ';';
    } else if (tag === 'BUTTON') out += 'disabled=' + el.disabled + ';';
    else if (tag === 'DETAILS' || tag === 'DIALOG') out += 'open=' + el.open + ';';
    else if (tag === 'PROGRESS' || tag === 'METER') out += 'value=' + el.value + ';';
    else if (tag === 'IMG') out += 'src=' + hash(el.currentSrc || el.src) + ';';
    else if (dom.space(el)?.endsWith('svg')) for (const name of SHAPE) out += (dom.get(el, name) ?? '') + ',';
    return out;
  };
  const paint = (s) => [s.color, s.backgroundColor, s.backgroundImage.slice(0, 200), s.borderTopColor, s.opacity, s.filter,
    s.fill, s.stroke, s.fontWeight, s.fontStyle, s.fontSize, s.textDecorationLine, s.clipPath, s.textAlign].join('|');
  /** Whether an element shows its back: by its own turn and those of the scene that it stands in. */
  const turned = (el, view) => {
    let whole = new DOMMatrix(), style = view.getComputedStyle(el);
    for (let at = el; style; ) {
      if (style.transform !== 'none') whole = new DOMMatrix(style.transform).multiply(whole);
      at = dom.up(at);
      style = at && view.getComputedStyle(at);
      if (style?.transformStyle !== 'preserve-3d') break;
    }
    return whole.m33 < 0;
  };
  const animations = () => {
    const all = [...dom.animations(document)];
    dom.walk((el) => {
      const root = shadow(el), page = inner(el);
      if (root) all.push(...root.getAnimations());
      if (page) all.push(...dom.animations(page));
      if (dom.tag(el) === 'svg' && dom.find(el, 'animate, animateTransform, animateMotion, set').length) { el.pauseAnimations(); el.setCurrentTime(0); }
    });
    return all;
  };
  /** Everything that moves by itself stands still at a known place; `hard` ends one-time animations too. */
  probe.calm = (hard) => {
    const running = new Map();
    for (const a of animations()) {
      try {
        const end = a.effect?.getComputedTiming().endTime;
        if ('transitionProperty' in a || (hard && end !== Infinity)) a.finish();
        else if (end === Infinity) { a.pause(); a.currentTime = 0; }
        else if (a.effect?.target && !a.effect.pseudoElement) running.set(a.effect.target, (running.get(a.effect.target) || '') + (a.animationName || 'animate') + ';');
      } catch { /* a timeline of another kind */ }
    }
    return running;
  };
  probe.snapshot = (hard, canvases = true) => {
    const moving = probe.calm(hard);
    const out = { elements: new Map(), scroll: [], hash: location.hash, title: dom.title(document), url: location.pathname + location.search };
    const round = (n) => Math.round(n / 2) * 2;
    let seen = 0;
    probe.walk((el, key, at) => {
      if (++seen > MOST) return false;
      const view = dom.view(dom.owner(el));
      const style = view.getComputedStyle(el);
      if (style.display === 'none') return false;
      const across = dom.across(el), down = dom.down(el);
      if (across || down) out.scroll.push([key, Math.round(across), Math.round(down)]);
      const box = dom.box(el);
      const shown = style.display === 'contents' || (box.width + box.height >= 2 && (box.width > 0 && box.height > 0 || dom.space(el)?.endsWith('svg')) &&
        dom.checkVisibility(el, { opacityProperty: true, visibilityProperty: true }));
      if (shown && style.backfaceVisibility === 'hidden' && turned(el, view)) return false; // a card's other side
      if (!shown) return style.opacity === '0' ? false : undefined;
      const text = words(el);
      out.elements.set(key, {
        el, tag: dom.tag(el).toLowerCase(), text, state: state(el), paint: paint(style), area: Math.round(box.width * box.height),
        moved: [round(box.x + view.scrollX + at.x), round(box.y + view.scrollY + at.y), round(box.width), round(box.height),
          style.transform === 'none' ? '' : style.transform.replace(/-?\d+\.?\d*(e-?\d+)?/g, (n) => (+n).toFixed(2))].join(' '),
        motion: moving.get(el) || '', canvas: dom.tag(el) === 'CANVAS' && canvases ? pixels(el) : '',
      });
      return dom.tag(el) !== 'SELECT';
    });
    return out;
  };
  const CONTROL = 'button, a, input, select, textarea, label, summary, [role=button], [role=tab], [role=switch], [role=checkbox], [role=radio], [role=option]';
  /** Where an element stands to the operated one: own, peer (the like beside it), ancestor, other. */
  const placer = (key) => {
    const el = key === null ? null : dom.byKey(key);
    if (!el) return () => 'other';
    const own = [el, ...dom.labels(el)], label = dom.closest(el, 'label'), up = dom.up(el);
    if (label) own.push(label);
    const unit = up && dom.tag(up) === 'LI' ? up : el, around = dom.parent(unit);
    const beside = around ? [...(dom.type(around) === 1 ? dom.kids(around) : around.children)] : [];
    const row = beside.filter((s) => s !== unit && dom.tag(s) === dom.tag(unit));
    const peers = dom.matches(el, CONTROL) || row.length < 40 ? row : [];
    return (other) => {
      if (own.some((o) => holds(o, other))) return 'own';
      if (peers.some((p) => holds(p, other))) return 'peer';
      return holds(other, el) ? 'ancestor' : 'other';
    };
  };
  const KINDS = ['text', 'state', 'paint', 'moved', 'motion', 'canvas'];
  /** The list of changes from `a` to `b`; `key` names the operated element, or is null. */
  probe.diff = (a, b, key) => {
    const place = placer(key), out = [];
    const put = (k, kind, entry, after, sample) => {
      out.push({ key: k, kind, place: entry ? place(entry.el) : 'page', area: entry ? entry.area : 0, tag: entry ? entry.tag : '',
        control: !!entry && !!dom.closest(entry.el, CONTROL), after: kind === 'canvas' ? after : hash(String(after)), sample: String(sample).slice(0, 60) });
    };
    const news = (was, is) => is.split(';').filter((part) => part && !was.split(';').includes(part))
      .map((part) => (part.includes('=') ? part : 'shape')).join(';') || 'less';
    const label = (entry) => entry.text || dom.text(entry.el).slice(0, 2000).replace(/\s+/g, ' ').trim();
    for (const [k, after] of b.elements) {
      const before = a.elements.get(k);
      if (!before || before.tag !== after.tag) put(k, 'appeared', after, after.tag + after.text + after.state, label(after));
      else {
        for (const kind of KINDS) {
          if (before[kind] === after[kind] || kind === 'canvas' && !differ(before.canvas, after.canvas)) continue;
          if (kind === 'motion' && !after.motion) continue;
          put(k, kind, after, after[kind], kind === 'text' ? after.text : kind === 'state' ? news(before.state, after.state) : label(after));
        }
      }
    }
    for (const [k, before] of a.elements) if (!b.elements.has(k)) put(k, 'vanished', before, '', before.text);
    const scrolled = JSON.stringify(b.scroll);
    if (JSON.stringify(a.scroll) !== scrolled) {
      const was = new Map(a.scroll.map((s) => [s[0], s])), far = b.scroll.concat(a.scroll.filter((s) => !b.scroll.some((t) => t[0] === s[0])).map((s) => [s[0], 0, 0]));
      const most = Math.max(...far.map((s) => { const w = was.get(s[0]) || [0, 0, 0]; return Math.abs(s[1] - w[1]) + Math.abs(s[2] - w[2]); }));
      if (most >= 20) put('scroll', 'scroll', null, scrolled, most + ' px');
    }
    if (a.hash !== b.hash) put('hash', 'hash', null, b.hash, b.hash);
    if (a.url !== b.url) put('url', 'url', null, b.url, b.url);
    if (a.title !== b.title) put('title', 'title', null, b.title, b.title);
    return out.slice(0, LISTED);
  };

  // ---- one interaction: begin, (input), finish. `how.key`: the operated element or null; `how.muted`: no script
  // hears the input; `how.timed`: the page runs during the input, so canvases are compared with the control's
  // only; `how.again`: done before, nothing is measured;
  // `how.focus`: the element gets the focus first.
  let phases = 0;
  probe.begin = async (how) => {
    if (how.focus) probe.focusOn(how.key ?? '');
    await probe.flush();
    probe.log.length = 0;
    probe.how = how;
    if (how.again) probe.calm(true);
    else probe.before = probe.snapshot(true, !how.timed);
    probe.phase = probe.cause = ++phases;
    probe.muted = how.muted; probe.guarded = true;
  };
  /** What changes although nobody touches the page and its time stands still: done like an interaction. */
  probe.idle = async () => {
    await probe.begin({ key: null, muted: false, timed: false, again: false });
    if (probe.outside) await probe.wait(REST);
    return probe.finish(0, 0);
  };
  const merge = (...lists) => {
    const all = new Map();
    for (const list of lists) for (const c of list) if (!all.has(c.kind + c.key)) all.set(c.kind + c.key, c);
    return [...all.values()];
  };
  /** With `own` 0 only what the input caused runs on, for `caused` ms; otherwise all of the page, for `own` ms. */
  probe.finish = async (caused, own) => {
    await probe.flush();
    const phase = probe.phase, how = probe.how, lists = [];
    const look = (hard) => { if (how.again) probe.calm(hard); else lists.push(probe.diff(probe.before, probe.snapshot(hard), how.key)); };
    const waiting = [...probe.timers.values(), ...probe.frames.values()].some((t) => t.cause === phase);
    if (own > 0) await probe.advance(own, null, !!how.again);
    else {
      look(false);
      if (waiting) await probe.advance(caused, phase, !!how.again);
    }
    if (own > 0 || waiting || dom.animations(document).length) {
      await probe.flush();
      look(true);
    }
    for (const entry of probe.log) lists.push([{ key: entry.kind, kind: entry.kind, place: 'page', area: 0, tag: '', control: false, after: hash(entry.text), sample: entry.text }]);
    probe.phase = probe.cause = 0;
    probe.muted = false; probe.guarded = false;
    return { changes: merge(...lists), motion: probe.motion() };
  };
})();
