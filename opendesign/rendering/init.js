// Runs first in every frame, in the page's own world. `settings`: {report, frozen, start, seed, accept}.
// A page may ask, print and shout for ever: nothing here opens a dialog, so nothing waits for one.
(settings) => {
  "use strict";
  const send = globalThis[settings.report];
  delete globalThis[settings.report];
  let left = 20;
  const report = (kind, message) => {
    if (send && left-- > 0) {
      let text = "";
      try { text = String(message === undefined ? "" : message).slice(0, 500); } catch { /* a hostile toString */ }
      send(JSON.stringify({ kind, message: text }));
    }
  };
  const put = (target, name, value) => {
    try { Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: true }); }
    catch { /* already fixed by the browser */ }
  };

  put(globalThis, "alert", function alert(message) { report("alert", message); });
  put(globalThis, "confirm", function confirm(message) { report("confirm", message); return settings.accept; });
  put(globalThis, "prompt", function prompt(message, value) {
    report("prompt", message);
    return settings.accept && value !== undefined ? String(value) : null;
  });
  put(globalThis, "print", function print() { report("print"); });
  // As a popup blocker does it.
  put(globalThis, "open", function open(url) { report("popup", url); return null; });

  // A page that logs without end would drown the driver, and with it every other page: so many lines, and of
  // each a few short values; an object says what it is.
  let lines = 200;
  const slice = Function.prototype.call.bind(String.prototype.slice);
  const kind = Function.prototype.call.bind(Object.prototype.toString);
  const short = (value) => {
    if (typeof value === "string") return slice(value, 0, 300);
    if (value === null || (typeof value !== "object" && typeof value !== "function")) {
      return typeof value === "number" || typeof value === "boolean" ? value : typeof value;
    }
    return kind(value);
  };
  for (const name of ["log", "info", "debug", "warn", "error", "trace", "dir", "table", "assert"]) {
    const original = console[name].bind(console);
    console[name] = function (...values) {
      if (lines-- <= 0) return;
      const told = [];
      for (let i = 0; i < values.length && i < 5; i++) told[i] = short(values[i]);
      original(...told);
    };
  }

  let state = settings.seed >>> 0;
  Math.random = function random() {
    // mulberry32: small, fast, and the same everywhere
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };

  const RealDate = Date;
  const elapsed = performance.now.bind(performance);
  const now = () => settings.start + Math.floor(elapsed());
  // What a page measures with (Date.now, performance.now) flows; what it shows ("new Date()") stands for ten
  // seconds at a time in a static picture, so that two pictures of a clock are equal.
  const shown = () => (settings.frozen ? settings.start + Math.floor(elapsed() / 10000) * 10000 : now());
  function FixedDate(...values) {
    if (!new.target) return new RealDate(shown()).toString();
    const made = values.length ? values : [shown()];
    return Reflect.construct(RealDate, made, new.target === FixedDate ? RealDate : new.target);
  }
  Object.defineProperty(FixedDate, "name", { value: "Date" });
  Object.defineProperty(FixedDate, "length", { value: 7 });
  FixedDate.prototype = RealDate.prototype;
  FixedDate.UTC = RealDate.UTC;
  FixedDate.parse = RealDate.parse;
  FixedDate.now = function () { return now(); };
  Object.defineProperty(RealDate.prototype, "constructor", { value: FixedDate, writable: true, configurable: true });
  put(globalThis, "Date", FixedDate);
}
