// Objects under the names that ours have, where the page could reach them.
window.__probe = { call: () => '{"changes":[{"kind":"text"}],"motion":{}}', finish() { return 1; }, snapshot() { return {}; } };
window.__dom = {}; Object.freeze(window.__probe);
Object.defineProperty(window, '__probe', { value: window.__probe, writable: false, configurable: false });
