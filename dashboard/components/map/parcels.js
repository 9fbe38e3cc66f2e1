// Opens what the server sends of a graph and of a run, see parcels.py.

const TYPES = {
  f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array, i2: Int16Array, i1: Int8Array,
};
const STEPS = 32767; // of a place, from the centre to the rim
const NONE = 65535; // the step of a shade that is none
const opened = new WeakMap();

/**
 * The header of a parcel with its arrays by name; each parcel is opened once.
 * @param {Uint8Array} bytes
 * @returns {any} a GraphData or a Layer
 */
export function openParcel(bytes) {
  if (!opened.has(bytes)) opened.set(bytes, unpack(bytes));
  return opened.get(bytes);
}

/**
 * Digest, length of the header, header, arrays.
 * @param {Uint8Array} bytes
 */
function unpack(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(16, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(20, 20 + length)));
  let at = bytes.byteOffset + 20 + length;
  const found = { ...header };
  for (const [name, type, count] of header.arrays) {
    const size = count * TYPES[type].BYTES_PER_ELEMENT;
    found[name] = new TYPES[type](bytes.buffer.slice(at, at + size)); // a copy: aligned
    at += size;
  }
  return found.links ? openGraph(found) : openLayer(found);
}

function openGraph(found) {
  const n = found.count;
  const keys = decodeDeltaVarint(found.links);
  const links = new Uint32Array(2 * keys.length);
  for (const [k, key] of keys.entries()) {
    links[2 * k] = Math.floor(key / n);
    links[2 * k + 1] = key % n;
  }
  const [left, bottom, right, top] = found.box;
  return {
    ...found,
    links,
    places: Float32Array.from(found.places, (step) => step / STEPS),
    small: bits(found.small, n),
    numbers: found.numbers.length ? Uint32Array.from(decodeDeltaVarint(found.numbers)) : null,
    whole: { left, bottom, right, top },
  };
}

function openLayer(found) {
  const [first, step] = found.scale;
  const value = (code) => (code === NONE ? NaN : first + code * step);
  const shades = Float32Array.from(found.shades, value);
  return { ...found, shades, shown: bits(found.shown, shades.length) };
}

/**
 * Ascending numbers from their differences, seven bits a byte.
 * @param {Iterable<number>} bytes
 */
export function decodeDeltaVarint(bytes) {
  const found = [];
  let [number, gap, scale] = [0, 0, 1];
  for (const byte of bytes) {
    gap += (byte & 127) * scale; // not shifted: it may have more than 32 bits
    scale *= 128;
    if (byte > 127) continue;
    found.push((number += gap));
    [gap, scale] = [0, 1];
  }
  return found;
}

/**
 * @param {ArrayLike<number>} bytes
 * @param {number} n
 */
function bits(bytes, n) {
  return Uint8Array.from({ length: n }, (_, i) => (bytes[i >> 3] >> (i & 7)) & 1);
}
