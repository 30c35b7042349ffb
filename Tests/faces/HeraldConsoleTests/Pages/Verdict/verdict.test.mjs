import assert from 'node:assert/strict';
import test from 'node:test';
import { basis, late, newestFirst, shape } from '#console/Pages/Verdict/verdict.js';
import { table } from '../../Frame/table.mjs';

const verdict = { key: 'outage', state: 'bad', since: '2026-03-04T08:00:00.000Z', waiting: 10, next: { sentence: 'Look.' }, others: [{ key: 'lag', state: 'warn', waiting: 1 }] };

test('The page is not redrawn when only its numbers change', () => {
  assert.equal(shape({ ...verdict, waiting: 99, since: '2026-03-04T09:00:00.000Z', sentence: 'for 3 min', others: [{ ...verdict.others[0], waiting: 5 }] }), shape(verdict));
});

for (const [what, changed] of Object.entries({
  key: { key: 'other' }, state: { state: 'warn' }, 'next step': { next: null }, 'other findings': { others: [] },
  'state of another finding': { others: [{ ...verdict.others[0], state: 'bad' }] },
})) {
  test(`The page is redrawn when its ${what} changes`, () => {
    assert.notEqual(shape({ ...verdict, ...changed }), shape(verdict));
  });
}

test('The last day begins with the newest entry', () => {
  const spans = ['2026-03-04T08:00:00.000Z', '2026-03-04T10:00:00.000Z', '2026-03-03T23:00:00.000Z'].map((from) => ({ from }));
  assert.deepEqual(newestFirst(spans).map(({ from }) => from.slice(8, 13)), ['04T10', '04T08', '03T23']);
});

table('Lateness has its number, its completeness, and its worst', late, [
  [null, '–'],
  [{ count: 300, isExact: true, worstMilliseconds: 1_500_000 }, '300, by up to 25 min'],
  [{ count: 9000, isExact: false, worstMilliseconds: 90_000 }, 'at least 9\u202f000, by up to 1 min 30 s'],
]);

table('The basis of lateness is given', basis, [
  [{ isComplete: true, lookedAt: 40, delivered: 40, scattered: null },
    'Late is an event that was delivered more than a minute after it was published, or due; it counts once. Counted from the results of all 40 deliveries of the day.'],
  [{ isComplete: false, lookedAt: 40, delivered: 4000, scattered: { count: 2, isExact: true, worstMilliseconds: 61_000 } },
    'Late is an event that was delivered more than a minute after it was published, or due; it counts once. Counted from the results of 40 of about 4\u202f000 deliveries of the day; older ones are still read. Besides, one by one: 2, by up to 1 min 1 s.'],
]);
