import assert from 'node:assert/strict';
import test from 'node:test';
import { alertLink, filled, traceLink } from '#console/Frame/lib/links.js';
import { table } from './table.mjs';

table('A link has the value in place of its name', filled, [
  ['https://t/{traceId}?x={traceId}', '{traceId}', '4bf9', 'https://t/4bf9?x=4bf9'], ['https://t/{traceId}', '{traceId}', '../a?b', 'https://t/..%2Fa%3Fb'],
  [null, '{traceId}', '4bf9', null], ['https://t/{traceId}', '{traceId}', null, null], [undefined, '{alert}', 'HeraldLag', null],
]);

test('No link is shown unless the settings have an address', () => {
  assert.equal(traceLink({ viewer: null }, '4bf9'), null);
  assert.equal(alertLink({ viewer: { links: { traces: null, alerts: null } } }, 'HeraldLag'), null);
  assert.equal(alertLink({ viewer: { links: { alerts: 'https://a/#{alert}' } } }, 'HeraldLag'), 'https://a/#HeraldLag');
});
