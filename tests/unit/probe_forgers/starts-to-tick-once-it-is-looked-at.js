// The same, a while after the page was looked at.
document.addEventListener('DOMContentLoaded', () => {
  const frame = document.createElement('iframe');
  frame.sandbox = 'allow-scripts';
  frame.srcdoc = '<script>setTimeout(() => setInterval(() => parent.postMessage(0, "*"), 30), 700)<\/script>';
  document.body.append(frame);
  window.onmessage = () => { p.textContent += '.'; };
});
