// A graph as a map: a canvas with all nodes and links, and above it an overlay with names, the
// highlighted node and the picked one.

import { element } from "../shared/elements.js";
import {
  cameraPosition,
  cameras,
  keepPositionInUrl,
  readAddress,
  writeAddress,
} from "./address.js";
import { createPainter, rgb } from "./canvas.js";
import { describe, labelStage, positionTip, showTip } from "./description.js";
import { createStatus, gestures, nameButton } from "./gestures.js";
import { createLegend } from "./legend.js";
import {
  drawFocus,
  drawGroup,
  drawHighlighted,
  drawLabels,
  drawLasso,
  drawNames,
  drawingStyle,
  paletteKey,
  ring,
  showReasons,
} from "./overlay.js";
import { GONE, paintNodes, updatePresence } from "./paint.js";
import {
  canvasRatio,
  createScene,
  fillWindow,
  nearest,
  nodesInLasso,
  stretchFor,
  stretchedScene,
  wholeView,
  windowToRequest,
} from "./scene.js";

const REACH = 10; // pixels beside a node that still count as on it
const DIMMED = 0.3; // opacity of the map below a highlighted node
const FADE = 300; // ms from one colouring to the next
const SLOW_FRAME = 40; // ms: slower frames are not redrawn during a drag
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const peers = (globalThis.bupMapPeers ??= new Set());

const differ = (one, other) => JSON.stringify(one ?? null) !== JSON.stringify(other ?? null);

/**
 * @param {any} host the element that the map fills
 */
