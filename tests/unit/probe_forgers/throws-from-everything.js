// Nothing of the document can be read by a script any more.
const boom = () => { throw new Error('boom'); };
for (const name of ['setTimeout', 'setInterval', 'requestAnimationFrame', 'fetch', 'alert']) window[name] = boom;
for (const owner of [Element.prototype, Node.prototype]) for (const name of Object.getOwnPropertyNames(owner)) {
  try { Object.defineProperty(owner, name, { get: boom, configurable: true }); } catch {}
}
EventTarget.prototype.dispatchEvent = EventTarget.prototype.addEventListener = boom;
JSON.stringify = Reflect.apply = Array.prototype[Symbol.iterator] = boom;
