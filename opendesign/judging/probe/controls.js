// What there is to operate on the page, and where to put the pointer. Needs the change measurement's scripts.
(() => {
  const probe = window.__probe;
  if (!probe || probe.controls) return;
  const MOST = 160;
  const TYPED = new Set(['text', 'search', 'email', 'url', 'tel', 'password', 'number', 'date', 'time', 'month', 'week', 'datetime-local']);
  const squeeze = (text) => (text || '').replace(/\s+/g, ' ').trim().slice(0, 60);
  const heard = (el, ...types) => {
    const own = probe.listeners.get(el);
    return types.some((t) => own?.has(t) || typeof el['on' + t] === 'function' || el.hasAttribute('on' + t));
  };
  const visible = (el) => {
    const box = el.getBoundingClientRect();
    return box.width >= 4 && box.height >= 4 && el.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };
  /** Whether scrolling brings it into the window: a panel beside the page is reached by opening it, not by hand. */
  const reachable = (el, seen) => {
    const view = el.ownerDocument.defaultView, root = el.ownerDocument.documentElement;
    let box = seen.getBoundingClientRect();
    for (let at = seen; at && at !== root && at !== el.ownerDocument.body; at = at.parentElement) {
      const style = view.getComputedStyle(at);
      const scrolls = (/auto|scroll/.test(style.overflowX) && at.scrollWidth > at.clientWidth) ||
        (/auto|scroll/.test(style.overflowY) && at.scrollHeight > at.clientHeight);
      if (scrolls && at !== seen) box = at.getBoundingClientRect();
      if (style.position === 'fixed') return box.right > 0 && box.bottom > 0 && box.left < view.innerWidth && box.top < view.innerHeight;
    }
    return box.right + view.scrollX > 0 && box.bottom + view.scrollY > 0 && box.left + view.scrollX < Math.max(root.scrollWidth, view.innerWidth);
  };
  const opens = (el) => heard(el, 'click') || el.hasAttribute('aria-expanded');
  const name = (el) => squeeze(el.getAttribute('aria-label') || [...(el.labels || [])].map((l) => l.innerText).join(' ') ||
    el.innerText || el.value || el.getAttribute('placeholder') || el.getAttribute('title') || el.getAttribute('name') || el.id);
  const target = (el) => { // 'section', 'nowhere', 'outside' or '' (no link)
    const raw = el.getAttribute('href');
    if (raw === null) return '';
    if (/^\s*javascript:/i.test(raw)) return 'nowhere';
    let url;
    try { url = new URL(raw, el.ownerDocument.baseURI); } catch { return 'nowhere'; }
    const here = new URL(el.ownerDocument.location.href);
    if (url.origin !== here.origin || url.pathname + url.search !== here.pathname + here.search) {
      return raw.trim() === '' ? 'nowhere' : 'outside';
    }
    const id = decodeURIComponent(url.hash.slice(1));
    if (!id) return 'nowhere';
    const doc = el.ownerDocument;
    return doc.getElementById(id) || doc.getElementsByName(id).length ? 'section' : 'missing';
  };
  const kindOf = (el) => {
    const tag = el.tagName, role = el.getAttribute('role') || '';
    if (tag === 'INPUT') {
      if (el.type === 'checkbox' || el.type === 'radio') return 'check';
      if (el.type === 'range') return 'slider';
      if (['submit', 'button', 'image', 'reset'].includes(el.type)) return 'button';
      return TYPED.has(el.type) ? 'type' : '';
    }
    if (tag === 'TEXTAREA' || (el.isContentEditable && !el.parentElement?.isContentEditable)) return 'type';
    if (tag === 'SELECT') return 'select';
    if (tag === 'SUMMARY') return 'details';
    if (role === 'slider') return 'drag';
    if (role === 'tab') return 'tab';
    if (el.draggable && tag !== 'A' && tag !== 'IMG') return 'carry';
    if (tag === 'BUTTON' || /^(button|switch|checkbox|radio|option|menuitem|menuitemcheckbox|menuitemradio)$/.test(role)) return 'button';
    // What says that it is open or closed is operated, wherever it would lead.
    if (tag === 'A' && el.hasAttribute('href')) return el.hasAttribute('aria-expanded') && target(el) !== 'outside' ? 'button' : 'link';
    if (tag === 'CANVAS') return 'canvas';
    return '';
  };
  const loose = (el, style) => { // operable by listeners or looks, not by what the element is
    const box = el.getBoundingClientRect();
    if (el === document.body || el === document.documentElement) return '';
    if (heard(el, 'click', 'dblclick')) return 'click';
    const large = box.width >= 60 && box.height >= 60;
    if (large && heard(el, 'pointerdown', 'mousedown', 'touchstart')) return 'drag';
    if (heard(el, 'mouseenter', 'mouseover', 'mousemove', 'pointerenter', 'pointerover', 'pointermove')) return 'hover';
    if (heard(el, 'mousedown', 'pointerdown', 'mouseup', 'pointerup')) return 'click';
    if (el.tagName === 'LABEL') return '';
    if (style.cursor === 'pointer' && getComputedStyle(el.parentElement || el).cursor !== 'pointer') return 'click';
    if (/^(grab|move)$/.test(style.cursor) && large) return 'drag';
    if (el.tagName === 'LI' && [...el.children].some((c) => /^(UL|OL|DIV)$/.test(c.tagName) && !visible(c)) && ![...el.children].some(opens)) return 'hover';
    const svg = el.ownerSVGElement;
    if (svg && /^(rect|circle|path|ellipse)$/.test(el.tagName) && box.width * box.height >= 20) {
      const stage = svg.getBoundingClientRect();
      const backdrop = box.width * box.height > 0.6 * stage.width * stage.height;
      if (stage.width >= 150 && stage.height >= 90 && !backdrop && getComputedStyle(el).fill !== 'none') return 'mark';
    }
    return '';
  };
  const active = (el) => el.getAttribute('aria-selected') === 'true' || /^(page|true)$/.test(el.getAttribute('aria-current') || '') ||
    (el.getAttribute('role') === 'radio' && el.getAttribute('aria-checked') === 'true') || (el.type === 'radio' && el.checked) ||
    /(^|[\s_-])(active|selected|current)($|\s)/.test(el.getAttribute('class') || '');
  const group = (el, key) => {
    const up = el.parentElement?.tagName === 'LI' ? 2 : 1;
    const parts = key.match(/[.~!]\d*/g) || [];
    return parts.slice(0, -up).join('') + ' ' + el.tagName.toLowerCase() + ' ' + (el.type || el.getAttribute('role') || '');
  };
  /** Every control on the page in document order, as data, and what the page says and hears about keys. */
  probe.controls = () => {
    const keys = new Map(), found = [];
    probe.walk((el, key, at) => {
      keys.set(el, key);
      const style = getComputedStyle(el);
      if (style.display === 'none') return false;
      const known = kindOf(el), kind = known || loose(el, style);
      if (!kind) return true;
      let seen = el;
      if (!visible(el)) seen = el.labels?.length ? [...el.labels].find(visible) : null;
      if (!seen || !reachable(el, seen)) return true;
      if (known === '' && kind === 'click' && found.some((f) => f.el.contains(el) && f.kind !== 'click')) return true;
      const box = seen.getBoundingClientRect(), view = el.ownerDocument.defaultView;
      found.push({ el, known: known !== '', key, kind, tag: el.tagName.toLowerCase(), type: el.type || el.getAttribute('role') || '', name: name(el),
        x: Math.round(box.x + view.scrollX + at.x), y: Math.round(box.y + view.scrollY + at.y), width: Math.round(box.width), height: Math.round(box.height),
        disabled: !!el.disabled || el.getAttribute('aria-disabled') === 'true' || !!el.readOnly, active: active(el), link: el.tagName === 'A' ? target(el) : '',
        heard: heard(el, 'click', 'pointerdown', 'mousedown', 'pointerup', 'mouseup', 'touchstart', 'mousemove', 'pointermove', 'mouseenter', 'mouseover'),
        dragged: heard(el, 'pointerdown', 'mousedown', 'touchstart'), wheel: heard(el, 'wheel'), pointed: heard(el, 'mousemove', 'pointermove', 'mouseenter', 'mouseover'),
        clicked: heard(el, 'click'), double: heard(el, 'dblclick'), nav: !!el.closest('nav, header, footer'), group: group(el, key), form: '', near: false, required: !!el.required, submit: false });
      // What is inside a control is part of it, except where the control is really a surface.
      return !known || kind === 'canvas' || kind === 'type' || kind === 'carry';
    });
    const inside = (f) => found.filter((g) => g !== f && g.known && f.el.contains(g.el)).length;
    const listed = (f) => found.filter((g) => g !== f && g.kind === 'click' && f.el.contains(g.el)).length;
    const kept = found.filter((f) => f.known || f.kind === 'mark' || (inside(f) < (/drag|hover/.test(f.kind) ? 3 : 1) && listed(f) < 2));
    for (const f of kept) {
      const owner = f.el.form || f.el.closest('form, [role=form]');
      f.form = owner ? keys.get(owner) ?? '' : '';
      f.submit = f.kind === 'button' && !!f.el.form && (f.tag === 'button' ? f.el.type === 'submit' : /^(submit|image)$/.test(f.el.type));
    }
    const among = (place, kinds) => kept.filter((f) => kinds.includes(f.kind) && f.form === '' && place.contains(f.el));
    for (const f of kept) { // fields with one or two buttons beside them are a form in all but name
      if (f.form || f.tag === 'div' || (f.kind !== 'type' && f.type !== 'radio')) continue;
      for (let place = f.el.parentElement, i = 0; place && i < 4; place = place.parentElement, i++) {
        const buttons = among(place, ['button', 'click']).filter((b) => f.el.compareDocumentPosition(b.el) & Node.DOCUMENT_POSITION_FOLLOWING);
        if (!buttons.length) continue;
        const fields = among(place, ['type', 'check']).filter((p) => p.type !== 'checkbox');
        if (buttons.length > 2 || fields.length > 8 || place === document.body && buttons.length > 1) break;
        for (const part of fields) { part.form = keys.get(place) ?? ''; part.near = true; }
        buttons[0].form = f.form;
        buttons[0].near = true;
        buttons[0].submit = true;
        break;
      }
    }
    const scripts = [...document.scripts].filter((s) => !s.src).map((s) => s.textContent.slice(0, 60000)).join('\n');
    const inline = [...document.querySelectorAll('[onkeydown], [onkeyup], [onkeypress]')].map((el) => el.outerHTML.slice(0, 500)).join('\n');
    const onkey = [window, document, document.body].some((t) => t && (t.onkeydown || t.onkeyup || t.onkeypress));
    const listens = onkey || inline !== '' || ['keydown', 'keyup', 'keypress'].some((t) => probe.global.has(t)) || probe.sources.length > 0;
    const source = listens ? scripts + inline + probe.sources.join('\n') : '';
    const has = (pattern) => pattern.test(source);
    return {
      controls: kept.slice(0, MOST).map(({ el, known, ...rest }) => rest),
      keys: { listens, arrows: has(/Arrow(Left|Right|Up|Down)|keyCode\D{1,8}(37|38|39|40)\b/), space: has(/['"`](Space|Spacebar| )['"`]|keyCode\D{1,8}32\b/),
        enter: has(/['"`]Enter['"`]|keyCode\D{1,8}13\b/), wasd: has(/['"`](Key[WASD]|[wasdWASD])['"`]/), target: probe.keyTarget ? keys.get(probe.keyTarget) ?? '' : '' },
      text: (document.body?.innerText || '').replace(/\s+/g, ' ').slice(0, 4000),
      motion: probe.motion(),
    };
  };
  const top = (x, y) => {
    let at = document.elementFromPoint(x, y), dx = x, dy = y;
    for (let i = 0; at && i < 20; i++) {
      const root = at.shadowRoot || probe.roots.get(at);
      let next = null;
      if (root) next = root.elementFromPoint(dx, dy);
      else if (at.tagName === 'IFRAME') {
        const box = at.getBoundingClientRect();
        dx -= box.x + at.clientLeft; dy -= box.y + at.clientTop;
        try { next = at.contentDocument?.elementFromPoint(dx, dy); } catch { next = null; }
      }
      if (!next || next === at) return at;
      at = next;
    }
    return at;
  };
  const within = (outer, el) => {
    for (let at = el; at; at = at.parentNode || at.host) if (at === outer) return true;
    return false;
  };
  /** Brings a control into view. {x, y, width, height} of the visible part in the viewport, or {problem}. */
  probe.aim = async (key) => {
    const el = probe.byKey(key);
    if (!el || !el.isConnected) return { problem: 'gone' };
    if (el.disabled || el.getAttribute('aria-disabled') === 'true') return { problem: 'disabled' };
    const seen = visible(el) ? [el] : [...(el.labels || [])].filter(visible);
    if (!seen.length) return { problem: 'invisible' };
    const one = seen[0];
    const inView = () => { const b = one.getBoundingClientRect(); return b.top >= 0 && b.bottom <= one.ownerDocument.defaultView.innerHeight; };
    if (!inView() || one.ownerDocument !== document) one.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    await probe.flush();
    probe.calm(true);
    let at = { x: 0, y: 0 };
    for (let view = el.ownerDocument.defaultView; view !== window && view.frameElement; view = view.parent) {
      const box = view.frameElement.getBoundingClientRect();
      at = { x: at.x + box.x + view.frameElement.clientLeft, y: at.y + box.y + view.frameElement.clientTop };
    }
    const whole = one.getBoundingClientRect(), rects = [...one.getClientRects()].filter((r) => r.width > 2 && r.height > 2);
    const box = rects.length > 1 ? rects[0] : whole;
    const accepts = (hit) => hit && ([el, ...(el.labels || [])].some((o) => within(o, hit)) || (el.tagName === 'path' && within(el.ownerSVGElement, hit)));
    for (const [fx, fy] of [[0.5, 0.5], [0.5, 0.2], [0.5, 0.8], [0.2, 0.5], [0.8, 0.5], [0.1, 0.1], [0.9, 0.9]]) {
      const x = at.x + box.x + box.width * fx, y = at.y + box.y + box.height * fy;
      if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
      if (accepts(top(x, y))) {
        const left = Math.max(0, at.x + box.x), up = Math.max(0, at.y + box.y);
        return { x, y, left, top: up, width: Math.min(innerWidth, at.x + box.right) - left, height: Math.min(innerHeight, at.y + box.bottom) - up };
      }
    }
    const hit = top(at.x + box.x + box.width / 2, at.y + box.y + box.height / 2);
    return { problem: hit ? 'covered' : 'out of reach', by: hit ? hit.tagName.toLowerCase() + ' ' + squeeze(hit.textContent).slice(0, 30) : '' };
  };
  /** Gives an element the focus without an input event of its own; '' takes it from all. */
  probe.focusOn = (key) => {
    if (key === '') { document.activeElement?.blur?.(); return; }
    const el = probe.byKey(key);
    probe.chosen = el?.value;
    el?.focus?.({ preventScroll: true });
    if (el?.select) { try { el.select(); } catch { /* not a text field */ } }
  };
  /** Whether the operated select still has the value it had when it got the focus. */
  probe.unchanged = () => {
    return probe.byKey(probe.how.key).value === probe.chosen;
  };
  /** Where a slider stands, 0 to 1. */
  probe.fraction = (key) => {
    const el = probe.byKey(key), low = Number(el.min || 0), high = Number(el.max || 100);
    return high > low ? (Number(el.value) - low) / (high - low) : 0;
  };
  /** Where to carry an element to: the middle of the next drop place, or of the next of its kind. */
  probe.neighbour = (key) => {
    const el = probe.byKey(key), row = [...el.parentElement.children].filter((c) => c !== el && c.tagName === el.tagName && visible(c));
    let places = row;
    probe.walk((other) => { if (heard(other, 'drop') && !other.contains(el) && visible(other) && !row.includes(other)) places = [other, ...places]; return true; });
    const boxes = places.map((p) => p.getBoundingClientRect()).filter((b) => b.top >= 0 && b.top + b.height / 2 < innerHeight);
    const box = boxes[0] || el.getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 + (boxes.length ? Math.min(8, box.height / 4) : 80) };
  };
  /** Selects the text of the page's editable part, as one does before pressing "bold". */
  probe.selectEditable = () => {
    const el = document.querySelector('[contenteditable=""], [contenteditable=true]');
    if (!el || !el.textContent.trim()) return;
    el.focus({ preventScroll: true });
    const range = document.createRange();
    range.selectNodeContents(el);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };
  /** The fields of a form in document order, as data for filling; the submit button's key last. */
  probe.fields = (formKey) => {
    const owner = probe.byKey(formKey);
    const all = probe.controls().controls.filter((c) => c.form === formKey && owner);
    return all.map((c) => {
      const el = probe.byKey(c.key);
      return { ...c, placeholder: el.placeholder || '', filled: c.kind === 'check' ? el.checked : !!el.value, min: el.min || '', max: el.max || '', step: el.step || '',
        pattern: el.pattern || '', minlength: el.minLength || 0, label: name(el) + ' ' + (el.name || '') + ' ' + (el.id || '') };
    });
  };
})();