export function createMap(host) {
  host.replaceChildren();
  const stage = element(host, "div", "stage");
  const above = element(stage, "canvas", "above");
  const tip = element(stage, "div", "tip");
  const speaks = element(stage, "p", "speaks");
  const tools = element(stage, "div", "tools");
  const alternative = element(host, "p", "alternative");
  const strip = element(host, "div", "strip");
  labelStage(stage, alternative);

  const map = /** @type {import("./types.js").MapState} */ ({ hovered: -1, pinned: -1, lasso: null });
  Object.assign(map, { lassoing: false, folded: false, group: [], losses: 0, tools: { left: 0, low: 0 } });
  const bar = createLegend(strip, (range, done) => {
    recolour(0);
    if (done) map.send?.("range", { of: map.data.colour, range });
  });
  let camera = { x: 0, y: 0, scale: 1 };
  let drawn = { ...camera };
  let [width, height, ratio, fitted] = [0, 0, 1, 1];
  /** @type {import("./types.js").Painter | null} */
  let painter = null;
  /** @type {any} the canvas of the painter */
  let base = null;
  /** @type {any} red, green, blue and presence of every node */
  let paint = null;
  /** @type {any} */
  let presence = null;
  let [frameRequest, restTimer, windowTimer, slow, mixed, fadeRequest] = [0, 0, 0, false, 1, 0];

  const visible = (i) => presence[i] === 255;
  const highlighted = () => (map.hovered >= 0 ? map.hovered : map.pinned);
  const toScreen = (x, y) => [
    (x - camera.x) * camera.scale + width / 2,
    height / 2 - (y - camera.y) * camera.scale,
  ];
  const screen = (i) => toScreen(map.scene.places[2 * i], map.scene.places[2 * i + 1]);
  /** @returns {[number, number]} */
  const toPlace = (u, v) => [
    (u - width / 2) / camera.scale + camera.x,
    (height / 2 - v) / camera.scale + camera.y,
  ];
  const find = (u, v, reach = REACH) => {
    const pixels = Math.max(reach, look().size / 2 + 3);
    return nearest(map.scene, ...toPlace(u, v), pixels / camera.scale, visible);
  };

  const look = () => drawingStyle(map, camera, { width, height, ratio, fitted });

  function draw() {
    cancelAnimationFrame(frameRequest);
    frameRequest = 0;
    if (!painter || !width || !paint) return;
    base.style.transform = "";
    stage.dataset.near = String(camera.scale > 1.02 * fitted); // map.css and touch depend on it
    painter.draw(look(), mixed);
    drawn = { ...camera };
    drawAbove();
  }

  // Waits until the frame is drawn, to measure how long a frame takes on this machine.
  function drawTimed() {
    const start = performance.now();
    draw();
    painter?.finish();
    slow = performance.now() - start > SLOW_FRAME;
    host.dataset.frame = (performance.now() - start).toFixed(1);
  }

  // Where frames are slow (no graphics card), moves the last frame; it is redrawn when the map rests.
  function moveLastFrame() {
    frameRequest = 0;
    const [dx, dy] = [drawn.x - camera.x, camera.y - drawn.y].map((d) => d * camera.scale);
    base.style.transform = `translate(${dx}px, ${dy}px) scale(${camera.scale / drawn.scale})`;
    drawAbove();
  }

  function requestFrame() {
    map.touched = true;
    remember();
    forEachPeer((peer) => peer.follow(camera.x, camera.y / map.scene.stretch, camera.scale / fitted));
    clearTimeout(windowTimer);
    windowTimer = setTimeout(requestWindow, 350);
    clearTimeout(restTimer);
    if (slow) restTimer = setTimeout(drawTimed, 160);
    if (!frameRequest) frameRequest = requestAnimationFrame(slow ? moveLastFrame : draw);
  }

  function requestWindow() {
    const [left, top] = toPlace(0, 0);
    const [right, bottom] = toPlace(width, height);
    const part = windowToRequest(map.scene, { left, bottom, right, top });
    if (part) map.send("window", part);
  }

  function remember() {
    cameras.set(map.place, { ...camera, fitted, stretch: map.scene.stretch });
    position.note();
  }

  const position = keepPositionInUrl({
    at: () => map.data.address && width && [cameraPosition(map.scene, camera, home())],
    comeBack: () => map.scene && width && (frame(), draw(), requestWindow()),
  });

  function drawAbove() {
    const ink = /** @type {CanvasRenderingContext2D} */ (above.getContext("2d"));
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.clearRect(0, 0, width, height);
    if (!map.scene || !paint) return;
    const colour = (i) => rgb(paint.subarray(4 * i, 4 * i + 3));
    const { size } = look();
    const { node: picked, text, paper, accent } = map.data;
    const names = drawNames(ink, map, toScreen, [width, height], highlighted() < 0 ? 1 : 0.3);
    if (map.group.length) drawGroup(ink, map.group, { screen, visible, size }, accent);
    if (highlighted() >= 0) drawHighlighted(ink, map, highlighted(), { screen, visible, colour, size });
    if (picked >= 0 && picked < map.scene.n && presence[picked] !== GONE) {
      ring(ink, ...screen(picked), Math.max(9, size) / 2 + 6, 3, [text, paper]);
    }
    if (map.data.focus && map.scene.thinned) {
      const [place, ...near] = map.data.focus.map(([x, y]) => toScreen(x, y * map.scene.stretch));
      drawFocus(ink, place, near, { size, text, paper, links: map.pinned >= 0 || picked < 0 });
    }
    drawLabels(ink, map, highlighted(), { screen, visible, size, width, height }, highlighted() < 0 ? names : []);
    if (map.lasso && map.lasso.length > 1) drawLasso(ink, map.lasso, accent);
  }

  // Does not redraw the map: the overlay shows the highlighted node, and the canvas below is dimmed.
  function highlight() {
    drawHighlight();
    forEachPeer((peer) => peer.highlight(map.hovered));
  }

  function drawHighlight() {
    if (base) base.style.opacity = highlighted() < 0 ? 1 : DIMMED;
    host.dataset.lit = highlighted();
    drawAbove();
  }

  function forEachPeer(act) {
    for (const peer of peers) if (peer !== self && peer.isBeside(map)) act(peer);
  }

  function hover(node, u, v) {
    if (node !== map.hovered) {
      map.hovered = node;
      if (node >= 0) showTip(tip, map, node);
      highlight();
    }
    tip.hidden = node < 0;
    stage.style.cursor = map.lassoing ? "crosshair" : node < 0 ? "grab" : "pointer";
    if (node < 0) return;
    positionTip(tip, u, v, width, height);
  }

  // Updates which nodes are shown and their colours, fading from the old colours for `ms`.
  function recolour(ms = FADE) {
    const { scene, layer, data } = map;
    presence ??= new Uint8Array(scene.n);
    const shown = updatePresence(presence, map, bar.range());
    const old = paint;
    paint = paintNodes(layer, data, presence);
    painter?.recolour(old ?? paint, paint);
    host.dataset.shown = shown;
    bar.count(shown, scene);
    host.dataset.colour = data.colour;
    describe(alternative, stage, map, shown);
    cancelAnimationFrame(fadeRequest);
    if (!old || !ms || calm.matches) {
      mixed = 1;
      if (ms || !slow) drawTimed();
      else requestFrame();
      return;
    }
    const start = performance.now();
    (function step() {
      mixed = Math.min(1, (performance.now() - start) / ms);
      draw();
      if (mixed < 1) fadeRequest = requestAnimationFrame(step);
    })();
  }

  const home = () => wholeView(map, width, height);

  function fit(ms = 260) {
    const [from, to, start] = [{ ...camera }, home(), performance.now()];
    fitted = to.scale;
    if (calm.matches || slow || !ms) {
      camera = to;
      return requestFrame();
    }
    (function step() {
      const share = Math.min(1, (performance.now() - start) / ms);
      const eased = share * share * (3 - 2 * share);
      for (const key of ["x", "y", "scale"]) camera[key] = from[key] + eased * (to[key] - from[key]);
      requestFrame();
      if (share < 1) requestAnimationFrame(step);
    })();
  }

  const clampScale = (scale) => Math.min(60 * fitted, Math.max(0.6 * fitted, scale));

  function zoom(by, u = width / 2, v = height / 2) {
    const [x, y] = toPlace(u, v);
    camera.scale = clampScale(camera.scale * by);
    const [nextX, nextY] = toPlace(u, v);
    camera.x += x - nextX;
    camera.y += y - nextY;
    requestFrame();
  }

  function pan(dx, dy) {
    camera.x -= dx / camera.scale;
    camera.y += dy / camera.scale;
    requestFrame();
  }

  function stretch() {
    const tall = stretchFor(map.layoutScene.whole, width / height);
    // After the visitor has moved the map, it keeps its shape.
    if (map.scene.stretch && (map.touched || Math.abs(tall / map.scene.stretch - 1) < 0.02)) return;
    map.scene = stretchedScene(map.layoutScene, tall);
    painter?.move(map.scene);
  }

  function resize() {
    fillWindow(host);
    [width, height] = [stage.clientWidth, stage.clientHeight];
    if (!width || !height || !map.scene) return;
    stretch();
    ratio = canvasRatio(width, height);
    map.tools = { left: tools.offsetLeft - 6, low: tools.offsetTop + tools.offsetHeight };
    for (const canvas of [base, above]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const near = camera.scale / fitted; // keeps the zoom in a window of another size
    fitted = home().scale;
    if (!map.framed) frame();
    else if (map.touched) camera.scale = near * fitted;
    else camera = home();
    drawTimed();
    bar.draw();
  }

  function frame() {
    map.framed = true;
    map.touched = false;
    camera = home();
    const saved = cameras.get(map.place);
    const at = readAddress();
    if (saved) lookAt(saved.x, saved.y / saved.stretch, saved.scale / saved.fitted);
    else if (at) lookAt(...at);
    position.write();
  }

  // Moves the camera to a place of the layout; `zoom` is relative to the whole map.
  function lookAt(x, y, zoom) {
    camera = { x, y: y * map.scene.stretch, scale: clampScale(zoom * fitted) };
    map.touched = true;
  }

  function prepare() {
    painter?.dispose();
    [painter, base] = createPainter(stage, base, map);
    host.dataset.painter = painter?.kind ?? "none";
    const canvas = base;
    canvas.addEventListener("webglcontextlost", () => {
      if (canvas !== base || !host.isConnected) return;
      map.losses += 1;
      painter = null;
      prepare()?.recolour(paint, paint);
      resize();
    });
    return painter;
  }

  function update(given, graph, layer, send) {
    const first = map.data === undefined;
    const another = map.data?.of !== given.of; // not only another part of the same graph
    const before = map.scene;
    if (map.data?.graph !== given.graph) map.scene = map.layoutScene = createScene(graph);
    const data = { ...given, node: map.scene.at(given.node) };
    const [newGraph, newLayer] = [map.data?.graph !== data.graph, map.data?.layer !== data.layer];
    const newLook = first || paletteKey(map.data) !== paletteKey(data);
    const newRange = differ(map.data?.range, data.range) && differ(bar.range(), data.range);
    const moved = !first && map.data.node !== data.node;
    const sendNumber = (name, value) => send(name, name === "pick" ? map.scene.number(value) : value);
    Object.assign(map, { data, layer, send: sendNumber, place: `${data.key} ${data.of}` });
    host.style.setProperty("--paper", data.paper);
    if (newGraph) {
      map.hovered = -1;
      paint = presence = null;
      if (another) {
        if (!first && data.address) writeAddress(null);
        Object.assign(map, { pinned: -1, framed: false, touched: false });
      } else {
        const now = (i) => (i < 0 ? -1 : map.scene.at(before.number(i)));
        map.pinned = now(map.pinned);
        map.scene = stretchedScene(map.layoutScene, before.stretch);
      }
    }
    if (newGraph || !painter) prepare();
    else if (newLayer) painter.reshape(layer.shapes);
    if (first || moved) map.pinned = data.hold || map.pinned >= 0 ? data.node : -1;
    copy.hidden = !data.address;
    if (newGraph || newLayer || newLook || newRange) {
      const range = data.range ?? null;
      if (!bar.busy()) bar.show(data, layer, range);
      map.ranks = null;
      if (newGraph) resize();
      recolour(first || newGraph ? 0 : undefined);
    }
    const enclosing = JSON.stringify(data.lasso);
    if (newGraph || enclosing !== map.enclosing) {
      map.enclosing = enclosing;
      map.group = data.lasso ? nodesInLasso(map.scene, data.lasso, visible) : [];
    }
    fold.hidden = !map.scene.small.some((small) => small);
    nameButton(fold, `Fold away groups of fewer than ${data.fold}`);
    nameButton(around, `Draw around several ${map.scene.noun[1]} (or drag with Shift)`);
    fillWindow(host); // what stands above may have grown, or grow in a moment
    setTimeout(() => fillWindow(host), 300);
    showReasons(speaks, data.reasons);
    highlight();
    host.dataset.picked = given.node;
    host.dataset.graph = data.graph;
    host.dataset.layer = data.layer;
  }

  const actions = { hover, find, highlight, pan, zoom, fit, recolour, toPlace, drawAbove, visible };
  Object.assign(actions, { screen, address: position.write, say: createStatus(stage) });
  const { fold, copy, around } = gestures(map, stage, tools, actions);
  // Two maps of one graph beside each other move and highlight together.
  const self = {
    isBeside: (other) => map.data?.together && other.data.together && other.place !== map.place,
    follow(x, y, zoom) {
      lookAt(x, y, zoom);
      if (!frameRequest) frameRequest = requestAnimationFrame(draw);
    },
    highlight(node) {
      if (map.hovered === node) return;
      map.hovered = node;
      drawHighlight();
    },
  };
  peers.add(self);
  const watcher = new ResizeObserver(resize);
  watcher.observe(stage);
  globalThis.addEventListener("resize", resize);

  // For the console and for tests.
  host.map = {
    node: (number) => {
      const { left, top } = stage.getBoundingClientRect();
      const [u, v] = screen(map.scene.at(number));
      return [left + u, top + v];
    },
    lit: () => (highlighted() < 0 ? null : { node: highlighted(), near: [...map.scene.neighbours(highlighted())] }),
    shows: (i) => visible(i),
    drawn: () => ({ nodes: map.scene.n, links: map.scene.m, window: map.scene.window }),
    camera: () => ({ ...camera, zoom: camera.scale / fitted }),
    colour: (i) => [...paint.subarray(4 * i, 4 * i + 3)],
  };

  return {
    update,
    dispose() {
      watcher.disconnect();
      globalThis.removeEventListener("resize", resize);
      position.dispose();
      peers.delete(self);
      clearTimeout(restTimer);
      clearTimeout(windowTimer);
      cancelAnimationFrame(frameRequest);
      cancelAnimationFrame(fadeRequest);
      const last = painter;
      painter = base = null;
      last?.dispose();
    },
  };
}
