// A worker's clock is not ours.
const ticker = new Worker(URL.createObjectURL(new Blob(['setInterval(() => postMessage(0), 30)'])));
ticker.onmessage = () => { document.getElementById('p').textContent += '.'; };
