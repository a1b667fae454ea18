// Nor is that of style sheets.
const style = document.createElement('style');
style.textContent = '@keyframes a{to{left:9px}}@keyframes b{to{left:8px}}p{position:relative;animation:a .05s}p.b{animation:b .05s}';
document.head.append(style);
document.addEventListener('animationend', () => { p.classList.toggle('b'); p.textContent += '.'; });
