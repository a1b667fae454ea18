// What a person could see of the page, element by element, and the difference of two such pictures.
// Elements are keyed by their place in the tree; only those that are visible are in a snapshot.
(() => {
  const probe = window.__probe;
  if (!probe || probe.snapshot) return;
  const MOST = 4000, LISTED = 300, CANVAS_PIXELS = 4e5;
  const SKIP = new Set(['SCRIPT', 'STYLE', 'TEMPLATE', 'NOSCRIPT', 'HEAD', 'LINK', 'META', 'TITLE', 'OPTION', 'OPTGROUP',
    'script', 'style', 'defs', 'title', 'desc', 'BR', 'SOURCE', 'TRACK']);
  const SHAPE = ['d', 'points', 'x', 'y', 'cx', 'cy', 'r', 'rx', 'ry', 'width', 'height', 'x1', 'x2', 'y1', 'y2', 'transform', 'viewBox'];
  const hash = (text) => {
    let h = 2166136261;
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
    return (h >>> 0).toString(36);
  };
  const shadow = (el) => el.shadowRoot || probe.roots.get(el) || null;
  const inner = (el) => { try { return el.tagName === 'IFRAME' ? el.contentDocument : null; } catch { return null; } };
  const kids = (el) => {
    const out = [];
    const root = shadow(el), page = inner(el);
    if (root) for (let i = 0; i < root.children.length; i++) out.push(['~' + i, root.children[i]]);
    if (page?.documentElement) out.push(['!', page.documentElement]);
    for (let i = 0; i < el.children.length; i++) out.push(['.' + i, el.children[i]]);
    return out;
  };
  /** Calls visit(element, key, offset) in document order through shadow roots and frames; false skips the children. */
  probe.walk = (visit) => {
    const go = (el, key, at) => {
      if (SKIP.has(el.tagName) || visit(el, key, at) === false) return;
      let inside = at;
      if (inner(el)) {
        const box = el.getBoundingClientRect();
        inside = { x: at.x + box.x + el.clientLeft, y: at.y + box.y + el.clientTop };
      }
      for (const [step, kid] of kids(el)) go(kid, key + step, step === '!' ? inside : at);
    };
    if (document.documentElement) go(document.documentElement, '', { x: 0, y: 0 });
  };
  probe.byKey = (key) => {
    let el = document.documentElement;
    for (const [, mark, index] of key.matchAll(/([.~!])(\d*)/g)) {
      el = mark === '.' ? el?.children[index] : mark === '~' ? el && shadow(el)?.children[index] : el && inner(el)?.documentElement;
    }
    return el || null;
  };
  const words = (el) => {
    let text = '';
    for (const node of el.childNodes) if (node.nodeType === 3) text += node.nodeValue;
    return text.replace(/\s+/g, ' ').trim();
  };
  const pixels = (canvas) => {
    try {
      if (!canvas.width || !canvas.height) return 'none';
      const k = Math.min(1, Math.sqrt(CANVAS_PIXELS / (canvas.width * canvas.height)));
      const copy = new OffscreenCanvas(Math.ceil(canvas.width * k), Math.ceil(canvas.height * k));
      const pen = copy.getContext('2d', { willReadFrequently: true });
      pen.drawImage(canvas, 0, 0, copy.width, copy.height);
      const data = new Uint32Array(pen.getImageData(0, 0, copy.width, copy.height).data.buffer);
      let a = 1, b = 7;
      for (let i = 0; i < data.length; i++) { a = Math.imul(a ^ data[i], 16777619); b = (b + a) | 0; }
      return (a >>> 0).toString(36) + (b >>> 0).toString(36);
    } catch { return 'unreadable'; }
  };
  const state = (el) => {
    let out = '';
    for (const a of el.attributes) if (a.name.startsWith('aria-') && a.name !== 'aria-label') out += a.name + '=' + a.value + ';';
    const tag = el.tagName;
    if (tag === 'INPUT' || tag === 'TEXTAREA' || tag === 'SELECT') {
      out += 'value=' + el.value + ';checked=' + !!el.checked + ';disabled=' + el.disabled + ';';
    } else if (tag === 'BUTTON') out += 'disabled=' + el.disabled + ';';
    else if (tag === 'DETAILS' || tag === 'DIALOG') out += 'open=' + el.open + ';';
    else if (tag === 'PROGRESS' || tag === 'METER') out += 'value=' + el.value + ';';
    else if (tag === 'IMG') out += 'src=' + hash(el.currentSrc || el.src) + ';';
    else if (el.namespaceURI.endsWith('svg')) for (const name of SHAPE) out += (el.getAttribute(name) ?? '') + ',';
    return out;
  };
  const paint = (s) => [s.color, s.backgroundColor, s.backgroundImage.slice(0, 200), s.borderTopColor, s.opacity, s.filter,
    s.fill, s.stroke, s.fontWeight, s.fontStyle, s.fontSize, s.textDecorationLine, s.clipPath, s.textAlign].join('|');
  const animations = () => {
    const all = [...document.getAnimations()];
    probe.walk((el) => { const root = shadow(el); if (root) all.push(...root.getAnimations()); const page = inner(el); if (page) all.push(...page.getAnimations()); });
    return all;
  };
  /** Everything that moves by itself stands still at a known place; `hard` ends one-time animations too. */
  probe.calm = (hard) => {
    const running = new Map();
    for (const a of animations()) {
      try {
        const end = a.effect?.getComputedTiming().endTime;
        if (a instanceof CSSTransition || (hard && end !== Infinity)) a.finish();
        else if (end === Infinity) { a.pause(); a.currentTime = 0; }
        else if (a.effect?.target && !a.effect.pseudoElement) running.set(a.effect.target, (running.get(a.effect.target) || '') + (a.animationName || 'animate') + ';');
      } catch { /* a timeline of another kind */ }
    }
    return running;
  };
  probe.snapshot = (hard, canvases = true) => {
    const moving = probe.calm(hard);
    const out = { elements: new Map(), scroll: [], hash: location.hash, title: document.title, url: location.pathname + location.search };
    const round = (n) => Math.round(n / 2) * 2;
    let seen = 0;
    probe.walk((el, key, at) => {
      if (++seen > MOST) return false;
      const view = el.ownerDocument.defaultView;
      const style = view.getComputedStyle(el);
      if (style.display === 'none') return false;
      if (el.scrollTop || el.scrollLeft) out.scroll.push([key, Math.round(el.scrollLeft), Math.round(el.scrollTop)]);
      const box = el.getBoundingClientRect();
      const shown = style.display === 'contents' || (box.width + box.height >= 2 && (box.width > 0 && box.height > 0 || el.namespaceURI.endsWith('svg')) &&
        el.checkVisibility({ opacityProperty: true, visibilityProperty: true }));
      if (!shown) return style.opacity === '0' ? false : undefined;
      const text = words(el);
      out.elements.set(key, {
        el, tag: el.tagName.toLowerCase(), text, state: state(el), paint: paint(style), area: Math.round(box.width * box.height),
        moved: [round(box.x + view.scrollX + at.x), round(box.y + view.scrollY + at.y), round(box.width), round(box.height),
          style.transform === 'none' ? '' : style.transform.replace(/-?\d+\.?\d*(e-?\d+)?/g, (n) => (+n).toFixed(2))].join(' '),
        motion: moving.get(el) || '', canvas: el.tagName === 'CANVAS' && canvases ? pixels(el) : '',
      });
      return el.tagName !== 'SELECT';
    });
    return out;
  };
  const holds = (outer, el) => {
    for (let at = el; at; at = at.parentNode || at.host || at.defaultView?.frameElement) if (at === outer) return true;
    return false;
  };
  const CONTROL = 'button, a, input, select, textarea, label, summary, [role=button], [role=tab], [role=switch], [role=checkbox], [role=radio], [role=option]';
  /** Where an element stands to the operated one: own, peer (the like beside it), ancestor, other. */
  const placer = (key) => {
    const el = key === null ? null : probe.byKey(key);
    if (!el) return () => 'other';
    const own = [el, ...(el.labels || [])];
    if (el.closest('label')) own.push(el.closest('label'));
    const unit = el.parentElement?.tagName === 'LI' ? el.parentElement : el;
    const row = [...(unit.parentNode?.children || [])].filter((s) => s !== unit && s.tagName === unit.tagName);
    const peers = el.matches(CONTROL) || row.length < 40 ? row : [];
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
        control: !!entry?.el.closest(CONTROL), after: hash(String(after)), sample: String(sample).slice(0, 60) });
    };
    const news = (was, is) => is.split(';').filter((part) => part && !was.split(';').includes(part)).join(';') || 'less';
    const label = (entry) => entry.text || (entry.el.textContent || '').replace(/\s+/g, ' ').trim();
    for (const [k, after] of b.elements) {
      const before = a.elements.get(k);
      if (!before || before.tag !== after.tag) put(k, 'appeared', after, after.tag + after.text + after.state, label(after));
      else {
        for (const kind of KINDS) {
          if (before[kind] === after[kind]) continue;
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
  // only; `how.again`: done before, nothing is measured.
  probe.begin = async (how) => {
    await probe.flush();
    probe.log.length = 0;
    probe.how = how;
    if (how.again) probe.calm(true);
    else probe.before = probe.snapshot(true, !how.timed);
    probe.phase = probe.cause = ++probe.nextId;
    probe.muted = how.muted; probe.guarded = true;
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
    if (own > 0 || waiting || document.getAnimations().length) {
      await probe.flush();
      look(true);
    }
    for (const entry of probe.log) lists.push([{ key: entry.kind, kind: entry.kind, place: 'page', area: 0, tag: '', control: false, after: hash(entry.text), sample: entry.text }]);
    probe.phase = probe.cause = 0;
    probe.muted = false; probe.guarded = false;
    return { changes: merge(...lists), motion: probe.motion() };
  };
})();
