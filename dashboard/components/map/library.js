// The script that draws a map. The browser fetches it once; view.js, which is small, imports it.

import { createMap } from "./map.js";
import { openParcel } from "./parcels.js";

export { createMap, openParcel };
