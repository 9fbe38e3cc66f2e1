import assert from "node:assert/strict";
import test from "node:test";

globalThis.addEventListener ??= () => {};
globalThis.location = { href: "", pathname: "/" };
const { cameraPosition, readAddress } = await import("../../dashboard/components/map/address.js");

const whole = { x: 0, y: 0, scale: 100 };

test("the camera is written as the layout has it, and not where it sees the whole map", () => {
  assert.equal(cameraPosition({}, { x: 0.01, y: 0, scale: 100 }, whole), null);
  assert.deepEqual(cameraPosition({}, { x: 0, y: 0, scale: 150 }, whole), [0, 0, 1.5]);
  assert.deepEqual(cameraPosition({ stretch: 2 }, { x: 0.5, y: 0.5, scale: 250 }, whole), [0.5, 0.25, 2.5]);
});

test("an address that says no place is as good as none", () => {
  const read = (at) => {
    globalThis.location.href = `https://bup.test/explore?at=${at}`;
    return readAddress();
  };
  assert.deepEqual(read("0.5,-0.25,2"), [0.5, -0.25, 2]);
  for (const at of ["", "1,2", "1,2,3,4", "a,b,c", "1,2,0", "1,2,-1", "1,1e9,2", "NaN,0,1"]) {
    assert.equal(read(at), null, at);
  }
});
