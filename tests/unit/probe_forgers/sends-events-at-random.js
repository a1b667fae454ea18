// Synthetic events of every name, on everything.
const names = ['say', 'node', 'now', 'run', 'accept', 'blind', 'finish', 'change', 'input', 'click', 'mutation'];
const storm = (target) => { for (const name of names) for (const detail of ['log dialog x', 'timer 1 1 1', 7, null]) {
  target.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  target.dispatchEvent(new MouseEvent(name, { relatedTarget: document.documentElement, bubbles: true }));
} };
setInterval(() => { storm(window); storm(document); storm(document.documentElement); }, 40);
for (const target of [window, document]) storm(target);
document.addEventListener('DOMContentLoaded', () => { for (const el of document.querySelectorAll('*')) storm(el); });
