// Draws nodes and links with WebGL2. Shaders read both from textures by the number of the vertex:
// where WebGL runs in software, instances would be several times slower.

const ACROSS = 2048; // texels in a row of every texture

const FETCH = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp usampler2D;
uniform sampler2D places, before, after; // x, y, shape; colours and presence
uniform vec4 camera; // scale and shift to clip space
uniform float mixed; // 0: as before, 1: as after
ivec2 texel(int i) { return ivec2(i % ${ACROSS}, i / ${ACROSS}); }
vec4 paintAt(int i) { return mix(texelFetch(before, texel(i), 0), texelFetch(after, texel(i), 0), mixed); }
`;

const NODE = `${FETCH}
uniform float size, ratio;
out vec3 colour;
out float presence, pixels;
flat out int shape;
void main() {
  vec4 place = texelFetch(places, texel(gl_VertexID), 0);
  vec4 paint = paintAt(gl_VertexID);
  shape = int(place.z);
  colour = paint.rgb;
  presence = clamp((paint.a - .12) / .88, 0., 1.); // hidden ones are not drawn, see HIDDEN
  pixels = size * (shape == 0 ? 1. : 1.3) + 2.;
  gl_PointSize = pixels;
  gl_Position = presence > 0. ? vec4(place.xy * camera.xy + camera.zw, 0, 1) : vec4(2, 2, 2, 1);
}`;

const MARKER = `#version 300 es
precision highp float;
in vec3 colour;
in float presence, pixels;
flat in int shape;
uniform vec3 rim;
uniform float rimWidth;
out vec4 result;
// How far outside of the shape a point is, in pixels: circle, cross, diamond.
float outside(vec2 p, float r) {
  vec2 a = abs(p);
  if (shape == 0) return length(p) - r;
  if (shape == 2) return (a.x + a.y - r) * .7071;
  vec2 turned = abs(vec2(a.x + a.y, a.x - a.y)) * .7071;
  float arm = max(.3 * r, .9);
  return min(max(turned.x - r, turned.y - arm), max(turned.y - r, turned.x - arm));
}
void main() {
  float far = outside((gl_PointCoord - .5) * pixels, .5 * pixels - 1.);
  float cover = clamp(.5 - far, 0., 1.) * .95 * presence;
  if (cover <= 0.) discard;
  // A rim as strong as a circle's would leave nothing of the thin arms of a cross.
  float strength = shape == 1 ? .3 : .85;
  float edge = clamp(.5 + far + rimWidth, 0., 1.) * strength;
  result = vec4(mix(colour, rim, edge) * cover, cover);
}`;

const LINK = `${FETCH}
uniform usampler2D links;
uniform vec2 halfSize; // of the canvas, in pixels
uniform float width, alpha, crossing, fade, tint;
uniform vec3 ink;
out vec4 colour;
out float side;
void main() {
  // Two triangles: start left, start right, end left; end left, start right, end right.
  int corner = int[6](0, 1, 2, 2, 1, 3)[gl_VertexID % 6];
  uvec2 ends = texelFetch(links, texel(gl_VertexID / 6), 0).xy;
  int i = int(ends.x), j = int(ends.y), own = corner < 2 ? i : j;
  vec2 a = (texelFetch(places, texel(i), 0).xy * camera.xy + camera.zw) * halfSize;
  vec2 b = (texelFetch(places, texel(j), 0).xy * camera.xy + camera.zw) * halfSize;
  vec4 here = paintAt(own), there = paintAt(own == i ? j : i);
  float length_ = max(distance(a, b), .001), reach = .5 * width + .5;
  vec2 across = vec2(a.y - b.y, b.x - a.x) / length_;
  side = (corner % 2 == 0 ? -1. : 1.) * reach;
  float presence = min(here.a, there.a);
  bool seen = all(lessThan(abs(a), halfSize)) || all(lessThan(abs(b), halfSize)); // in sight
  float strength = alpha * (seen ? 1. : crossing) * pow(min(1., fade / length_), .6);
  colour = vec4(mix(ink, here.rgb, tint), presence * strength);
  gl_Position = vec4(((corner < 2 ? a : b) + across * side) / halfSize, 0, 1);
  if (presence <= .004) gl_Position = vec4(2, 2, 2, 1);
}`;

const LINE = `#version 300 es
precision highp float;
in vec4 colour;
in float side;
uniform float width;
out vec4 result;
void main() {
  float cover = clamp(.5 * width + .5 - abs(side), 0., 1.) * min(1., width) * colour.a;
  result = vec4(colour.rgb * cover, cover);
}`;

/**
 * A painter that draws with WebGL2; null where the browser has none.
 * @param {HTMLCanvasElement} canvas
 * @param {import("./types.js").Scene} scene
 * @param {Uint8Array} shapes
 * @returns {import("./types.js").Painter | null}
 */
export function createWebglPainter(canvas, scene, shapes) {
  const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
  if (!gl) return null;
  const nodes = program(gl, NODE, MARKER);
  const lines = program(gl, LINK, LINE);
  if (!nodes || !lines) return null;
  const textures = [];
  const texture = (unit, count, inner, format, type, room) => {
    const high = Math.max(1, Math.ceil(count / ACROSS));
    textures.push(gl.createTexture());
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, textures.at(-1));
    for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) {
      gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
    }
    const values = new room(ACROSS * high * (format === gl.RG_INTEGER ? 2 : 4));
    return (given) => {
      values.set(given);
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.texImage2D(gl.TEXTURE_2D, 0, inner, ACROSS, high, 0, format, type, values);
    };
  };
  const { n, m } = scene;
  const setPlaces = texture(0, n, gl.RGBA32F, gl.RGBA, gl.FLOAT, Float32Array);
  const setBefore = texture(1, n, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, Uint8Array);
  const setAfter = texture(2, n, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, Uint8Array);
  const setLinks = texture(3, m, gl.RG32UI, gl.RG_INTEGER, gl.UNSIGNED_INT, Uint32Array);
  setLinks(scene.links);
  const reshape = (given) => {
    shapes = given;
    const packed = new Float32Array(4 * n);
    for (let i = 0; i < n; i++) {
      packed[4 * i] = scene.places[2 * i];
      packed[4 * i + 1] = scene.places[2 * i + 1];
      packed[4 * i + 2] = given[i];
    }
    setPlaces(packed);
  };
  reshape(shapes);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const share = (colour) => colour.map((value) => value / 255);

  return {
    kind: "webgl2",
    reshape,
    move(moved) {
      scene = moved;
      reshape(shapes);
    },
    recolour(old, paint) {
      setBefore(old);
      setAfter(paint);
    },
    draw(look, mixed = 1) {
      const { width, height, scale, x, y, ratio } = look;
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      const [across, up] = [(2 * scale) / width, (2 * scale) / height];
      const common = (at) => {
        gl.uniform4f(at.camera, across, up, -x * across, -y * up);
        gl.uniform1f(at.mixed, mixed);
        for (const [unit, name] of ["places", "before", "after", "links"].entries()) {
          if (at[name]) gl.uniform1i(at[name], unit);
        }
      };
      gl.useProgram(lines.program);
      common(lines);
      gl.uniform2f(lines.halfSize, canvas.width / 2, canvas.height / 2);
      gl.uniform1f(lines.width, look.linkWidth * ratio);
      gl.uniform1f(lines.alpha, look.linkAlpha);
      gl.uniform1f(lines.crossing, look.crossing);
      gl.uniform1f(lines.fade, look.linkFade * ratio);
      gl.uniform1f(lines.tint, look.linkTint);
      gl.uniform3fv(lines.ink, share(look.ink));
      gl.drawArrays(gl.TRIANGLES, 0, 6 * m);
      gl.useProgram(nodes.program);
      common(nodes);
      gl.uniform1f(nodes.size, look.size * ratio);
      gl.uniform3fv(nodes.rim, share(look.rim));
      gl.uniform1f(nodes.rimWidth, look.rimWidth * ratio);
      gl.drawArrays(gl.POINTS, 0, n);
    },
    // Waits until the frame is on the screen, so that it can be timed.
    finish: () => gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)),
    // Browsers allow few contexts, so an unused one is released at once.
    dispose() {
      for (const each of textures) gl.deleteTexture(each);
      gl.getExtension("WEBGL_lose_context")?.loseContext();
    },
  };
}

// A compiled program with the locations of its uniforms by name; null if it does not compile.
function program(gl, vertex, fragment) {
  const made = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) {
    const logs = gl.getAttachedShaders(made).map((shader) => gl.getShaderInfoLog(shader));
    console.warn("The map cannot be drawn by WebGL2:", gl.getProgramInfoLog(made), ...logs);
    return null;
  }
  const found = { program: made };
  for (let k = 0; k < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); k++) {
    const { name } = gl.getActiveUniform(made, k);
    found[name] = gl.getUniformLocation(made, name);
  }
  return found;
}
