import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";

import { percent } from "../../dashboard/components/shared/numbers.js";

// Written by Python: tests/dashboard/ui/test_numbers.py checks the same cases.
const cases = JSON.parse(await readFile(new URL("percent.json", import.meta.url), "utf-8"));

test("percentages are written as Python writes them", () => {
  assert.ok(cases.length > 500);
  for (const [share, digits, text] of cases) assert.equal(percent(share, digits), text, `${share}`);
});
