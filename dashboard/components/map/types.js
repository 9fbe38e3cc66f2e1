// Types of the map, for tsc. The browser never gets this file.

/**
 * A graph, or an excerpt of one, as a parcel holds it: see parcels.js.
 * @typedef {object} GraphData
 * @property {number} count nodes that are here
 * @property {Uint32Array} links pairs of nodes, one after the other
 * @property {Float32Array} places x and y of each node, one after the other
 * @property {Uint8Array} small 1 for nodes of small components, which can be folded away
 * @property {Uint32Array | null} numbers of an excerpt: which node of the graph each is
 * @property {Box} whole
 * @property {[one: string, many: string]} noun
 * @property {string[] | null} ids
 * @property {string[] | null} titles
 * @property {"ids" | "titles" | null} named which of them people call the nodes by
 * @property {string[]} classes
 * @property {{ name: string, x: number, y: number, nodes: number }[]} regions
 * @property {[nodes: number, links: number]} all of the whole graph
 * @property {[number, number, number, number] | null} window the part of the map that is here
 * @property {boolean} thinned whether there is more to see nearby
 */

/** @typedef {{ left: number, bottom: number, right: number, top: number }} Box */

/**
 * A graph with what is needed to find nodes in it: see scene.js.
 * @typedef {GraphData & {
 *   n: number, m: number, box: Box, stretch: number, grid: Grid,
 *   neighbours: (node: number) => Uint32Array, byDegree?: Uint32Array,
 *   number: (node: number) => number,
 *   at: (number: number) => number,
 * }} Scene
 */

/** @typedef {{ cell: number, columns: number, rows: number, first: Uint32Array, inside: Uint32Array }} Grid */

/**
 * What a run says of each node.
 * @typedef {object} Layer
 * @property {Float32Array} shades what a colour is proportional to, or the number of a category
 * @property {ArrayLike<number>} said the predicted class
 * @property {ArrayLike<number>} truth the true class, or -1
 * @property {Uint8Array} shapes 0: circle, 1: cross, 2: diamond
 * @property {Uint8Array} shown
 */

/**
 * What colours and shapes mean, and what the page asks for: see map_data.look and graph_map.
 * @typedef {Record<string, any> & {
 *   reasons?: ReasonsData | null,
 *   colours: string[], limits: [number, number] | null, missing: string, text: string,
 *   paper: string, node: number, dark: boolean, enlarge: number, plain?: boolean, turn?: "log" | "minus" | "",
 * }} MapData
 */

/**
 * Which nodes and links speak for the answer (a positive number) or against it, and how strongly.
 * @typedef {object} ReasonsData
 * @property {[string, string]} colours of what speaks for it, and against
 * @property {[string, string]} names of the answer, and of the class that it is compared with
 * @property {[node: number, value: number][]} nodes the strongest first
 * @property {[one: number, other: number, value: number][]} links the strongest first
 */

/** @typedef {{ x: number, y: number, scale: number }} Camera */

/** @typedef {[number | null, number | null] | null} Range the shades that are shown */

/**
 * What the parts of a map share.
 * @typedef {object} MapState
 * @property {number} hovered
 * @property {number} pinned stays highlighted
 * @property {[number, number][] | null} lasso being drawn, in pixels
 * @property {boolean} lassoing whether the next drag draws a lasso
 * @property {boolean} folded whether small components are folded away
 * @property {number[]} group the nodes inside the last lasso
 * @property {number} losses how often the graphics card was lost
 * @property {{ left: number, low: number }} tools the corner that the buttons take
 * @property {MapData} data
 * @property {Scene} scene
 * @property {Scene} layoutScene the scene before it was stretched to the window
 * @property {Layer} layer
 * @property {(name: string, value: any) => void} send
 * @property {string} place the key of the camera
 * @property {boolean} [touched] whether the visitor has moved the map
 * @property {boolean} [framed]
 * @property {Float32Array | null} [ranks] the shades in order
 * @property {string} [enclosing]
 */

/**
 * Draws a scene: see webgl.js and canvas.js.
 * @typedef {object} Painter
 * @property {string} kind
 * @property {(shapes: Uint8Array) => void} reshape
 * @property {(scene: Scene) => void} move
 * @property {(before: Uint8Array, after: Uint8Array) => void} recolour
 * @property {(look: any, mixed?: number) => void} draw
 * @property {() => void} finish
 * @property {() => void} dispose
 */

export {};
