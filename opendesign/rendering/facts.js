// Collects the facts of a page in one go and returns them as a JSON string; see facts.py for what they mean.
// Runs in an isolated world: the page's scripts cannot change what it calls. Named elements can still stand in
// the way of a document's or a form's own properties, so those are read through the prototypes.
(limits) => {
  "use strict";
  const read = (proto, name) => { const f = Object.getOwnPropertyDescriptor(proto, name).get; return (o) => f.call(o); };
  const call = (proto, name) => { const f = proto[name]; return (o, ...args) => f.apply(o, args); };
  const type = read(Node.prototype, "nodeType"), first = read(Node.prototype, "firstChild");
  const next = read(Node.prototype, "nextSibling"), parentOf = read(Node.prototype, "parentNode");
  const content = read(Node.prototype, "textContent"), rootOf = call(Node.prototype, "getRootNode");
  const tagOf = read(Element.prototype, "localName"), shadowOf = read(Element.prototype, "shadowRoot");
  const attr = call(Element.prototype, "getAttribute");
  const rectOf = call(Element.prototype, "getBoundingClientRect"), closest = call(Element.prototype, "closest");
  const scrollWidth = read(Element.prototype, "scrollWidth"), clientWidth = read(Element.prototype, "clientWidth");
  const clientLeft = read(Element.prototype, "clientLeft"), clientTop = read(Element.prototype, "clientTop");
  const scrollHeight = read(Element.prototype, "scrollHeight");
  const find = (o, s) => (type(o) === 9 ? Document : type(o) === 11 ? DocumentFragment : Element).prototype.querySelector.call(o, s);
  const findAll = (o, s) => (type(o) === 9 ? Document : type(o) === 11 ? DocumentFragment : Element).prototype.querySelectorAll.call(o, s);
  const rootElement = read(Document.prototype, "documentElement"), bodyOf = read(Document.prototype, "body");
  const make = call(Document.prototype, "createElement"), range = call(Document.prototype, "createRange");

  const notes = [], over = new Set();
  const note = (text) => { if (!over.has(text)) { over.add(text); notes.push("facts: " + text); } };
  const attempt = (what, f, otherwise) => {
    try { return f(); } catch (error) { note(`${what} could not be measured (${String(error).slice(0, 80)})`); return otherwise; }
  };
  const full = (list, name) => {
    if (list.length < limits[name]) return false;
    note(`only the first ${limits[name]} ${name} were kept`);
    return true;
  };
  const round = (n, digits = 1) => { const f = 10 ** digits; return Number.isFinite(n) ? Math.round(n * f) / f + 0 : 0; };
  const squeeze = (text) => (text || "").replace(/\s+/g, " ").trim();
  const cut = (text) => { const t = squeeze(text); return t.length > limits.excerpt ? t.slice(0, limits.excerpt).replace(/[\ud800-\udbff]$/, "") : t; };
  const well = (text) => text.isWellFormed && !text.isWellFormed() ? text.toWellFormed() : text;

  const root = rootElement(document), body = bodyOf(document);
  const sx = scrollX, sy = scrollY, vw = root ? clientWidth(root) || innerWidth : innerWidth, vh = innerHeight;
  const started = performance.now();

  // --- colours -------------------------------------------------------------------------------------------
  const known = new Map();
  let pen = null;
  const colour = (css) => {
    if (known.has(css)) return known.get(css);
    let value = [0, 0, 0, 0];
    const m = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(css);
    if (m) value = [+m[1], +m[2], +m[3], m[4] === undefined ? 1 : +m[4]];
    else attempt("a colour", () => { // oklch(), color(srgb …): let the browser convert it
      if (!pen) { const c = make(document, "canvas"); c.width = c.height = 1; pen = c.getContext("2d", { willReadFrequently: true }); }
      pen.clearRect(0, 0, 1, 1); pen.fillStyle = "#000"; pen.fillStyle = css; pen.fillRect(0, 0, 1, 1);
      const d = pen.getImageData(0, 0, 1, 1).data;
      value = [d[0], d[1], d[2], round(d[3] / 255, 3)];
    });
    known.set(css, value);
    return value;
  };
  const blend = (top, alpha, under) => [0, 1, 2].map((i) => top[i] * alpha + under[i] * (1 - alpha));
  const stops = (css) => (css.match(/(?:rgba?|oklch|oklab|hsla?|color|lab|lch)\([^()]*\)/g) || []).map(colour);

  // --- fonts ---------------------------------------------------------------------------------------------
  const GENERIC = /^(serif|sans-serif|monospace|cursive|fantasy|system-ui|ui-[a-z-]+|math|emoji|-apple-system|blinkmacsystemfont)$/i;
  const faces = new Map(); // family -> whether one of its faces is loaded
  attempt("font faces", () => { for (const f of document.fonts) { const n = f.family.replace(/["']/g, "").toLowerCase(); faces.set(n, faces.get(n) || f.status === "loaded"); } });
  const fonts = new Map(), missing = new Set();
  let ruler = null;
  const width = (stack) => { ruler.font = `40px ${stack}`; return ruler.measureText("mmWMil10lQgj@&").width; };
  const available = (family) => {
    const name = family.toLowerCase();
    if (fonts.has(name)) return fonts.get(name);
    let there = true;
    if (faces.has(name)) there = faces.get(name);
    else attempt("a font", () => {
      if (!ruler) { ruler = make(document, "canvas").getContext("2d"); }
      const quoted = JSON.stringify(family);
      there = width(`${quoted}, monospace`) !== width("monospace") || width(`${quoted}, serif`) !== width("serif");
    });
    fonts.set(name, there);
    return there;
  };
  const stacks = new Map();
  const familyOf = (stack) => {
    if (stacks.has(stack)) return stacks.get(stack);
    const names = (stack.match(/"[^"]*"|'[^']*'|[^,]+/g) || []).map((n) => n.trim().replace(/^["']|["']$/g, ""));
    let used = "serif";
    for (const [i, name] of names.entries()) {
      if (GENERIC.test(name)) { if (!/^(-apple|blink)/i.test(name) || i === names.length - 1) { used = name.toLowerCase(); break; } continue; }
      if (available(name)) { used = name; break; }
      if (i === 0) missing.add(name);
    }
    used = used.slice(0, 60);
    stacks.set(stack, used);
    return used;
  };

  // --- names of elements ---------------------------------------------------------------------------------
  const label = (el) => {
    const id = attr(el, "id"), cls = squeeze(attr(el, "class")).split(" ")[0];
    return (tagOf(el) + (id ? "#" + id : cls ? "." + cls : "")).slice(0, 60);
  };
  const numbered = new WeakSet(), numbers = new WeakMap(); // parents whose children are numbered, and the numbers
  const nth = (el, up) => {
    if (up && !numbered.has(up)) {
      const counts = new Map();
      for (let n = first(up); n; n = next(n)) if (type(n) === 1) { const k = (counts.get(tagOf(n)) || 0) + 1; counts.set(tagOf(n), k); numbers.set(n, k); }
      numbered.add(up);
    }
    return numbers.get(el) || 1;
  };
  const selector = (el) => {
    const parts = [];
    for (let at = el, n = 0; at && type(at) === 1 && n < 200; n++) {
      const scope = rootOf(at), id = attr(at, "id"), up = parentOf(at);
      if (id && id.length < 80 && findAll(scope, "#" + CSS.escape(id)).length === 1) { parts.unshift("#" + CSS.escape(id)); at = scope; }
      else {
        const tag = tagOf(at);
        parts.unshift(up && type(up) === 9 ? tag : `${CSS.escape(tag)}:nth-of-type(${nth(at, up)})`);
        at = up;
      }
      if (at && type(at) === 11 && at.host) { parts.unshift(">>"); at = at.host; }
    }
    return parts.join(" > ").replaceAll("> >> >", ">>").slice(0, 1000);
  };
  const roles = { a: "link", button: "button", select: "combobox", textarea: "textbox", summary: "button", video: "video", audio: "audio" };
  const inputs = { button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio", range: "slider", number: "spinbutton", search: "searchbox", color: "color", file: "file", date: "date" };
  const nameOf = (el, tag) => {
    const ids = squeeze(attr(el, "aria-labelledby"));
    let name = ids && ids.split(" ").map((id) => { const e = find(rootOf(el), "#" + CSS.escape(id)); return e ? content(e) : ""; }).join(" ");
    name = squeeze(name) || squeeze(attr(el, "aria-label"));
    if (!name && /^(input|select|textarea|meter|progress)$/.test(tag)) {
      const id = attr(el, "id"), own = id && find(rootOf(el), `label[for="${CSS.escape(id)}"]`), wrap = closest(el, "label");
      name = squeeze(own ? content(own) : "") || squeeze(wrap ? content(wrap) : "");
      if (!name && tag === "input" && inputs[attr(el, "type")] === "button") name = squeeze(attr(el, "value")) || squeeze(attr(el, "alt")) || { submit: "Submit", reset: "Reset" }[attr(el, "type")] || "";
    } else if (!name) {
      name = squeeze(content(el)) || [...findAll(el, "img[alt], [aria-label], svg title")].slice(0, 5).map((e) => squeeze(attr(e, "alt") || attr(e, "aria-label") || content(e))).join(" ").trim();
    }
    name = name || squeeze(attr(el, "title"));
    const hint = name ? "" : squeeze(attr(el, "placeholder"));
    return { name: well(cut(name || hint)), labelled: Boolean(name) };
  };

  // --- what is found -------------------------------------------------------------------------------------
  const out = { texts: [], interactive: [], images: [], canvases: [], svgs: [], blocks: [], headings: [], landmarks: [], overlaps: [], overflowing: [] };
  const lines = []; // of text: rectangle and index of its text box
  const probes = []; // points to be hit-tested: page coordinates and what to do with what is there
  let shown = "", shownLength = 0, hidden = "", backgrounds = 0, visited = 0, stopped = false, late = false;
  const hide = (text) => { if (hidden.length < limits.text) hidden = (hidden + (hidden ? "\n" : "") + text).slice(0, limits.text); };
  const show = (text) => {
    shownLength += text.length;
    if (shown.length < limits.text) shown = (shown + (shown ? "\n" : "") + text).slice(0, limits.text);
  };
  const NONE = { l: 0, t: 0, r: 0, b: 0 };
  const ALL = { l: -1e9, t: -1e9, r: 1e9, b: 1e9 };
  const inside = (r, c) => Math.max(0, Math.min(r.r, c.r) - Math.max(r.l, c.l)) * Math.max(0, Math.min(r.b, c.b) - Math.max(r.t, c.t));
  const meet = (a, b) => ({ l: Math.max(a.l, b.l), t: Math.max(a.t, b.t), r: Math.min(a.r, b.r), b: Math.min(a.b, b.b) });
  const boxOf = (r) => [round(r.l), round(r.t), round(r.r - r.l), round(r.b - r.t)];
  const place = (r, c) => ({ l: r.left + c.ox, t: r.top + c.oy, r: r.right + c.ox, b: r.bottom + c.oy });
  const SKIP = new Set(["script", "style", "noscript", "template", "head", "title", "meta", "link", "datalist", "base"]);
  const INLINE = new Set(["inline", "contents", "ruby", "ruby-text"]);
  const MEDIA = new Set(["img", "canvas", "svg", "video", "audio", "iframe", "object", "embed", "input", "select", "textarea", "button", "progress", "meter"]);
  const LANDMARKS = { nav: "navigation", main: "main", header: "banner", footer: "contentinfo", aside: "complementary", search: "search" };

  const clips = (st, r, c) => { // the two clips inside an element whose overflow is not visible
    let { clip, scroll } = c;
    for (const [value, a, b] of [[st.overflowX, "l", "r"], [st.overflowY, "t", "b"]]) {
      if (value === "visible") continue;
      if (value === "hidden" || value === "clip") clip = { ...clip, [a]: Math.max(clip[a], r[a]), [b]: Math.min(clip[b], r[b]) };
      else scroll = { ...scroll, [a]: Math.max(scroll[a], r[a]), [b]: Math.min(scroll[b], r[b]) };
    }
    return { clip, scroll };
  };

  const element = (el, c) => {
    const tag = tagOf(el);
    if (SKIP.has(tag)) return null;
    if (c.dead) return c;
    const st = getComputedStyle(el);
    if (st.display === "none") return { ...c, dead: true };
    const top = el === root || el === body, position = st.position;
    const d = { ...c, el, tag, seen: st.visibility === "visible" && !(st.contentVisibility === "hidden") };
    if (attr(el, "aria-hidden") === "true") d.ariaHidden = true;
    if (st.opacity !== "1") d.opacity = c.opacity * +st.opacity;
    if (position === "fixed") { d.clip = ALL; d.scroll = ALL; d.fixed = true; }
    else if (position === "absolute") { d.clip = c.heldClip; d.scroll = c.heldScroll; }
    if (/^rect\((\d)px, \1px, \1px, \1px\)$/.test(st.clip) || /^inset\((50|100)%\)$/.test(st.clipPath)) d.clip = d.heldClip = NONE; // for screen readers only
    const shown_ = d.seen && d.opacity > 0.05;

    const fill = colour(st.backgroundColor), image = st.backgroundImage;
    const textClip = image !== "none" && (st.webkitBackgroundClip || st.backgroundClip) === "text";
    if (fill[3] > 0 && !textClip) { d.bg = blend(fill, fill[3] * d.opacity, c.bg); if (fill[3] * d.opacity > 0.95) d.behind = "colour"; }
    if (image !== "none" && !textClip) {
      const url = image.includes("url(");
      if (url && shown_) backgrounds++;
      d.behind = url ? "picture" : "gradient";
    }
    d.inkOf = textClip ? stops(image) : c.inkOf && st.webkitTextFillColor === "rgba(0, 0, 0, 0)" ? c.inkOf : null;

    const block = !INLINE.has(st.display), media = MEDIA.has(tag);
    const kind = interactive(el, tag, st, c);
    const clipping = !top && block && (st.overflowX !== "visible" || st.overflowY !== "visible");
    const heading = /^h[1-6]$/.test(tag) ? +tag[1] : attr(el, "role") === "heading" ? +attr(el, "aria-level") || 2 : 0;
    const landmark = LANDMARKS[tag] || ["navigation", "main", "banner", "contentinfo", "complementary", "search", "region"].find((r) => attr(el, "role") === r);
    if (block || media || kind || heading) {
      const client = rectOf(el), r = place(client, d);
      const visible = shown_ && r.r - r.l >= 2 && r.b - r.t >= 2 && inside(r, d.clip) >= 4;
      if (clipping) {
        Object.assign(d, clips(st, r, d));
        d.clipper = true;
      }
      if (position !== "static" || st.transform !== "none") { d.heldClip = d.clip; d.heldScroll = d.scroll; }
      if (visible && !c.svg && (block || media)) addBlock(el, tag, st, r, c, d, fill, image, position, clipping, media, textClip);
      if (tag === "img") addImage(el, r, d, visible);
      if (tag === "canvas" && visible) addCanvas(el, r);
      if (tag === "svg" && visible && !full(out.svgs, "svgs"))
        out.svgs.push({ box: boxOf(r), shapes: findAll(el, "path,rect,circle,ellipse,line,polyline,polygon,use").length, texts: findAll(el, "text").length });
      if (kind) addInteractive(el, tag, st, kind, r, client, d, visible);
      if (heading && visible && !full(out.headings, "headings")) out.headings.push({ level: heading, text: well(cut(content(el))), box: boxOf(r) });
      if (landmark && visible && !full(out.landmarks, "landmarks")) out.landmarks.push({ role: landmark, box: boxOf(r) });
    }
    d.link = c.link || (tag === "a" && attr(el, "href") !== null);
    d.operated = c.operated || Boolean(kind);
    d.pointer = st.cursor === "pointer";
    d.underline = c.underline || st.textDecorationLine.includes("underline");
    d.depth = c.depth + 1;
    d.st = st;
    return d;
  };

  const ROLES = /^(button|link|tab|checkbox|radio|switch|slider|menuitem|menuitemradio|menuitemcheckbox|option|combobox|textbox|searchbox|spinbutton|treeitem)$/;
  const interactive = (el, tag, st, c) => {
    if (tag === "a") { if (attr(el, "href") !== null) return "native"; }
    else if (tag === "input") return attr(el, "type") === "hidden" ? "" : "native";
    else if (/^(button|select|textarea|summary)$/.test(tag)) return "native";
    else if ((tag === "video" || tag === "audio") && attr(el, "controls") !== null) return "native";
    if (ROLES.test(attr(el, "role") || "")) return "role";
    if (/^(|true|plaintext-only)$/.test(attr(el, "contenteditable") ?? "no")) return "editable";
    if (attr(el, "onclick") !== null || attr(el, "onpointerdown") !== null || attr(el, "onmousedown") !== null) return "onclick";
    if ((attr(el, "tabindex") ?? "-1") >= 0 && !/^(html|body)$/.test(tag)) return "tabindex";
    if (st.cursor === "pointer" && !c.pointer && !c.operated && tag !== "label" && !/^(html|body)$/.test(tag)) return "pointer";
    return "";
  };

  const addBlock = (el, tag, st, r, c, d, fill, image, position, clipping, media, textClip) => {
    if (full(out.blocks, "blocks")) return;
    const border = ["Top", "Right", "Bottom", "Left"].filter((s) => parseFloat(st[`border${s}Width`]) > 0 && colour(st[`border${s}Color`])[3] > 0.05).length;
    const own = fill[3] > 0.02 && !textClip;
    out.blocks.push({
      box: boxOf(r), tag: tag.slice(0, 40), parent: c.block, depth: c.depth, display: st.display, positioned: position,
      painted: own || (image !== "none" && !textClip) || border >= 2 || st.boxShadow !== "none",
      background: own ? [...fill.slice(0, 3).map((v) => round(v, 0)), round(fill[3] * d.opacity, 3)] : null,
      radius: round(parseFloat(st.borderTopLeftRadius) || 0), text: 0, media: media ? 1 : 0, clips: clipping, label: well(label(el)),
    });
    d.block = out.blocks.length - 1;
    const beyond = Math.min(r.r, d.clip.r, d.scroll.r) - vw;
    if (beyond > 1 && position !== "fixed") out.overflowing.push({ label: well(label(el)), amount: round(beyond), box: boxOf(r) });
  };

  const addImage = (el, r, d, visible) => {
    if (!d.seen || full(out.images, "images")) return;
    const source = String(el.currentSrc || el.src || "").slice(0, limits.address), natural = [el.naturalWidth, el.naturalHeight];
    const broken = el.complete && natural[0] === 0 && (attr(el, "src") !== null || attr(el, "srcset") !== null);
    if (!visible && !broken) return;
    const alt = attr(el, "alt"), role = attr(el, "role");
    out.images.push({
      box: boxOf(r), source: well(source), natural_width: natural[0] || 0, natural_height: natural[1] || 0, broken, pending: !el.complete,
      alt: alt === null ? null : well(cut(alt)), placeholder: false,
      decorative: d.ariaHidden || alt === "" || role === "presentation" || role === "none",
    });
  };

  const addCanvas = (el, r) => {
    if (full(out.canvases, "canvases")) return;
    const size = [el.width, el.height];
    let blank = null, tainted = false, webgl = null;
    attempt("a canvas", () => {
      if (!size[0] || !size[1]) { blank = true; return; }
      const copy = make(document, "canvas"), n = 48;
      copy.width = copy.height = n;
      const ctx = copy.getContext("2d", { willReadFrequently: true });
      ctx.drawImage(el, 0, 0, n, n);
      let data;
      try { data = new Uint32Array(ctx.getImageData(0, 0, n, n).data.buffer); } catch { tainted = true; return; }
      blank = data.every((v) => v === data[0]);
      // Asking an untouched canvas for a context would give it one; one that was drawn on has its own.
      if (!blank) webgl = el.getContext("2d") === null;
    });
    out.canvases.push({ box: boxOf(r), width: size[0] || 0, height: size[1] || 0, webgl, blank, tainted });
  };

  const addInteractive = (el, tag, st, kind, r, client, d, visible) => {
    if (full(out.interactive, "interactive")) return;
    const type_ = tag === "input" ? (attr(el, "type") || "text").toLowerCase() : tag === "button" ? el.type : "";
    const secret = type_ === "password" || type_ === "file";
    const item = {
      index: out.interactive.length, tag: tag.slice(0, 40),
      role: (attr(el, "role") || (tag === "input" ? inputs[type_] || "textbox" : roles[tag]) || "").slice(0, 40),
      kind, ...nameOf(el, tag), type: String(type_).slice(0, 40),
      value: /^(input|select|textarea)$/.test(tag) && !secret ? well(cut(String(el.value ?? ""))) : "",
      href: well((attr(el, "href") || "").slice(0, limits.excerpt)),
      box: boxOf(r), visible: visible && st.pointerEvents !== "none",
      disabled: Boolean(/^(button|input|select|textarea)$/.test(tag) && el.matches(":disabled")) || attr(el, "aria-disabled") === "true" || Boolean(closest(el, "[inert]")),
      covered: null, covered_by: null, inline: st.display === "inline" && d.proseAround, dangling: dangles(el, tag), frames: d.frames, selector: well(selector(el)),
    };
    out.interactive.push(item);
    if (!visible) return;
    const rects = st.display === "inline" ? [...Element.prototype.getClientRects.call(el)].filter((q) => q.width > 1) : [client];
    const q = meet(place(rects[0] || client, d), meet(d.clip, d.scroll));
    if (q.r - q.l < 1 || q.b - q.t < 1) return;
    const at = (fx, fy) => [q.l + (q.r - q.l) * fx, q.t + (q.b - q.t) * fy];
    probes.push({ y: (q.t + q.b) / 2, fixed: d.fixed, run: (hit) => {
      let by = null;
      for (const [fx, fy] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75]]) {
        const found = hit(...at(fx, fy), d);
        if (found === undefined) return; // not within the viewport
        if (found && (within(found, el) || operates(found, el))) { item.covered = false; return; }
        by = by || found;
      }
      item.covered = true;
      item.covered_by = by ? well(label(by)) : null;
    } });
  };
  const dangles = (el, tag) => {
    const href = tag === "a" ? attr(el, "href") || "" : "";
    if (!/^#[\w-]/.test(href) || attr(el, "onclick") !== null || href === "#top") return false;
    let id = href.slice(1);
    try { id = decodeURIComponent(id); } catch { /* as it is written */ }
    const scope = rootOf(el), proto = type(scope) === 9 ? Document : DocumentFragment;
    return !proto.prototype.getElementById.call(scope, id) && !find(scope, `a[name="${CSS.escape(id)}"]`);
  };
  const up = (node) => parentOf(node) || node.host || null;
  const within = (node, ancestor) => { for (let n = node; n; n = up(n)) if (n === ancestor) return true; return false; };
  const operates = (found, el) => { const l = closest(found, "label"); return Boolean(l) && (within(el, l) || (attr(l, "for") && attr(l, "for") === attr(el, "id"))); };

  const addText = (el, nodes, d, ranger) => {
    let text = "";
    for (const node of nodes) text += node.data.length > 40000 ? node.data.slice(0, 40000) : node.data;
    const spoken = well(squeeze(text));
    if (!spoken) return;
    const st = d.st;
    if (d.dead || !d.seen) { hide(spoken); return; }
    if (full(out.texts, "texts")) { show(spoken); return; } // no box, but it counts as text of the page
    const rects = [];
    for (const node of nodes) {
      ranger.selectNodeContents(node);
      for (const q of ranger.getClientRects()) if (q.width > 0.5 && q.height > 0.5 && rects.length < 200) rects.push(place(q, d));
    }
    if (!rects.length) { hide(spoken); return; }
    const size = parseFloat(st.fontSize) || 0;
    const page = { l: 0, t: 0, r: 1e9, b: 1e9 };
    let area = 0, open = 0, reach = 0, there = 0, short = false;
    const kept = [];
    for (const q of rects) {
      const a = (q.r - q.l) * (q.b - q.t), o = inside(q, d.clip), s = inside(q, meet(d.clip, d.scroll)), p = inside(q, page);
      area += a; open += o; reach += s; there += p;
      if (o > 0 && o < 0.6 * a) short = true;
      if (s > 0.5 * a) kept.push(q);
    }
    let ink = colour(tagOf(el) === "text" || tagOf(el) === "tspan" ? st.fill : st.webkitTextFillColor || st.color);
    if (d.inkOf && d.inkOf.length && ink[3] < 0.05) ink = [0, 1, 2, 3].map((i) => d.inkOf.reduce((sum, c) => sum + c[i], 0) / d.inkOf.length);
    const alpha = ink[3] * d.opacity;
    const why = alpha < 0.05 ? "transparent" : size < 4 ? "tiny" : there < 0.02 * area ? "offscreen" : open < 0.02 * area ? "clipped" : reach < 0.02 * area ? "scrolled" : null;
    const box = rects.reduce((a, b) => ({ l: Math.min(a.l, b.l), t: Math.min(a.t, b.t), r: Math.max(a.r, b.r), b: Math.max(a.b, b.b) }));
    const dots = st.textOverflow === "ellipsis" && st.overflowX !== "visible" && scrollWidth(el) > clientWidth(el) + 1;
    const height = parseFloat(st.lineHeight) || size * 1.2;
    const tops = new Set(rects.map((q) => Math.round(q.t / Math.max(4, size * 0.6))));
    const item = {
      text: cut(spoken), length: spoken.length, box: boxOf(box), lines: tops.size, tag: tagOf(el).slice(0, 40), parent: d.block,
      colour: [...ink.slice(0, 3).map((v) => round(v, 0)), round(alpha, 3)],
      background: d.behind === "colour" ? d.bg.map((v) => round(v, 0)) : null, behind: d.behind,
      size: round(size), weight: parseInt(st.fontWeight) || 400, family: familyOf(st.fontFamily), line_height: round(height),
      align: st.textAlign, underline: d.underline, link: d.link, hidden: why,
      cut: why ? null : dots ? "ellipsis" : short ? "clipped" : there < 0.9 * area ? "offscreen" : null, covered: false, under_fixed: false, aria_hidden: d.ariaHidden,
    };
    const index = out.texts.push(item) - 1;
    if (why) { hide(spoken); return; }
    if (d.block >= 0) out.blocks[d.block].text += spoken.length;
    show(spoken);
    for (const q of kept.slice(0, 40)) if (lines.length < 3000) lines.push({ ...q, index, el });
    const q = kept[0];
    if (!q) return;
    probes.push({ y: (q.t + q.b) / 2, fixed: d.fixed, run: (hit) => {
      const found = hit((q.l + q.r) / 2, (q.t + q.b) / 2, d);
      if (found && !within(found, el) && !within(el, found)) {
        item.covered = opaque(found, el);
        for (let n = found; item.covered && n && !within(el, n); n = up(n)) if (type(n) === 1 && getComputedStyle(n).position === "fixed") item.under_fixed = true;
      }
    } });
  };
  const opaque = (found, el) => { // whether something between what was hit and the common ancestor hides what is below
    for (let n = found; n && !within(el, n); n = up(n)) {
      if (type(n) !== 1) continue;
      if (/^(img|canvas|video|iframe)$/.test(tagOf(n))) return true;
      const st = getComputedStyle(n);
      if (colour(st.backgroundColor)[3] * st.opacity > 0.6 || (st.backgroundImage !== "none" && +st.opacity > 0.6)) return true;
    }
    return false;
  };

  // --- the walk: document order, through open shadow roots, slots and frames of the same origin ------------
  const push = (stack, nodes, ctx) => { for (let i = nodes.length - 1; i >= 0; i--) stack.push([nodes[i], ctx]); };
  const children = (node) => { const list = []; for (let n = first(node); n && list.length < limits.nodes; n = next(n)) if (type(n) === 1) list.push(n); return list; };
  const walk = (start, context) => {
    const stack = [[start, context]], rangers = new Map();
    while (stack.length) {
      const [el, c] = stack.pop();
      late = visited % 64 === 0 && performance.now() - started > limits.milliseconds;
      if (late || ++visited > limits.nodes) { stopped = true; return; }
      const d = attempt("an element", () => element(el, c), null);
      if (!d) continue;
      const tag = tagOf(el);
      if (tag === "svg" && !d.dead) { push(stack, [...findAll(el, "text, foreignObject")].slice(0, 300), { ...d, svg: true }); continue; }
      if (tag === "iframe" && !d.dead) { attempt("a frame", () => frame(el, d, stack)); continue; }
      const shadow = d.dead ? null : shadowOf(el);
      const assigned = tag === "slot" && !d.dead ? el.assignedNodes({ flatten: true }) : [];
      const from = shadow || el, texts = [];
      let direct = 0;
      const visit = assigned.length ? assigned : null;
      for (let n = visit ? visit[0] : first(from), i = 0; n && direct < 5000; n = visit ? visit[++i] : next(n)) if (type(n) === 3) { texts.push(n); direct += n.data.trim() ? 1 : 0; }
      if (direct) {
        const doc = el.ownerDocument;
        if (!rangers.has(doc)) rangers.set(doc, range(doc));
        attempt("a text", () => addText(el, texts, d, rangers.get(doc)));
      }
      push(stack, visit ? visit.filter((n) => type(n) === 1) : children(from), { ...d, proseAround: direct > 0 });
    }
  };
  const frame = (el, d, stack) => {
    const inner = HTMLIFrameElement.prototype.__lookupGetter__("contentDocument").call(el), r = place(rectOf(el), d);
    if (!inner || !rootElement(inner)) { note("a frame of another origin was not looked into"); return; }
    const hole = meet(d.clip, r);
    stack.push([rootElement(inner), { ...d, ox: r.l + clientLeft(el), oy: r.t + clientTop(el), clip: hole, heldClip: hole, scroll: d.scroll, heldScroll: d.scroll, frames: [...d.frames, well(selector(el))], doc: inner, st: null }]);
  };

  // --- hit tests: from as many scroll positions as the page is long, then back ------------------------------
  const hitter = (dx, dy) => (x, y, d) => {
    const px = x - dx, py = y - dy;
    if (px < 0 || py < 0 || px >= innerWidth || py >= innerHeight) return undefined;
    let scope = document, ox = 0, oy = 0, found = Document.prototype.elementFromPoint.call(document, px, py);
    for (let n = 0; found && n < 20; n++) {
      let deeper = null;
      if (shadowOf(found)) deeper = shadowOf(found).elementFromPoint(px - ox, py - oy);
      else if (tagOf(found) === "iframe" && d.frames.length) {
        scope = HTMLIFrameElement.prototype.__lookupGetter__("contentDocument").call(found);
        const r = rectOf(found);
        ox += r.left + clientLeft(found); oy += r.top + clientTop(found);
        deeper = scope ? Document.prototype.elementFromPoint.call(scope, px - ox, py - oy) : null;
      }
      if (!deeper || deeper === found) break;
      found = deeper;
    }
    return found;
  };
  const hitTests = () => {
    const limit = performance.now() + limits.milliseconds;
    const here = probes.filter((p) => p.fixed || (p.y >= sy && p.y < sy + vh)), rest = probes.filter((p) => !here.includes(p)).sort((a, b) => a.y - b.y);
    for (const p of here) p.run(hitter(sx, sy));
    for (let i = 0, n = 0; i < rest.length && n < limits.scrolls; n++) {
      if (performance.now() > limit) { late = true; break; }
      scrollTo({ left: 0, top: rest[i].y - vh * 0.3, behavior: "instant" });
      const from = scrollY, hit = hitter(scrollX, from), last = Math.max(rest[i].y, from + vh * 0.7);
      for (; i < rest.length && rest[i].y <= last; i++) attempt("a hit test", () => rest[i].run(hit));
    }
    if (scrollX !== sx || scrollY !== sy) scrollTo({ left: sx, top: sy, behavior: "instant" });
  };

  // --- texts drawn over texts --------------------------------------------------------------------------------
  const overlapping = () => {
    const sorted = lines.filter((q) => !out.texts[q.index].covered).sort((a, b) => a.t - b.t), pairs = new Map();
    let live = [];
    for (const b of sorted) {
      live = live.filter((a) => a.b > b.t + 1);
      for (const a of live) {
        if (a.index === b.index) continue;
        const w = Math.min(a.r, b.r) - Math.max(a.l, b.l), h = Math.min(a.b, b.b) - Math.max(a.t, b.t);
        if (w < 4 || h < 0.2 * Math.min(a.b - a.t, b.b - b.t)) continue;
        const key = Math.min(a.index, b.index) + " " + Math.max(a.index, b.index);
        const was = pairs.get(key) || { area: 0, small: 0 };
        pairs.set(key, { area: was.area + w * h, small: Math.max(was.small, Math.min((a.r - a.l) * (a.b - a.t), (b.r - b.l) * (b.b - b.t))) });
      }
      live.push(b);
      if (live.length > 400) live = live.slice(-400);
    }
    const found = [...pairs].map(([key, p]) => ({ first: +key.split(" ")[0], second: +key.split(" ")[1], share: round(Math.min(1, p.area / p.small), 3), area: round(p.area, 0) }));
    found.sort((a, b) => b.area - a.area || a.first - b.first || a.second - b.second);
    if (found.length > limits.overlaps) note(`only the ${limits.overlaps} largest overlaps were kept`);
    out.overlaps = found.slice(0, limits.overlaps);
  };

  // --- the page as a whole -----------------------------------------------------------------------------------
  const page = { width: 0, height: 0, viewport: [innerWidth, innerHeight], elements: 0, title: "", lang: "", quirks: false, meta_viewport: false, overflow: 0, styles: 0 };
  attempt("the page", () => {
    page.elements = Document.prototype.getElementsByTagName.call(document, "*").length;
    page.quirks = read(Document.prototype, "compatMode")(document) !== "CSS1Compat";
    const title = find(document, "head > title, title");
    page.title = title ? well(cut(content(title))) : "";
    page.lang = root ? (attr(root, "lang") || "").slice(0, 40) : "";
    page.meta_viewport = Boolean(find(document, "meta[name=viewport i]"));
    for (const sheet of document.styleSheets) { let n = 20; try { n = sheet.cssRules.length; } catch { /* of another origin */ } page.styles += n; }
    page.styles += findAll(document, "[style]").length;
  });
  if (root) {
    const bodyStyle = body ? getComputedStyle(body) : null, rootStyle = getComputedStyle(root);
    const stuck = (axis) => [rootStyle, bodyStyle].some((s) => s && /hidden|clip/.test(s["overflow" + axis]));
    page.width = Math.max(scrollWidth(root), vw);
    page.height = Math.max(scrollHeight(root), body && page.quirks ? scrollHeight(body) : 0);
    page.overflow = stuck("X") ? 0 : Math.max(0, scrollWidth(root) - vw);
    const clip = { ...ALL, ...(stuck("X") ? { l: 0, r: vw } : {}), ...(stuck("Y") ? { t: 0, b: Math.max(vh, clientHeightOf(root)) } : {}) };
    const dark = /^(only )?dark/.test(rootStyle.colorScheme);
    const context = {
      ox: sx, oy: sy, clip, heldClip: clip, scroll: ALL, heldScroll: ALL, opacity: 1, bg: dark ? [18, 18, 18] : [255, 255, 255], behind: "colour",
      block: -1, depth: 0, frames: [], ariaHidden: false, link: false, operated: false, pointer: false, underline: false, fixed: false, dead: false, svg: false, inkOf: null, proseAround: false,
    };
    attempt("the document", () => walk(root, context));
    if (stopped) note(`the walk stopped after ${visited} nodes`);
    attempt("what covers what", hitTests);
    attempt("overlaps", overlapping);
    for (let i = out.blocks.length - 1; i >= 0; i--) { const b = out.blocks[i]; if (b.parent >= 0) { out.blocks[b.parent].text += b.text; out.blocks[b.parent].media += b.media; } }
    out.overflowing.sort((a, b) => b.amount - a.amount);
    out.overflowing = page.overflow > 0 ? out.overflowing.slice(0, limits.overflowing) : [];
  }
  function clientHeightOf(el) { return Element.prototype.__lookupGetter__("clientHeight").call(el); }
  return JSON.stringify({ ...page, ...out, complete: !late, text: well(shown), text_length: shownLength, hidden_text: well(hidden), background_images: backgrounds, fonts_missing: [...missing].slice(0, 20).map(well), notes: notes.slice(0, 30) });
}
