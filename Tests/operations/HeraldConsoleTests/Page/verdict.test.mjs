import assert from 'node:assert/strict';
import test from 'node:test';
import { newestFirst, shape } from '#page/pages/verdict.js';

const verdict = { key: 'outage', state: 'bad', since: '2026-03-04T08:00:00.000Z', waiting: 10, next: { sentence: 'Look.' }, others: [{ key: 'lag', state: 'warn', waiting: 1 }] };

test('The page is not drawn anew when only its numbers change', () => {
  assert.equal(shape({ ...verdict, waiting: 99, sentence: 'for 3 min', others: [{ ...verdict.others[0], waiting: 5 }] }), shape(verdict));
});

for (const [what, changed] of Object.entries({
  key: { key: 'other' }, state: { state: 'warn' }, since: { since: null }, 'next step': { next: null }, 'other findings': { others: [] },
  'state of another finding': { others: [{ ...verdict.others[0], state: 'bad' }] },
})) {
  test(`The page is drawn anew when its ${what} changes`, () => {
    assert.notEqual(shape({ ...verdict, ...changed }), shape(verdict));
  });
}

test('The last day has what began last at its top', () => {
  const spans = ['2026-03-04T08:00:00.000Z', '2026-03-04T10:00:00.000Z', '2026-03-03T23:00:00.000Z'].map((from) => ({ from }));
  assert.deepEqual(newestFirst(spans).map(({ from }) => from.slice(8, 13)), ['04T10', '04T08', '03T23']);
});
