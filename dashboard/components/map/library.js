// What draws a map: the browser fetches it once, and the view, which is small, imports it.

import { createMap } from "./map.js";
import { openParcel } from "./parcels.js";

export { createMap, openParcel };
