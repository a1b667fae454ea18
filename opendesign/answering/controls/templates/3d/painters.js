/* Draws faces with WebGL. Gives null where the browser has no context. */
function webglPainter(canvas) {
  const gl = canvas.getContext("webgl", { antialias: true, preserveDrawingBuffer: true });
  if (!gl) return null;
  const program = gl.createProgram();
  const sources = [
    [gl.VERTEX_SHADER, "attribute vec3 corner; attribute vec3 paint; varying vec3 shade; void main() { shade = paint; gl_Position = vec4(corner, 1.0); }"],
    [gl.FRAGMENT_SHADER, "precision mediump float; varying vec3 shade; void main() { gl_FragColor = vec4(shade, 1.0); }"],
  ];
  for (const [kind, source] of sources) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
  gl.useProgram(program);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  for (const [name, at] of [["corner", 0], ["paint", 12]]) {
    const place = gl.getAttribLocation(program, name);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 24, at);
  }
  gl.enable(gl.DEPTH_TEST);
  const ground = channels(colourOf("--soft"));
  gl.clearColor(...ground, 1);
  return (faces) => {
    const numbers = [];
    for (const { corners, colour } of faces) {
      for (let at = 1; at + 1 < corners.length; at += 1) {
        for (const [x, y, away] of [corners[0], corners[at], corners[at + 1]]) {
          numbers.push(x, y, 1 - 1 / away, ...colour);
        }
      }
    }
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.DYNAMIC_DRAW);
    gl.drawArrays(gl.TRIANGLES, 0, numbers.length / 6);
  };
}

/* The same on a flat canvas: far faces first. */
function flatPainter(canvas) {
  const pen = canvas.getContext("2d");
  const x = (value) => ((value + 1) / 2) * canvas.width;
  const y = (value) => ((1 - value) / 2) * canvas.height;
  return (faces) => {
    pen.fillStyle = colourOf("--soft");
    pen.fillRect(0, 0, canvas.width, canvas.height);
    for (const { corners, colour } of [...faces].sort((a, b) => b.depth - a.depth)) {
      pen.beginPath();
      for (const corner of corners) pen.lineTo(x(corner[0]), y(corner[1]));
      pen.closePath();
      pen.fillStyle = pen.strokeStyle = `rgb(${colour.map((value) => Math.round(255 * value)).join(" ")})`;
      pen.fill();
      pen.stroke();
    }
  };
}
