// The last look before the picture, when the page's own scripts have been stopped. Same world as capture.js.
// Returns the page's height in CSS pixels.
(freeze) => {
  if (freeze && globalThis.__rest) __rest();
  const focused = document.activeElement;
  if (focused && focused !== document.body && (focused.isContentEditable || "selectionStart" in focused)) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("* { caret-color: transparent !important }");
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  }
  const root = document.scrollingElement || document.documentElement;
  return Math.max(root ? root.scrollHeight : 0, innerHeight);
}
