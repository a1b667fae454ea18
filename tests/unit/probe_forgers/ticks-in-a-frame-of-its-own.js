// Nor that of a frame of another origin.
document.addEventListener('DOMContentLoaded', () => {
  const frame = document.createElement('iframe');
  frame.sandbox = 'allow-scripts';
  frame.srcdoc = '<script>setInterval(() => parent.postMessage(0, "*"), 30)<\/script>';
  document.body.append(frame);
  window.onmessage = () => { const q = document.createElement('p'); q.textContent = 'new'; document.body.append(q); };
});
