// Where the page means nothing by a touch: what changes there, changes wherever one touches. Isolated world.
(() => {
  const probe = window.__probe;
  if (!probe || probe.inert) return;
  const dom = probe.dom;
  const TOUCHED = ['click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'mousemove', 'pointermove', 'mouseover', 'pointerover', 'touchstart'];
  const MEANT = 'a, button, input, select, textarea, label, summary, canvas, video, iframe, svg, [role], [tabindex], [draggable=true], [contenteditable]';
  const ACROSS = 8, DOWN = 14; // points that are tried
  const hears = (el) => TOUCHED.some((type) => probe.listeners.get(el)?.has(type) || dom.has(el, 'on' + type));
  const words = (el) => [...dom.nodes(el)].some((node) => node.nodeType === 3 && node.nodeValue.trim());
  /** Whether nobody would take the element for a control; what is about as large as the window is none. */
  const plain = (el) => {
    const wide = innerWidth * innerHeight / 2;
    if (!/^(auto|default|text|none)$/.test(getComputedStyle(el).cursor)) return false;
    for (let at = el; at; at = dom.up(at)) {
      const box = dom.box(at);
      if (box.width * box.height < wide && (hears(at) || dom.matches(at, MEANT))) return false;
    }
    return true;
  };
  const heard = (el) => {
    if (TOUCHED.some((type) => probe.global.has(type))) return true;
    for (let at = el; at; at = dom.up(at)) if (hears(at)) return true;
    return false;
  };
  /** A point {x, y} on plain text, or on nothing, where a touch reaches scripts all the same; null where there is none. */
  probe.inert = () => {
    let bare = null;
    for (let j = 1; j < DOWN; j++) for (let i = 1; i < ACROSS; i++) {
      const x = Math.round(innerWidth * i / ACROSS), y = Math.round(innerHeight * j / DOWN), el = dom.at(x, y);
      if (!el || dom.owner(el) !== document || !heard(el) || !plain(el)) continue;
      if (words(el)) return { x, y };
      bare ??= { x, y };
    }
    return bare;
  };
})();
