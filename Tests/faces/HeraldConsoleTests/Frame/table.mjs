// A table of cases. The tested code is imported as #console/…, which package.json maps to the console's files.

import assert from 'node:assert/strict';
import test from 'node:test';

/** A value in a test's name, with terminal control characters spelled out. */
function shown(value) {
  const text = JSON.stringify(value) ?? String(value);
  return text.replace(/(?! )[\p{C}\p{Z}]/gu, (mark) => `\\u{${mark.codePointAt(0).toString(16)}}`);
}

/** A test for each row [argument, …, result]. */
export function table(sentence, compute, rows) {
  for (const row of rows) {
    const [given, expected] = [row.slice(0, -1), row.at(-1)];
    test(`${sentence}: ${given.map(shown).join(', ')} → ${shown(expected)}`, () => assert.deepEqual(compute(...given), expected));
  }
}

/** An object as the server receives it. */
export function sent(object) {
  return JSON.parse(JSON.stringify(object));
}
