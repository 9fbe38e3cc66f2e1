// A graph as a map that owns its window: all nodes and links below, what is lit above them.

const REACH = 10; // pixels beside a node that still count as on it
const DIMMED = 0.3; // what is not lit
const FADE = 300; // ms from one colouring to the next
const DEAR = 40; // ms: from here on, a frame is not drawn anew while one drags
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const peers = (globalThis.bupMapPeers ??= new Set());

function createMap(host) {
  host.replaceChildren();
  const stage = element(host, "div", "stage");
  const above = element(stage, "canvas", "above");
  const tip = element(stage, "div", "tip");
  const tools = element(stage, "div", "tools");
  const alternative = element(host, "p", "alternative");
  const strip = element(host, "div", "strip");
  introduce(stage, alternative);

  const map = { hot: -1, held: -1, lasso: null, lassoing: false, folded: false };
  Object.assign(map, { group: [], losses: 0, tools: { left: 0, low: 0 } });
  const bar = makeBar(strip, (range, done) => {
    dress(0);
    if (done) map.send?.("range", { of: map.data.colour, range });
  });
  let camera = { x: 0, y: 0, scale: 1 };
  let drawn = { ...camera };
  let [width, height, ratio, fitted] = [0, 0, 1, 1];
  let [painter, base, paint, presence] = [null, null, null, null];
  let [queued, resting, wanting, dear, mixed, fading] = [0, 0, 0, false, 1, 0];

  const visible = (i) => presence[i] === 255;
  const lit = () => (map.hot >= 0 ? map.hot : map.held);
  const toScreen = (x, y) => [
    (x - camera.x) * camera.scale + width / 2,
    height / 2 - (y - camera.y) * camera.scale,
  ];
  const screen = (i) => toScreen(map.scene.places[2 * i], map.scene.places[2 * i + 1]);
  const toPlace = (u, v) => [
    (u - width / 2) / camera.scale + camera.x,
    (height / 2 - v) / camera.scale + camera.y,
  ];
  const find = (u, v, reach = REACH) => {
    const pixels = Math.max(reach, look().size / 2 + 3);
    return nearest(map.scene, ...toPlace(u, v), pixels / camera.scale, visible);
  };

  const look = () => lookOf(map, camera, { width, height, ratio, fitted });

  function draw() {
    cancelAnimationFrame(queued);
    queued = 0;
    if (!painter || !width || !paint) return;
    base.style.transform = "";
    stage.dataset.near = String(camera.scale > 1.02 * fitted); // what fingers do depends on it
    painter.draw(look(), mixed);
    drawn = { ...camera };
    drawAbove();
  }

  // Drawn to the end, to learn what a frame costs here.
  function drawTimed() {
    const start = performance.now();
    draw();
    painter?.finish();
    dear = performance.now() - start > DEAR;
    host.dataset.frame = (performance.now() - start).toFixed(1);
  }

  // Where a frame is dear (no graphics card), the last one is moved along and redrawn at rest.
  function carry() {
    queued = 0;
    const [dx, dy] = [drawn.x - camera.x, camera.y - drawn.y].map((d) => d * camera.scale);
    base.style.transform = `translate(${dx}px, ${dy}px) scale(${camera.scale / drawn.scale})`;
    drawAbove();
  }

  function ask() {
    map.touched = true;
    remember();
    beside((peer) => peer.follow(camera.x, camera.y / map.scene.tall, camera.scale / fitted));
    clearTimeout(wanting);
    wanting = setTimeout(want, 350);
    clearTimeout(resting);
    if (dear) resting = setTimeout(drawTimed, 160);
    if (!queued) queued = requestAnimationFrame(dear ? carry : draw);
  }

  function want() {
    const [left, top] = toPlace(0, 0);
    const [right, bottom] = toPlace(width, height);
    const part = wanted(map.scene, { left, bottom, right, top });
    if (part) map.send("window", part);
  }

  function remember() {
    cameras.set(map.place, { ...camera, fitted, tall: map.scene.tall });
    keeper.note();
  }

  const keeper = placeKeeper({
    at: () => map.data.address && width && [whereOf(map.scene, camera, home())],
    comeBack: () => map.scene && width && (frame(), draw()),
  });

  function drawAbove() {
    const ink = above.getContext("2d");
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.clearRect(0, 0, width, height);
    if (!map.scene || !paint) return;
    const colour = (i) => rgb(paint.subarray(4 * i, 4 * i + 3));
    const { size } = look();
    const { node: picked, text, paper, accent } = map.data;
    drawNames(ink, map, toScreen, [width, height], lit() < 0 ? 1 : 0.3);
    if (map.group.length) drawGroup(ink, map.group, { screen, visible, size }, accent);
    if (lit() >= 0) drawLit(ink, map, lit(), { screen, visible, colour, size });
    if (picked >= 0 && picked < map.scene.n && presence[picked] !== GONE) {
      ring(ink, ...screen(picked), Math.max(9, size) / 2 + 6, 3, [text, paper]);
    }
    if (map.data.focus && map.scene.thinned) {
      const [place, ...near] = map.data.focus.map(([x, y]) => toScreen(x, y * map.scene.tall));
      drawFocus(ink, place, near, { size, text, paper, links: map.held >= 0 || picked < 0 });
    }
    if (map.lasso?.length > 1) drawLasso(ink, map.lasso, accent);
  }

  // No redraw of the map: what is lit is drawn above it, and the rest dimmed by the style sheet.
  function light() {
    dim();
    beside((peer) => peer.light(map.hot));
  }

  function dim() {
    if (base) base.style.opacity = lit() < 0 ? 1 : DIMMED;
    host.dataset.lit = lit();
    drawAbove();
  }

  function beside(act) {
    for (const peer of peers) if (peer !== self && peer.beside(map)) act(peer);
  }

  function hover(node, u, v) {
    if (node !== map.hot) {
      map.hot = node;
      if (node >= 0) tell(tip, map, node);
      light();
    }
    tip.hidden = node < 0;
    stage.style.cursor = map.lassoing ? "crosshair" : node < 0 ? "grab" : "pointer";
    if (node < 0) return;
    place(tip, u, v, width, height);
  }

  // Who is there, in which colours; `ms` to fade from those before.
  function dress(ms) {
    const { scene, layer, data } = map;
    presence ??= new Uint8Array(scene.n);
    const shown = attend(presence, map, bar.range());
    const old = paint;
    paint = paintOf(layer, data, presence);
    painter.recolour(old ?? paint, paint);
    host.dataset.shown = shown;
    bar.count(shown, scene);
    host.dataset.colour = data.colour;
    describe(alternative, stage, map, shown);
    cancelAnimationFrame(fading);
    if (!old || !ms || calm.matches) {
      mixed = 1;
      if (ms || !dear) drawTimed();
      else ask();
      return;
    }
    const start = performance.now();
    (function step() {
      mixed = Math.min(1, (performance.now() - start) / ms);
      draw();
      if (mixed < 1) fading = requestAnimationFrame(step);
    })();
  }

  const home = () => wholeOf(map, width, height);

  function fit(ms = 260) {
    const [from, to, start] = [{ ...camera }, home(), performance.now()];
    fitted = to.scale;
    if (calm.matches || dear || !ms) {
      camera = to;
      return ask();
    }
    (function step() {
      const share = Math.min(1, (performance.now() - start) / ms);
      const eased = share * share * (3 - 2 * share);
      for (const key of ["x", "y", "scale"]) camera[key] = from[key] + eased * (to[key] - from[key]);
      ask();
      if (share < 1) requestAnimationFrame(step);
    })();
  }

  const withinReach = (scale) => Math.min(60 * fitted, Math.max(0.6 * fitted, scale));

  function zoom(by, u = width / 2, v = height / 2) {
    const [x, y] = toPlace(u, v);
    camera.scale = withinReach(camera.scale * by);
    const [nextX, nextY] = toPlace(u, v);
    camera.x += x - nextX;
    camera.y += y - nextY;
    ask();
  }

  function pan(dx, dy) {
    camera.x -= dx / camera.scale;
    camera.y += dy / camera.scale;
    ask();
  }

  function stretch() {
    const tall = tallOf(map.flat.whole, width / height);
    // Once somebody has moved it, it keeps its shape.
    if (map.scene.tall && (map.touched || Math.abs(tall / map.scene.tall - 1) < 0.02)) return;
    map.scene = stretched(map.flat, tall);
    painter?.move(map.scene);
  }

  function resize() {
    fillWindow(host);
    [width, height] = [stage.clientWidth, stage.clientHeight];
    if (!width || !height || !map.scene) return;
    stretch();
    ratio = sharpness(width, height);
    map.tools = { left: tools.offsetLeft - 6, low: tools.offsetTop + tools.offsetHeight };
    for (const canvas of [base, above]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const near = camera.scale / fitted; // as near as before, in a window of another size
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
    const kept = cameras.get(map.place);
    const at = readAddress();
    if (kept) lookAt(kept.x, kept.y / kept.tall, kept.scale / kept.fitted);
    else if (at) lookAt(...at);
    keeper.write();
  }

  // A place of the layout, and how many times nearer than all of it.
  function lookAt(x, y, zoom) {
    camera = { x, y: y * map.scene.tall, scale: withinReach(zoom * fitted) };
    map.touched = true;
  }

  function prepare() {
    painter?.dispose();
    [painter, base] = makePainter(stage, base, map);
    host.dataset.painter = painter?.kind ?? "none";
    const canvas = base;
    canvas.addEventListener("webglcontextlost", () => {
      if (canvas !== base || !host.isConnected) return;
      map.losses += 1;
      painter = null;
      prepare();
      painter.recolour(paint, paint);
      resize();
    });
  }

  function update(given, graph, layer, send) {
    const first = map.data === undefined;
    const another = map.data?.of !== given.of; // not only another part of the same graph
    const before = map.scene;
    if (map.data?.graph !== given.graph) map.scene = map.flat = makeScene(graph);
    const data = { ...given, node: map.scene.at(given.node) };
    const [newGraph, newLayer] = [map.data?.graph !== data.graph, map.data?.layer !== data.layer];
    const newLook = first || looksOf(map.data) !== looksOf(data);
    const newRange = differ(map.data?.range, data.range) && differ(bar.range(), data.range);
    const moved = !first && map.data.node !== data.node;
    const told = (name, value) => send(name, name === "pick" ? map.scene.number(value) : value);
    Object.assign(map, { data, layer, send: told, place: `${data.key} ${data.of}` });
    host.style.setProperty("--paper", data.paper);
    if (newGraph) {
      map.hot = -1;
      paint = presence = null;
      if (another) {
        if (!first && data.address) writeAddress(null);
        Object.assign(map, { held: -1, framed: false, touched: false });
      } else {
        const now = (i) => (i < 0 ? -1 : map.scene.at(before.number(i)));
        map.held = now(map.held);
        map.scene = stretched(map.flat, before.tall);
      }
    }
    if (newGraph || !painter) prepare();
    else if (newLayer) painter.reshape(layer.shapes);
    if (first || moved) map.held = data.hold || map.held >= 0 ? data.node : -1;
    copy.hidden = !data.address;
    if (newGraph || newLayer || newLook || newRange) {
      const range = data.range ?? null;
      if (!bar.busy()) bar.show(data, layer, range);
      map.ranks = null;
      if (newGraph) resize();
      dress(first || newGraph ? 0 : FADE);
    }
    const enclosing = JSON.stringify(data.lasso);
    if (newGraph || enclosing !== map.enclosing) {
      map.enclosing = enclosing;
      map.group = data.lasso ? grouped(map.scene, data.lasso, visible) : [];
    }
    fold.hidden = !map.scene.small.some((small) => small);
    name(fold, `Fold away groups of fewer than ${data.fold}`);
    name(around, `Draw around several ${map.scene.noun[1]} (or drag with Shift)`);
    fillWindow(host); // what stands above may have grown, or grow in a moment
    setTimeout(() => fillWindow(host), 300);
    light();
    host.dataset.picked = given.node;
    host.dataset.graph = data.graph;
    host.dataset.layer = data.layer;
  }

  const acts = { hover, find, light, pan, zoom, fit, dress, toPlace, drawAbove, visible };
  Object.assign(acts, { screen, address: keeper.write, say: sayer(stage) });
  const { fold, copy, around } = gestures(map, stage, tools, acts);
  // Two maps of one graph beside each other move, and are lit, together.
  const self = {
    beside: (other) => map.data?.together && other.data.together && other.place !== map.place,
    follow(x, y, zoom) {
      lookAt(x, y, zoom);
      if (!queued) queued = requestAnimationFrame(draw);
    },
    light(node) {
      if (map.hot !== node) dim((map.hot = node));
    },
  };
  peers.add(self);
  const watcher = new ResizeObserver(resize);
  watcher.observe(stage);
  globalThis.addEventListener("resize", resize);

  // On the element: a handle for the console and for tests.
  host.map = {
    node: (number) => {
      const { left, top } = stage.getBoundingClientRect();
      const [u, v] = screen(map.scene.at(number));
      return [left + u, top + v];
    },
    lit: () => (lit() < 0 ? null : { node: lit(), near: [...map.scene.neighbours(lit())] }),
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
      keeper.dispose();
      peers.delete(self);
      clearTimeout(resting);
      clearTimeout(wanting);
      cancelAnimationFrame(queued);
      cancelAnimationFrame(fading);
      const last = painter;
      painter = base = null;
      last?.dispose();
    },
  };
}
