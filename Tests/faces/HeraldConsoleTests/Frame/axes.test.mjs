import assert from 'node:assert/strict';
import test from 'node:test';
import {
  decimalStep, describe, extent, isAlone, moved, nearest, rateStep, reading, runs, spanStep, tableIndices, tickLabel, timeRange, timeTicks, valueAxis, wholeStep,
} from '#console/Frame/lib/chart/axes.js';
import { count, duration, rate } from '#console/Frame/lib/format.js';
import { sent, table } from './table.mjs';

table("An axis's step is a round number", decimalStep, [
  [0, 1], [-1, 1], [NaN, 1], [0.3, 0.5], [1, 1], [1.01, 2], [2.1, 5], [5.5, 10], [10, 10], [11, 20], [1000, 1000], [1001, 2000], [999_999, 1_000_000],
]);

test("An axis's step is never below the required one, and at most 2.5 times as long", () => {
  for (let exponent = -6; exponent <= 12; exponent += 0.001) {
    const least = 10 ** exponent;
    const step = decimalStep(least);
    assert.ok(step >= least && step <= least * 2.500001, `${least}: ${step}`);
  }
});

table('Counts have whole steps', wholeStep, [[0, 1], [0.2, 1], [1.5, 2], [300, 500]]);

table('A time span has the steps of a clock', spanStep, [
  [0, 1], [0.0001, 0.001], [0.02, 0.02], [0.15, 0.2], [0.3, 1], [0.6, 1], [11, 15], [16, 30], [31, 60], [61, 120], [3601, 7200], [86_400, 86_400], [100_000, 172_800],
]);

table('A value axis begins at 0, and ends at the first round number that reaches the highest value', valueAxis, [
  [0, decimalStep, { top: 1, step: 1 }], [1000, decimalStep, { top: 1000, step: 200 }], [1001, wholeStep, { top: 1500, step: 500 }],
  [3, wholeStep, { top: 3, step: 1 }], [130, spanStep, { top: 150, step: 30 }],
]);

table('A time axis has the length of its times, and at least a minute', (times) => sent(timeRange(times)), [
  [[], { min: -60_000, max: 0 }], [[100_000], { min: 40_000, max: 100_000 }], [[0, 300_000, 600_000], { min: 0, max: 600_000 }],
]);

test('No two labels of an axis are equal', () => {
  const seconds = (value) => duration(value * 1000);
  for (const [step, format] of [[wholeStep, count], [rateStep, rate], [spanStep, seconds]]) {
    for (let exponent = -4; exponent <= 7; exponent += 0.01) {
      const axis = valueAxis(10 ** exponent, step);
      const labels = Array.from({ length: Math.round(axis.top / axis.step) + 1 }, (_, index) => index === 0 ? '0' : format(index * axis.step));
      assert.equal(new Set(labels).size, labels.length, `${10 ** exponent}: ${labels.join(', ')}`);
      assert.ok(axis.top >= 10 ** exponent * 0.999999 && labels.length <= 6, `${10 ** exponent}: ${labels.join(', ')}`);
    }
  }
});

const minute = 60_000;
table("A time axis has its labels at round times of the reader's zone", (range, intervals, zone) => timeTicks(range, intervals, zone), [
  [{ min: 10_000, max: 600_000 }, 5, 0, { step: 2 * minute, moments: [2, 4, 6, 8, 10].map((each) => each * minute) }],
  [{ min: 1_000, max: 61_000 }, 4, 0, { step: 15_000, moments: [15_000, 30_000, 45_000, 60_000] }],
  [{ min: 0, max: 7_200_000 }, 2, -30, { step: 60 * minute, moments: [30 * minute, 90 * minute] }],
]);

test('A label of a time axis has seconds only where there are some', () => {
  const noon = new Date(2026, 4, 3, 12, 5, 9).valueOf();
  assert.equal(tickLabel(noon, minute), '12:05');
  assert.equal(tickLabel(noon, 15_000), '12:05:09');
});

table('The pointer selects the nearest time', nearest, [
  [[], 5, null], [[10], 99, 0], [[10, 20, 40], 14, 0], [[10, 20, 40], 16, 1], [[10, 20, 40], 29, 1], [[10, 20, 40], 31, 2], [[10, 20, 40], -1, 0],
]);

table('Keys move from time to time, and never beyond the ends', moved, [
  ['ArrowLeft', 5, 10, 4], ['ArrowLeft', 0, 10, 0], ['ArrowRight', 9, 10, 9], ['PageDown', 25, 30, 15], ['PageUp', 25, 30, 29], ['Home', 5, 10, 0], ['End', 5, 10, 9],
  ['Escape', 5, 10, 9], ['a', 5, 10, null], ['toString', 5, 10, null], ['ArrowLeft', -1, 0, null],
]);

table('A value without neighbours is a dot', isAlone, [[[1, null], 0, true], [[null, 1, null], 1, true], [[null, 1, 2], 1, false], [[1, 2], 1, false]]);

table('The newest value may be unknown; the highest and lowest are of the known ones', extent, [
  [[3, 1, 2], { last: 2, most: 3, least: 1 }], [[null, 4, null], { last: null, most: 4, least: 4 }], [[0], { last: 0, most: 0, least: 0 }], [[], null], [[null], null],
]);

table('A description has a sentence for each line', (lines) => describe(lines, (value) => `${value}/s`), [
  [[{ name: 'a', values: [1, 3, 2] }, { name: 'b', values: [null] }], 'a: now 2/s, between 1/s and 3/s. b: not known.'],
  [[], 'There is nothing to show.'],
]);

test('The values of all lines are read for one time', () => {
  const lines = [{ name: 'a', values: [1, 3] }, { name: 'b', values: [2] }];
  assert.match(reading(lines, (value) => value ?? 'unknown', 1, '2026-05-03T12:05:09Z'), /:05:09 UTC.*: a 3, b unknown$/);
});

table('The table has the newest first', tableIndices, [[0, []], [1, [0]], [3, [2, 1, 0]], [21, [20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0]]]);

test('The table has at most twenty rows, in equal steps from the newest', () => {
  for (let length = 1; length <= 300; length += 1) {
    const rows = tableIndices(length);
    assert.ok(rows.length <= 20 && rows.length >= Math.min(length, 10), `${length}: ${rows.length} rows`);
    assert.equal(rows[0], length - 1);
    assert.ok(rows.at(-1) >= 0);
    assert.equal(new Set(rows.slice(1).map((row, index) => rows[index] - row)).size, Math.min(1, length - 1), String(length));
  }
});

table('Consecutive times of trouble are one span, which reaches halfway to its neighbours', runs, [
  [[], [], []], [[false, false], [0, 10], []], [[true], [7], [[7, 7]]], [[true, true, false, true], [0, 10, 20, 40], [[0, 15], [30, 40]]],
]);
