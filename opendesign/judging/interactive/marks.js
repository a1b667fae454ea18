// What a person would read off each listed control just now. Needs the probe's list of controls.
(() => {
  const probe = window.__probe;
  if (!probe || probe.survey) return;
  const { dom } = probe, { own, labels } = dom;
  const MOST_OPTIONS = 200;
  const squeeze = (text, most = 60) => String(text ?? '').replace(/\s+/g, ' ').trim().slice(0, most);
  const shown = (el) => dom.visible(el, 2);
  const STATES = ['expanded', 'selected', 'pressed', 'checked', 'current', 'invalid'];
  const states = (el) => {
    const out = [], tag = dom.tag(el), type = own(el, 'type');
    if (own(el, 'disabled') === true || dom.get(el, 'aria-disabled') === 'true') out.push('disabled');
    if (own(el, 'readOnly') === true) out.push('read only');
    if (tag === 'INPUT' && (type === 'checkbox' || type === 'radio')) out.push(el.checked ? 'checked' : 'not checked');
    if (tag === 'SUMMARY') out.push(dom.up(el)?.open ? 'open' : 'closed');
    if (own(el, 'required') === true) out.push('required');
    const page = dom.owner(el);
    if (dom.active(page) === el && el !== dom.body(page)) out.push('has the focus');
    for (const name of STATES) {
      const value = dom.get(el, 'aria-' + name);
      if (value === 'true' || value === 'mixed' || (name === 'current' && value && value !== 'false')) out.push(name);
      else if (value === 'false') out.push('not ' + name);
    }
    return out;
  };
  const open = (option) => !option.disabled && !(dom.tag(dom.up(option)) === 'OPTGROUP' && dom.up(option).disabled);
  const options = (el) => [...el.options].slice(0, MOST_OPTIONS).filter(open);
  const value = (el) => {
    const tag = dom.tag(el);
    if (tag === 'SELECT') return squeeze([...el.selectedOptions].map((o) => o.label).join(', '));
    if (tag === 'INPUT' && /^(checkbox|radio|submit|button|image|reset|file|password)$/.test(el.type)) return '';
    if (tag === 'INPUT' || tag === 'TEXTAREA') return squeeze(el.value);
    if (own(el, 'isContentEditable') === true) return squeeze(own(el, 'innerText'));
    return squeeze(dom.get(el, 'aria-valuetext') ?? dom.get(el, 'aria-valuenow') ?? '');
  };
  const bound = (el, name, otherwise) => {
    const number = Number(dom.get(el, name) || dom.get(el, 'aria-value' + name) || otherwise);
    return Number.isFinite(number) ? number : otherwise;
  };
  const SHARES = [[0.5, 0.5], [0.5, 0.2], [0.5, 0.8], [0.2, 0.5], [0.8, 0.5]];
  /** Where it stands to the window: here, above, below, aside, or covered. */
  const placed = (el, x, y, width, height) => {
    if (y + height <= 0) return 'above';
    if (y >= innerHeight) return 'below';
    if (x + width <= 0 || x >= innerWidth) return 'aside';
    const points = SHARES.map(([fx, fy]) => [x + width * fx, y + height * fy]).filter(([px, py]) => px >= 0 && py >= 0 && px < innerWidth && py < innerHeight);
    const hits = points.map(([px, py]) => dom.at(px, py)), stage = own(el, 'ownerSVGElement');
    const free = (hit) => hit && ([el, ...labels(el)].some((o) => dom.holds(o, hit)) || (stage && dom.holds(stage, hit)));
    return hits.length && !hits.some(free) ? 'covered' : 'here';
  };
  const describe = (key) => {
    const el = dom.byKey(key);
    if (!el) return null;
    const seen = shown(el) ? el : labels(el).find(shown) || el;
    const box = dom.box(seen), at = dom.offset(seen), x = at.x + box.x, y = at.y + box.y;
    const offered = dom.tag(el) === 'SELECT' ? options(el) : [];
    return {
      box: [x, y, box.width, box.height], place: placed(el, x, y, box.width, box.height), states: states(el), value: value(el),
      hint: squeeze(dom.get(el, 'placeholder')), role: squeeze(dom.get(el, 'role'), 30), low: bound(el, 'min', 0), high: bound(el, 'max', 100),
      options: offered.map((o) => squeeze(o.label)), chosen: offered.findIndex((o) => o.selected),
    };
  };
  // A key is a place in the tree: what stands there when the agent acts must be what was listed, or drawn like it.
  let listed = null; // key -> what stood there; null on a page that nobody has looked at yet
  const aim = probe.aim;
  const looks = (el) => [dom.tag(el), own(el, 'type'), dom.text(el), ...['id', 'class', 'aria-label', 'placeholder'].map((a) => dom.get(el, a))].join();
  probe.aim = async (key, select) => {
    const was = listed?.get(key), is = dom.byKey(key);
    if (listed && (!was || !is || (is !== was.el && looks(is) !== was.looks))) return { problem: 'gone' };
    return aim(key, select);
  };
  /** The probe's list of controls, each as it stands in the window now, and where the window is on the page. */
  probe.survey = async () => {
    probe.calm(true); // what a picture shows must not depend on how far a transition has come
    await probe.flush();
    const listing = await probe.controls();
    listed = new Map();
    for (const { key } of listing.controls) {
      const el = dom.byKey(key);
      if (el) listed.set(key, { el, looks: looks(el) });
    }
    const root = document.scrollingElement || dom.html(document);
    return {
      listing,
      marks: listing.controls.map(({ key }) => { try { return describe(key); } catch { return null; } }),
      scroll: { y: Math.round(window.scrollY), height: root ? dom.high(root) : 0, window: innerHeight },
    };
  };
  /** The middle of an element in the window, where it is; null where there is none. */
  probe.whereIs = (key) => {
    const el = dom.byKey(key);
    if (!el || !dom.connected(el)) return null;
    const box = dom.box(el), at = dom.offset(el);
    return { x: at.x + box.x + box.width / 2, y: at.y + box.y + box.height / 2 };
  };
  /** Moves the window over the page by a share of its height. */
  probe.scrollPage = (share) => { window.scrollBy({ top: innerHeight * share, behavior: 'instant' }); };
})();
