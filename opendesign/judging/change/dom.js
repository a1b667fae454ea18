// Reading the document in the isolated world. Everything goes through getters taken from the prototypes: the
// children of a form (and images, forms and frames of a document) hide its own properties by their names.
(() => {
  if (window.__probe) return;
  const reader = (owner, name) => { const { get } = Object.getOwnPropertyDescriptor(owner.prototype, name); return (node) => get.call(node); };
  const caller = (owner, name) => { const fn = owner.prototype[name]; return (node, ...args) => fn.apply(node, args); };
  const dom = {
    tag: reader(Element, 'tagName'), space: reader(Element, 'namespaceURI'), attributes: reader(Element, 'attributes'),
    kids: reader(Element, 'children'), rootKids: reader(DocumentFragment, 'children'), nodes: reader(Node, 'childNodes'),
    parent: reader(Node, 'parentNode'), up: reader(Node, 'parentElement'), owner: reader(Node, 'ownerDocument'), type: reader(Node, 'nodeType'),
    text: reader(Node, 'textContent'), connected: reader(Node, 'isConnected'), openRoot: reader(Element, 'shadowRoot'),
    across: reader(Element, 'scrollLeft'), down: reader(Element, 'scrollTop'), wide: reader(Element, 'scrollWidth'), high: reader(Element, 'scrollHeight'),
    clientWidth: reader(Element, 'clientWidth'), clientHeight: reader(Element, 'clientHeight'), clientLeft: reader(Element, 'clientLeft'), clientTop: reader(Element, 'clientTop'),
    get: caller(Element, 'getAttribute'), has: caller(Element, 'hasAttribute'), closest: caller(Element, 'closest'), matches: caller(Element, 'matches'),
    box: caller(Element, 'getBoundingClientRect'), boxes: caller(Element, 'getClientRects'), checkVisibility: caller(Element, 'checkVisibility'),
    find: caller(Element, 'querySelectorAll'), contains: caller(Node, 'contains'), order: caller(Node, 'compareDocumentPosition'),
    rootOf: caller(Node, 'getRootNode'), show: caller(Element, 'scrollIntoView'), focus: caller(HTMLElement, 'focus'), blur: caller(HTMLElement, 'blur'),
    html: reader(Document, 'documentElement'), body: reader(Document, 'body'), view: reader(Document, 'defaultView'), title: reader(Document, 'title'),
    active: reader(Document, 'activeElement'), scripts: reader(Document, 'scripts'), findAll: caller(Document, 'querySelectorAll'),
    byId: caller(Document, 'getElementById'), byName: caller(Document, 'getElementsByName'), hit: caller(Document, 'elementFromPoint'),
    animations: caller(Document, 'getAnimations'), range: caller(Document, 'createRange'), base: reader(Node, 'baseURI'),
  };
  /** A property that only some elements have; a form's is its child of that name, so it has none. */
  dom.own = (el, name) => (dom.tag(el) === 'FORM' ? undefined : el[name]);
  dom.labels = (el) => [...(dom.own(el, 'labels') || [])];
  dom.visible = (el, least = 4) => {
    const box = dom.box(el);
    return box.width >= least && box.height >= least && dom.checkVisibility(el, { opacityProperty: true, visibilityProperty: true });
  };
  const roots = new WeakMap(); // element -> its closed shadow root
  dom.shadow = (el) => dom.openRoot(el) || roots.get(el) || null;
  dom.keepRoot = (root) => roots.set(root.host, root);
  dom.inner = (el) => { try { return dom.tag(el) === 'IFRAME' ? el.contentDocument : null; } catch { return null; } };

  const SKIP = new Set(['SCRIPT', 'STYLE', 'TEMPLATE', 'NOSCRIPT', 'HEAD', 'LINK', 'META', 'TITLE', 'OPTION', 'OPTGROUP',
    'script', 'style', 'defs', 'title', 'desc', 'BR', 'SOURCE', 'TRACK']);
  const DEEPEST = 400;
  /** Calls visit(element, key, offset) in document order through shadow roots and frames; false skips the children. */
  dom.walk = (visit) => {
    const go = (el, key, at, depth) => {
      if (depth > DEEPEST || SKIP.has(dom.tag(el)) || visit(el, key, at) === false) return;
      const root = dom.shadow(el), page = dom.inner(el), html = page && dom.html(page);
      if (root) {
        let i = 0;
        for (const kid of [...dom.rootKids(root)]) go(kid, key + '~' + i++, at, depth + 1);
      }
      if (html) {
        const box = dom.box(el);
        go(html, key + '!', { x: at.x + box.x + dom.clientLeft(el), y: at.y + box.y + dom.clientTop(el) }, depth + 1);
      }
      const kids = dom.kids(el);
      for (let i = 0, n = kids.length; i < n; i++) go(kids[i], key + '.' + i, at, depth + 1);
    };
    const html = dom.html(document);
    if (html) go(html, '', { x: 0, y: 0 }, 0);
  };
  dom.kept = new Map(); // key -> the element that had it when it was listed
  dom.byKey = (key) => {
    const kept = dom.kept.get(key);
    if (kept && dom.connected(kept)) return kept;
    if (key.startsWith('@')) return null; // no place, a name that was given to it
    let el = dom.html(document);
    for (const [, mark, index] of key.matchAll(/([.~!])(\d*)/g)) {
      if (!el) return null;
      const root = mark === '~' && dom.shadow(el), page = mark === '!' && dom.inner(el);
      el = mark === '.' ? dom.kids(el)[index] : root ? dom.rootKids(root)[index] : page ? dom.html(page) : null;
    }
    return el || null;
  };
  /** Whether `el` is `outer` or in it, through shadow roots and frames. */
  dom.holds = (outer, el) => {
    for (let at = el; at; at = dom.parent(at) || at.host || (dom.type(at) === 9 ? dom.view(at)?.frameElement : null)) if (at === outer) return true;
    return false;
  };
  /** Where the top left corner of an element's frame is in the window. */
  dom.offset = (el) => {
    let x = 0, y = 0;
    for (let view = dom.view(dom.owner(el)); view && view !== window && view.frameElement; view = view.parent) {
      const frame = view.frameElement, box = dom.box(frame);
      x += box.x + dom.clientLeft(frame); y += box.y + dom.clientTop(frame);
    }
    return { x, y };
  };
  /** The innermost element at a point of the window. */
  dom.at = (x, y) => {
    let at = dom.hit(document, x, y), dx = x, dy = y;
    for (let i = 0; at && i < 20; i++) {
      const root = dom.shadow(at), page = dom.inner(at);
      let next = null;
      if (root) next = root.elementFromPoint(dx, dy);
      else if (page) {
        const box = dom.box(at);
        dx -= box.x + dom.clientLeft(at); dy -= box.y + dom.clientTop(at);
        next = dom.hit(page, dx, dy);
      }
      if (!next || next === at) return at;
      at = next;
    }
    return at;
  };
  window.__dom = dom;
})();
