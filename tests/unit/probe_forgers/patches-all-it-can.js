// Every method and getter that a script could use marks the page when it is called.
const mark = () => { const p = document.getElementById('p'); if (p) p.textContent += '!'; };
const poison = (owner, name) => { try {
  const was = Object.getOwnPropertyDescriptor(owner, name);
  if (!was || !was.configurable) return;
  if (typeof was.value === 'function') {
    const f = was.value;
    owner[name] = function (...a) { mark(); return Reflect.apply(f, this, a); };
  } else if (was.get) Object.defineProperty(owner, name, { ...was, get() { mark(); return Reflect.apply(was.get, this, []); } });
} catch {} };
const { apply } = Reflect;
for (const owner of [CustomEvent.prototype, MouseEvent.prototype, JSON, Promise, Promise.prototype, Map.prototype, Set.prototype,
  WeakMap.prototype, WeakSet.prototype, Function.prototype, String.prototype, Object]) {
  for (const name of Object.getOwnPropertyNames(owner)) if (!/^(constructor|apply|call|bind|toString|defineProperty)$/.test(name)) poison(owner, name);
}
for (const name of ['dispatchEvent', 'removeEventListener']) poison(EventTarget.prototype, name);
for (const name of ['map', 'filter', 'push', 'slice', 'join', 'includes', 'sort']) poison(Array.prototype, name);
for (const name of ['tagName', 'children', 'getAttribute', 'getBoundingClientRect', 'attributes', 'checkVisibility'])
  poison(Element.prototype, name);
for (const name of ['textContent', 'childNodes', 'parentNode', 'getRootNode', 'appendChild', 'removeChild']) poison(Node.prototype, name);
for (const name of ['now', 'parse']) poison(Date, name);
Object.defineProperty(Object.prototype, 'detail', { get() { mark(); return 'log dialog x'; }, set() {}, configurable: true });
Object.defineProperty(Object.prototype, 'relatedTarget', { get() { mark(); return document.body; }, set() {}, configurable: true });
window.CustomEvent = window.MouseEvent = window.Event = class { constructor() { mark(); } };
window.Promise = class { then() { mark(); } };
window.getComputedStyle = () => { mark(); return {}; };
