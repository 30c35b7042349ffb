import assert from 'node:assert/strict';
import test from 'node:test';
import { colour, hasGap, lines, merged, spans } from '#console/Pages/Now/now.js';
import { table } from '../../Frame/table.mjs';

const at = (second) => ({ at: new Date(second * 1000).toISOString() });

test('A series that is absent in a point is 0 there', () => {
  const points = [{ calls: { apns: { delivered: 1 } } }, { calls: { gcm: { failed: 2 } } }, { calls: {} }];
  assert.deepEqual(lines(points, 'calls', (service, end) => `${service} ${end}`), [
    { name: 'apns delivered', colour: 2, values: [1, 0, 0] }, { name: 'gcm failed', colour: 3, values: [0, 2, 0] }]);
});

test('Series of one name are one line', () => {
  const points = [{ calls: { apns: { delivered: 1, failed: 4 }, gcm: { delivered: 2 } } }];
  assert.deepEqual(lines(points, 'calls', (_, end) => end), [
    { name: 'delivered', colour: 2, values: [3] }, { name: 'failed', colour: 3, values: [4] }]);
});

test('The five largest series are shown, in the order of their names', () => {
  const points = [{ calls: { apns: { a: 2, b: 9, c: 3, d: 8, e: 7, f: 6 } } }, { calls: { apns: { a: 2 } } }];
  assert.deepEqual(lines(points, 'calls', (_, end) => end).map(({ name }) => name), ['a', 'b', 'd', 'e', 'f']);
});

test('Without points there are no lines', () => {
  assert.deepEqual(lines([], 'calls', (_, end) => end), []);
});

table('Points come in the order of their times, each once', (points, more) => merged(points.map(at), more.map(at)).map((point) => Date.parse(point.at) / 1000), [
  [[], [], []], [[], [2, 1, 3], [1, 2, 3]], [[1, 3], [2, 3, 4], [1, 2, 3, 4]], [[5], [5], [5]], [[2], [1], [1, 2]], [[99], [100, 9], [9, 99, 100]],
]);

test('A known point stays unchanged', () => {
  assert.deepEqual(merged([{ ...at(1), ready: 1 }], [{ ...at(1), ready: 2 }]), [{ ...at(1), ready: 1 }]);
});

test('The newest three hundred points are kept', () => {
  const kept = merged(Array.from({ length: 300 }, (_, second) => at(second)), [at(300), at(301)]);
  assert.deepEqual([kept.length, kept[0], kept.at(-1)], [300, at(2), at(301)]);
});

table('Points are missing after more than three steps', (last, point, step) => hasGap(last === null ? undefined : at(last), at(point), step), [
  [10, 12, 2000, false], [10, 16, 2000, false], [10, 17, 2000, true], [null, 17, 2000, false], [10, 99, 0, false],
]);

table('What is due in each span is what the sums differ by', spans, [
  [[1, 4, 9], 20, [1, 3, 5, 11]], [[0, 0], 3, [0, 0, 3]], [[], 3, [3]], [[5, 3], 2, [5, 0, 0]],
]);

table('Only delivered is green, and each end has one colour in all charts', colour, [
  ['delivered', 2], ['dead-lettered', 3], ['rejected', 3], ['transient', 3], ['timeout', 3], ['credentials', 3], ['oversized', 3],
  ['never heard of', 3], ['throttled', 4], ['expired', 4], ['duplicate', 5], ['cancelled', 5],
]);
