// Places, times and observers tell whatever the page likes.
let lied = 0;
Element.prototype.getBoundingClientRect = Range.prototype.getBoundingClientRect = () => ({ x: ++lied, y: NaN, width: -1, height: Infinity, top: 0, left: 0, right: 0, bottom: 0 });
Element.prototype.getClientRects = () => [];
Element.prototype.checkVisibility = () => false;
Document.prototype.elementFromPoint = () => document.documentElement;
Document.prototype.getAnimations = () => [{ effect: null, finish() { throw 1; } }];
window.getComputedStyle = () => new Proxy({}, { get: () => String(++lied) });
window.MutationObserver = class {
  constructor(tell) { tell([{ type: 'childList', addedNodes: [document], target: document }]); }
  observe() {} disconnect() {} takeRecords() { return []; }
};
performance.now = Date.now = () => Math.random() * 1e18;
window.requestAnimationFrame = (fn) => { fn(NaN); return {}; };
window.cancelAnimationFrame = window.clearTimeout = () => { throw new Error('no'); };
JSON.stringify = () => '{"changes":[{"kind":"text","key":"","place":"other","area":900,"tag":"p","control":false,"after":"x","sample":"x"}]}';
Array.prototype.push = function () { return this.length; };
Array.prototype[Symbol.iterator] = function* () { yield 'text'; };
Array.prototype.toJSON = () => 'x';
Object.defineProperty(Object.prototype, 'kind', { get: () => 'text', set() {}, configurable: true });
for (const name of ['innerWidth', 'innerHeight']) Object.defineProperty(window, name, { get: () => 1 });
Object.defineProperty(document, 'body', { get: () => null });
const text = Object.getOwnPropertyDescriptor(Node.prototype, 'textContent');
Object.defineProperty(Node.prototype, 'textContent', { get: () => String(++lied), set: text.set, configurable: true });
