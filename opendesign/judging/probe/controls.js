// What there is to operate on the page, and where to put the pointer. Needs the change measurement's scripts.
(() => {
  const probe = window.__probe;
  if (!probe || probe.controls) return;
  const dom = probe.dom, { own, labels, visible } = dom;
  const MOST = 160;
  const TYPED = new Set(['text', 'search', 'email', 'url', 'tel', 'password', 'number', 'date', 'time', 'month', 'week', 'datetime-local']);
  const POINTED = ['mouseenter', 'mouseover', 'mousemove', 'pointerenter', 'pointerover', 'pointermove'];
  const FIELD = new Set(['INPUT', 'TEXTAREA', 'SELECT', 'BUTTON']);
  const squeeze = (text) => (text || '').replace(/\s+/g, ' ').trim().slice(0, 60);
  const heard = (el, ...types) => {
    const noted = probe.listeners.get(el);
    return types.some((t) => noted?.has(t) || dom.has(el, 'on' + t));
  };
  /** Whether scrolling brings it into the window: a panel beside the page is reached by opening it, not by hand. */
  const reachable = (el, seen) => {
    const page = dom.owner(el), view = dom.view(page), root = dom.html(page);
    let box = dom.box(seen);
    for (let at = seen; at && at !== root && at !== dom.body(page); at = dom.up(at)) {
      const style = view.getComputedStyle(at);
      const scrolls = (/auto|scroll/.test(style.overflowX) && dom.wide(at) > dom.clientWidth(at)) ||
        (/auto|scroll/.test(style.overflowY) && dom.high(at) > dom.clientHeight(at));
      if (scrolls && at !== seen) box = dom.box(at);
      if (style.position === 'fixed') return box.right > 0 && box.bottom > 0 && box.left < view.innerWidth && box.top < view.innerHeight;
    }
    return box.right + view.scrollX > 0 && box.bottom + view.scrollY > 0 && box.left + view.scrollX < Math.max(dom.wide(root), view.innerWidth);
  };
  const opens = (el) => heard(el, 'click') || dom.has(el, 'aria-expanded');
  /** A label's words without those of the field in it (the options of a select). */
  const caption = (label, el) => (dom.contains(label, el) ? [...dom.nodes(label)].filter((n) => !dom.contains(n, el)).map(dom.text).join(' ') : label.innerText);
  const name = (el) => squeeze(dom.get(el, 'aria-label') || labels(el).map((l) => caption(l, el)).join(' ') || own(el, 'innerText') ||
    FIELD.has(dom.tag(el)) && el.value || dom.get(el, 'placeholder') || dom.get(el, 'title') || dom.get(el, 'name') || dom.get(el, 'id'));
  const target = (el) => { // 'section', 'view' (one that is not shown), 'nowhere', 'missing', 'outside' or '' (no link)
    const raw = dom.get(el, 'href');
    if (raw === null) return '';
    if (/^\s*javascript:/i.test(raw)) return 'nowhere';
    const page = dom.owner(el);
    let url;
    try { url = new URL(raw, dom.base(el)); } catch { return 'nowhere'; }
    const here = new URL(dom.view(page).location.href);
    if (url.origin !== here.origin || url.pathname + url.search !== here.pathname + here.search) {
      return raw.trim() === '' ? 'nowhere' : 'outside';
    }
    let id = url.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* as it is */ }
    if (!id) return 'nowhere';
    const there = dom.byId(page, id) || [...dom.byName(page, id)].find((el) => dom.tag(el) === 'A');
    return !there ? 'missing' : dom.boxes(there).length ? 'section' : 'view';
  };
  const kindOf = (el) => {
    const tag = dom.tag(el), role = dom.get(el, 'role') || '';
    if (tag === 'INPUT') {
      if (el.type === 'checkbox' || el.type === 'radio') return 'check';
      if (el.type === 'range') return 'slider';
      if (['submit', 'button', 'image', 'reset'].includes(el.type)) return 'button';
      return TYPED.has(el.type) ? 'type' : '';
    }
    if (tag === 'TEXTAREA' || (own(el, 'isContentEditable') === true && !(dom.up(el) && own(dom.up(el), 'isContentEditable') === true))) return 'type';
    if (tag === 'SELECT') return 'select';
    if (tag === 'SUMMARY') return 'details';
    if (role === 'slider') return 'drag';
    if (role === 'tab') return 'tab';
    if (own(el, 'draggable') === true && tag !== 'A' && tag !== 'IMG') return 'carry';
    if (tag === 'BUTTON' || /^(button|switch|checkbox|radio|option|menuitem|menuitemcheckbox|menuitemradio)$/.test(role)) return 'button';
    // What says that it is open or closed is operated, wherever it would lead.
    if (tag === 'A' && dom.has(el, 'href')) return dom.has(el, 'aria-expanded') && target(el) !== 'outside' ? 'button' : 'link';
    if (tag === 'CANVAS') return 'canvas';
    return '';
  };
  const loose = (el, style) => { // operable by listeners or looks, not by what the element is
    const box = dom.box(el), page = dom.owner(el), tag = dom.tag(el), up = dom.up(el);
    if (el === dom.body(page) || el === dom.html(page)) return '';
    if (heard(el, 'click', 'dblclick')) return 'click';
    const large = box.width >= 60 && box.height >= 60;
    if (large && heard(el, 'pointerdown', 'mousedown', 'touchstart')) return 'drag';
    if (heard(el, ...POINTED)) return 'hover';
    if (heard(el, 'mousedown', 'pointerdown', 'mouseup', 'pointerup')) return 'click';
    if (tag === 'LABEL') return '';
    if (style.cursor === 'pointer' && (!up || getComputedStyle(up).cursor !== 'pointer')) return 'click';
    if (/^(grab|move)$/.test(style.cursor) && large) return 'drag';
    const kids = tag === 'LI' ? [...dom.kids(el)] : [];
    if (kids.some((c) => /^(UL|OL|DIV)$/.test(dom.tag(c)) && !visible(c)) && !kids.some(opens)) return 'hover';
    const svg = own(el, 'ownerSVGElement');
    if (svg && /^(rect|circle|path|ellipse)$/.test(tag) && box.width * box.height >= 20) {
      const stage = dom.box(svg);
      const backdrop = box.width * box.height > 0.6 * stage.width * stage.height;
      if (stage.width >= 150 && stage.height >= 90 && !backdrop && style.fill !== 'none') return 'mark';
    }
    return '';
  };
  const kindOfField = (el) => (FIELD.has(dom.tag(el)) ? el.type : dom.get(el, 'role')) || '';
  const active = (el) => dom.get(el, 'aria-selected') === 'true' || /^(page|true)$/.test(dom.get(el, 'aria-current') || '') ||
    (dom.get(el, 'role') === 'radio' && dom.get(el, 'aria-checked') === 'true') || (own(el, 'type') === 'radio' && el.checked) ||
    /(^|[\s_-])(active|selected|current)($|\s)/.test(dom.get(el, 'class') || '');
  const group = (el, key) => {
    const parent = dom.up(el), up = parent && dom.tag(parent) === 'LI' ? 2 : 1;
    const parts = key.match(/[.~!]\d*/g) || [];
    return parts.slice(0, -up).join('') + ' ' + dom.tag(el).toLowerCase() + ' ' + kindOfField(el);
  };
  const barred = (el) => dom.matches(el, ':disabled') || dom.get(el, 'aria-disabled') === 'true';
  const said = (el) => (el && own(el, 'innerText')) || '';
  /** Every control on the page in document order, each with its element `el` and the form `owner` it belongs to. */
  const survey = () => {
    const keys = new Map(), found = [];
    dom.walk((el, key, at) => {
      keys.set(el, key);
      const style = getComputedStyle(el);
      if (style.display === 'none') return false;
      const known = kindOf(el), kind = known || loose(el, style);
      if (!kind) return true;
      let seen = el;
      if (!visible(el)) seen = labels(el).find((l) => visible(l)) || null;
      if (!seen || !reachable(el, seen)) return true;
      if (known === '' && kind === 'click' && found.some((f) => dom.contains(f.el, el) && f.kind !== 'click')) return true;
      const box = dom.box(seen), view = dom.view(dom.owner(el)), tag = dom.tag(el);
      found.push({ el, known: known !== '', key, kind, tag: tag.toLowerCase(), type: kindOfField(el), name: name(el),
        x: Math.round(box.x + view.scrollX + at.x), y: Math.round(box.y + view.scrollY + at.y), width: Math.round(box.width), height: Math.round(box.height),
        disabled: barred(el) || own(el, 'readOnly') === true, active: active(el), link: tag === 'A' ? target(el) : '',
        heard: heard(el, 'click', 'pointerdown', 'mousedown', 'pointerup', 'mouseup', 'touchstart', ...POINTED),
        dragged: heard(el, 'pointerdown', 'mousedown', 'touchstart'), wheel: heard(el, 'wheel'), pointed: heard(el, ...POINTED),
        clicked: heard(el, 'click'), double: heard(el, 'dblclick'), nav: !!dom.closest(el, 'nav, header, footer'), group: group(el, key), form: '', near: false, required: own(el, 'required') === true, submit: false });
      // What is inside a control is part of it, except where the control is really a surface.
      return !known || kind === 'canvas' || kind === 'type' || kind === 'carry';
    });
    const inside = (f) => found.filter((g) => g !== f && g.known && dom.contains(f.el, g.el)).length;
    const listed = (f) => found.filter((g) => g !== f && g.kind === 'click' && dom.contains(f.el, g.el)).length;
    const kept = found.filter((f) => f.known || f.kind === 'mark' || (inside(f) < (/drag|hover/.test(f.kind) ? 3 : 1) && listed(f) < 2));
    for (const f of kept) {
      const form = FIELD.has(dom.tag(f.el)) ? f.el.form : null, owner = form || dom.closest(f.el, 'form, [role=form]');
      f.owner = owner;
      f.form = owner ? keys.get(owner) ?? '' : '';
      f.submit = f.kind === 'button' && !!form && (f.tag === 'button' ? f.el.type === 'submit' : /^(submit|image)$/.test(f.el.type));
    }
    const among = (place, kinds) => kept.filter((f) => kinds.includes(f.kind) && f.form === '' && dom.contains(place, f.el));
    for (const f of kept) { // fields with one or two buttons beside them are a form in all but name
      if (f.form || f.tag === 'div' || (f.kind !== 'type' && f.type !== 'radio')) continue;
      for (let place = dom.up(f.el), i = 0; place && i < 4; place = dom.up(place), i++) {
        const buttons = among(place, ['button', 'click']).filter((b) => dom.order(f.el, b.el) & Node.DOCUMENT_POSITION_FOLLOWING);
        if (!buttons.length) continue;
        const fields = among(place, ['type', 'check']).filter((p) => p.type !== 'checkbox');
        if (buttons.length > 2 || fields.length > 8 || place === dom.body(document) && buttons.length > 1) break;
        for (const part of [...fields, buttons[0]]) Object.assign(part, { owner: place, form: keys.get(place) ?? '', near: true });
        buttons[0].submit = true;
        break;
      }
    }
    return { kept, keys };
  };
  /** The controls as data, and what the page says and hears about keys. */
  probe.controls = () => {
    const { kept, keys } = survey();
    const scripts = [...dom.scripts(document)].filter((s) => !s.src).map((s) => dom.text(s).slice(0, 60000)).join('\n');
    const inline = [...dom.findAll(document, '[onkeydown], [onkeyup], [onkeypress]')].map((el) => ['onkeydown', 'onkeyup', 'onkeypress'].map((n) => dom.get(el, n) || '').join(' ').slice(0, 500)).join('\n');
    const listens = inline !== '' || ['keydown', 'keyup', 'keypress'].some((t) => probe.global.has(t)) || probe.source !== '';
    const source = listens ? scripts + inline + probe.source : '';
    const has = (pattern) => pattern.test(source);
    dom.kept = new Map(kept.flatMap((f) => [[f.key, f.el], [f.form, f.owner]]).filter(([, el]) => el));
    return {
      controls: kept.slice(0, MOST).map(({ el, known, owner, ...rest }) => rest),
      keys: { listens, arrows: has(/Arrow(Left|Right|Up|Down)|keyCode\D{1,8}(37|38|39|40)\b/), space: has(/['"`](Space|Spacebar| )['"`]|keyCode\D{1,8}32\b/),
        enter: has(/['"`]Enter['"`]|keyCode\D{1,8}13\b/), wasd: has(/['"`](Key[WASD]|[wasdWASD])['"`]/),
        letters: [...new Set([...source.matchAll(/['"`](?:Key)?([A-Za-z])['"`]/g)].map((m) => m[1].toLowerCase()))].join(''), target: probe.keyTarget ? keys.get(probe.keyTarget) ?? '' : '' },
      text: said(dom.body(document)).replace(/\s+/g, ' ').slice(0, 4000),
      motion: probe.motion(),
    };
  };
  const SHAPES = /^(rect|circle|path|ellipse|polygon)$/;
  /** The part of a large surface that is nearest to its middle, where it is made of like parts (bars, cells, cards). */
  const part = (el) => {
    const whole = dom.box(el), at = dom.offset(el), rows = new Map();
    if (kindOf(el) || whole.width * whole.height < 20000) return null;
    for (const one of [...dom.find(el, '*')].slice(0, 800)) {
      const box = dom.box(one), tag = dom.tag(one), shape = SHAPES.test(tag);
      if (box.width * box.height < 20 || box.width * box.height > 0.4 * whole.width * whole.height || kindOf(one)) continue;
      if (dom.space(one)?.endsWith('svg') && (!shape || getComputedStyle(one).fill === 'none')) continue;
      const row = tag + ' ' + (dom.get(one, 'class') || '').trim().split(/\s+/)[0];
      rows.set(row, [...(rows.get(row) || []), { one, box, shape }]);
    }
    const many = [...rows.values()].filter((row) => row.length >= 3);
    const row = many.find(([first]) => first.shape) || many[0] || [];
    const middle = ({ box }) => ({ x: at.x + box.x + box.width / 2, y: at.y + box.y + box.height / 2 });
    const far = ({ box }) => Math.hypot(box.x + box.width / 2 - whole.x - whole.width / 2, box.y + box.height / 2 - whole.y - whole.height / 2);
    const near = row.sort((a, b) => far(a) - far(b)).slice(0, 12).find((p) => { const { x, y } = middle(p); return dom.at(x, y) === p.one || dom.holds(p.one, dom.at(x, y)); });
    return near ? middle(near) : null;
  };
  const INK_PIXELS = 1e5;
  /** Solid places of a drawing (a node, a bar), nearest to its middle first: {x, y} in the window; none in a 3D scene. */
  const ink = (canvas) => {
    if (probe.scene) return [];
    try {
      const box = dom.box(canvas), at = dom.offset(canvas);
      const k = Math.min(1, Math.sqrt(INK_PIXELS / (canvas.width * canvas.height)));
      const copy = new OffscreenCanvas(Math.ceil(canvas.width * k), Math.ceil(canvas.height * k)), { width, height } = copy;
      const pen = copy.getContext('2d', { willReadFrequently: true });
      pen.drawImage(canvas, 0, 0, width, height);
      const tones = new Uint32Array(pen.getImageData(0, 0, width, height).data.buffer).map((rgba) => rgba & 0xf0f0f0f0), count = new Map();
      for (const tone of tones) count.set(tone, (count.get(tone) || 0) + 1);
      const around = [1, -1, width, -width, width + 1, width - 1, -width + 1, -width - 1];
      const [[ground]] = [...count].sort((a, b) => b[1] - a[1]), found = [];
      for (let y = 1; y < height - 1; y++) for (let x = 1; x < width - 1; x++) {
        const i = y * width + x, tone = tones[i];
        if (tone === ground || around.some((d) => tones[i + d] !== tone)) continue;
        found.push({ x: at.x + box.x + (x + 0.5) / width * box.width, y: at.y + box.y + (y + 0.5) / height * box.height, far: Math.hypot(x - width / 2, y - height / 2) });
      }
      return found.sort((a, b) => a.far - b.far);
    } catch { return []; } // empty, or drawn from elsewhere
  };
  /** The like of `part` for a canvas. */
  const drawn = (canvas) => {
    for (const { x, y } of ink(canvas).slice(0, 400)) {
      if (x >= 0 && y >= 0 && x < innerWidth && y < innerHeight && dom.at(x, y) === canvas) return { x, y };
    }
    return null;
  };
  /** Whether a select has no option after the chosen one. */
  const atLast = (el) => dom.tag(el) === 'SELECT' && ![...el.options].slice(el.selectedIndex + 1).some((o) => !o.disabled);
  const fraction = (el) => { // where a slider stands, 0 to 1
    const low = Number(own(el, 'min') || 0), high = Number(own(el, 'max') || 100);
    const share = high > low ? (Number(own(el, 'value')) - low) / (high - low) : 0;
    return Number.isFinite(share) ? share : 0;
  };
  /**
   * Brings a control into view. {x, y, left, top, width, height} of the visible part in the window, a part of it
   * (`part_x`, `part_y`), `fraction` of a slider and `last` of a select, or {problem}. With `select`, the page's editable text is
   * selected first, as one does before pressing "bold".
   */
  probe.aim = async (key, select) => {
    if (select) selectEditable();
    const el = dom.byKey(key);
    if (!el || !dom.connected(el)) return { problem: 'gone' };
    if (barred(el)) return { problem: 'disabled' };
    const one = visible(el) ? el : labels(el).find((l) => visible(l));
    if (!one) return { problem: 'invisible' };
    const page = dom.owner(one), seen = dom.box(one);
    if (seen.top < 0 || seen.bottom > dom.view(page).innerHeight || page !== document) dom.show(one, { block: 'center', inline: 'nearest', behavior: 'instant' });
    await probe.flush();
    probe.calm(true);
    const at = dom.offset(one);
    const whole = dom.box(one), rects = [...dom.boxes(one)].filter((r) => r.width > 2 && r.height > 2);
    const box = rects.length > 1 ? rects[0] : whole;
    const parts = [el, ...labels(el)];
    const accepts = (hit) => hit && (parts.some((o) => dom.holds(o, hit)) || (dom.tag(el) === 'path' && dom.holds(el.ownerSVGElement, hit)));
    for (const [fx, fy] of [[0.5, 0.5], [0.5, 0.2], [0.5, 0.8], [0.2, 0.5], [0.8, 0.5], [0.1, 0.1], [0.9, 0.9]]) {
      const x = at.x + box.x + box.width * fx, y = at.y + box.y + box.height * fy;
      if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
      if (accepts(dom.at(x, y))) {
        const left = Math.max(0, at.x + box.x), up = Math.max(0, at.y + box.y);
        const inner = (dom.tag(el) === 'CANVAS' ? drawn(el) : part(el)) || { x, y };
        return { part_x: inner.x, part_y: inner.y, fraction: fraction(el), last: atLast(el), x, y, left, top: up, width: Math.min(innerWidth, at.x + box.right) - left, height: Math.min(innerHeight, at.y + box.bottom) - up };
      }
    }
    const hit = dom.at(at.x + box.x + box.width / 2, at.y + box.y + box.height / 2);
    return { problem: hit ? 'covered' : 'out of reach', by: hit ? dom.tag(hit).toLowerCase() + ' ' + squeeze(dom.text(hit)).slice(0, 30) : '' };
  };
  /** Gives an element the focus without an input event of its own; '' takes it from all. */
  probe.focusOn = (key) => {
    const el = key === '' ? dom.active(document) : dom.byKey(key);
    if (!el) return;
    if (key === '') { dom.blur(el); return; }
    try { dom.focus(el, { preventScroll: true }); el.select?.(); } catch { /* takes no focus, or is no text field */ }
  };
  /** Where to carry an element to: the middle of the next drop place, or of the next of its kind. */
  probe.neighbour = (key) => {
    const el = dom.byKey(key), around = el && dom.up(el);
    const row = around ? [...dom.kids(around)].filter((c) => c !== el && dom.tag(c) === dom.tag(el) && visible(c)) : [];
    let places = row;
    dom.walk((other) => { if (el && heard(other, 'drop') && !dom.contains(other, el) && visible(other) && !row.includes(other)) places = [other, ...places]; return true; });
    const boxes = places.map((p) => dom.box(p)).filter((b) => b.top >= 0 && b.top + b.height / 2 < innerHeight);
    const box = boxes[0] || (el ? dom.box(el) : { x: 0, y: 0, width: 0, height: 0 });
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 + (boxes.length ? Math.min(8, box.height / 4) : 80) };
  };
  const selectEditable = () => {
    const [el] = dom.findAll(document, '[contenteditable=""], [contenteditable=true]');
    if (!el || !dom.text(el).trim()) return;
    dom.focus(el, { preventScroll: true });
    const range = dom.range(document);
    range.selectNodeContents(el);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };
  /** The fields of a form in document order, as data for filling; the submit button's last. Their keys are for now. */
  probe.fields = (formKey) => {
    const form = dom.byKey(formKey), all = survey().kept.filter((f) => f.owner && f.owner === form);
    return all.map(({ el, known, owner, ...rest }, i) => {
      const said = (what) => dom.get(el, what) || '', key = '@' + i;
      dom.kept.set(key, el);
      return { ...rest, key, placeholder: said('placeholder'), filled: rest.kind === 'check' ? el.checked === true : !!own(el, 'value'), min: said('min'), max: said('max'),
        label: name(el) + ' ' + said('name') + ' ' + said('id') };
    });
  };
})();
