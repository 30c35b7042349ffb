import assert from 'node:assert/strict';
import test from 'node:test';
import { settled } from '#console/Frame/lib/live.js';

/** An answer for each turn, the last one repeated. */
const answers = (...states) => {
  let turn = 0;
  return () => Promise.resolve({ state: states[Math.min(turn, states.length - 1)], turn: turn++ });
};
const wait = () => 0;

test('Running work is drawn and polled, and its last answer is the result', async () => {
  const drawn = [];
  const again = answers('reading', 'planning', 'done');
  const end = await settled(await again(), again, { isLeft: () => false, wait, draw: (answer, turn) => drawn.push([answer.state, turn]) });
  assert.deepEqual(end, { state: 'done', turn: 2 });
  assert.deepEqual(drawn, [['reading', 0], ['planning', 1]]);
});

test('Failed work has ended, too', async () => {
  const again = answers('failed');
  assert.equal((await settled(await again(), again, { isLeft: () => false, wait })).state, 'failed');
});

test('Polling ends once the page is left', async () => {
  let asked = 0;
  const again = () => { asked += 1; return Promise.resolve({ state: 'reading' }); };
  assert.equal(await settled({ state: 'reading' }, again, { isLeft: () => asked === 2, wait }), null);
  assert.equal(asked, 2);
});
