import assert from 'node:assert/strict';
import test from 'node:test';
import { ceiling, describe, extent, nearest, path, runs, tableIndices } from '#console/Frame/lib/chart.js';
import { table } from './table.mjs';

table("A scale's top is a round number", ceiling, [
  [0, 1], [-1, 1], [NaN, 1], [0.3, 0.5], [1, 1], [1.01, 2], [2.1, 5], [5.5, 10], [10, 10], [11, 20], [1000, 1000], [1001, 2000], [999_999, 1_000_000],
]);

test("A scale's top is never below the value, and at most 2.5 times as high", () => {
  for (let exponent = -6; exponent <= 12; exponent += 0.001) {
    const value = 10 ** exponent;
    const top = ceiling(value);
    assert.ok(top >= value && top <= value * 2.500001, `${value}: ${top}`);
  }
});

table('A line goes from the left to the right, the top being 0', path, [
  [[0, 5, 10], 10, 'M0.0 140.0L300.0 70.0L600.0 0.0'],
  [[1, null, 1, 1], 2, 'M0.0 70.0h0M400.0 70.0L600.0 70.0'],
  [[null, undefined, 1], 1, 'M600.0 0.0h0'],
  [[20, 0], 10, 'M0.0 0.0L600.0 140.0'],
  [[4], 8, 'M600.0 70.0h0'],
  [[], 1, ''], [[null], 1, ''],
]);

table('The newest value may be unknown, the highest and lowest are of those that are known', extent, [
  [[3, 1, 2], { last: 2, most: 3, least: 1 }], [[null, 4, null], { last: null, most: 4, least: 4 }], [[0], { last: 0, most: 0, least: 0 }], [[], null], [[null], null],
]);

table('A description has a sentence for each line', (lines) => describe(lines, (value) => `${value}/s`), [
  [[{ name: 'a', values: [1, 3, 2] }, { name: 'b', values: [null] }], 'a: now 2/s, between 1/s and 3/s. b: not known.'],
  [[], 'There is nothing to show.'],
]);

table('The table has the newest first', tableIndices, [[0, []], [1, [0]], [3, [2, 1, 0]], [21, [20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0]]]);

test('The table has twenty rows at most, in equal steps from the newest', () => {
  for (let length = 1; length <= 300; length += 1) {
    const rows = tableIndices(length);
    assert.ok(rows.length <= 20 && rows.length >= Math.min(length, 10), `${length}: ${rows.length} rows`);
    assert.equal(rows[0], length - 1);
    assert.ok(rows.at(-1) >= 0);
    assert.equal(new Set(rows.slice(1).map((row, index) => rows[index] - row)).size, Math.min(1, length - 1), String(length));
  }
});

table('The pointer means the point that lies nearest', nearest, [
  [0, 0.5, null], [1, 0.9, 0], [5, 0, 0], [5, 0.12, 0], [5, 0.13, 1], [5, 1, 4], [5, 7, 4], [5, -1, 0],
]);

table('Moments of trouble that follow each other are one run', runs, [
  [[], []], [[false, false], []], [[true], [[0, 0]]], [[true, true, false, true], [[0, 1], [3, 3]]],
]);
