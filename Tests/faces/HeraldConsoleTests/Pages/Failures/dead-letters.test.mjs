import assert from 'node:assert/strict';
import test from 'node:test';
import { addressOf, changedPlan, changesOf, filterOf, noFilter, parametersOf, planOfRest, words } from '#console/Pages/Failures/dead-letters.js';
import { common } from '#console/Frame/lib/plan.js';
import { sent, table } from '../../Frame/table.mjs';

const query = (text) => new URLSearchParams(text);

table('A filter follows the address', (text) => sent(filterOf(query(text))), [
  ['', {}], ['by=topic&whole=1&behind=3', {}], ['group=&since=', {}],
  ['group=status%3D503&where=age+%3C+2h&since=12h&until=1h', { group: 'status=503', where: 'age < 2h', since: '12h', until: '1h' }],
  ['partitions=0,3', { partitions: [0, 3] }], ['partitions=0', { partitions: [0] }],
  // Parameters that the server reads in an address, too.
  ['partitions=3,', { partitions: [3] }], ['partitions=,3,,4', { partitions: [3, 4] }],
]);

table('The parameters of an address are those of its filter', (text) => parametersOf(query(text)), [
  ['by=topic&group=a%3Db&since=', { group: 'a=b' }], ['partitions=0,3&until=1h', { until: '1h', partitions: '0,3' }],
]);

table("A filter's address has its partitions with commas, and no ids", (filter) => sent(addressOf(filter)), [
  [{ group: 'a=b', partitions: [0, 3], ids: ['0:1'] }, { group: 'a=b', partitions: '0,3' }], [{}, {}], [null, {}], [undefined, {}],
]);

table("A filter's command has its options", (text) => words(query(text)), [
  ['', []], ['partitions=0,3&where=a+%3D+1&by=topic', ['--where', 'a = 1', '--partition', '0,3']],
  ['group=a%3Db&since=2h&until=1h', ['--group', 'a=b', '--since', '2h', '--until', '1h']],
]);

table('A form of filters changes all of them', (entries) => changesOf(new Map(entries)), [
  [[], noFilter],
  [[['where', ' age < 2h '], ['group', ' '], ['since', '12h']], { ...noFilter, where: 'age < 2h', since: '12h' }],
]);

test('Showing all removes every filter', () => {
  assert.deepEqual(noFilter, { group: null, where: null, since: null, until: null, partitions: null });
});

const filter = { group: 'status=503' };
table('A plan changes as the form says', (entries) => sent(changedPlan(filter, new Map(entries))), [
  [[], { filter }],
  [[['ramp', ' 1,5,all '], ['stop', '7'], ['rate', '0.5']], { filter, ramp: '1,5,all', stopIfFailures: 0.07, rate: 0.5 }],
  [[['stop', '0'], ['rate', ' ']], { filter, stopIfFailures: 0 }],
  [[['only', 'apns, gcm fcm'], ['again', 'on'], ['fresh', 'on']], { filter, onlyPns: ['apns', 'gcm', 'fcm'], again: true, freshKey: true }],
  [[['user', ' ann ']], { filter, set: { user: 'ann' } }],
  [[['message', ' as it is ']], { filter, set: { message: ' as it is ' } }],
  [[['pns', 'apns gcm']], { filter, set: { pns: ['apns', 'gcm'] } }],
  [[['title', 'The sale'], ['badge', '7'], ['data', '{"order":"17"}'], ['link', '']], { filter, set: { title: 'The sale', data: '{"order":"17"}', badge: '7' } }],
]);

for (const [field, label, text] of [
  ['stop', 'Stop above bad outcomes, %', '5%'], ['stop', 'Stop above bad outcomes, %', '2,5'], ['rate', 'At most a second', '200/s'], ['rate', 'At most a second', 'Infinity'],
]) {
  test(`An invalid number is refused, and never the default: ${label} “${text}”`, () => {
    assert.throws(() => changedPlan(filter, new Map([[field, text]])), { message: `${label}: “${text}” is no number.` });
  });
}

const options = { ramp: '1,10,all', 'stop-if-failures': '5.0%' };
const found = { kind: 'replay', filter, selection: '--group status=503', options };
table("A job's remainder is planned with its options", (more) => sent(planOfRest({ ...found, options: { ...options, ...more } })), [
  [{}, { kind: 'replay', filter, ramp: '1,10,all', stopIfFailures: 0.05, freshKey: false, again: false }],
  [{ 'only-pns': 'apns,gcm', 'fresh-key': 'true', again: 'true', rate: '0.5/s' },
    { kind: 'replay', filter, ramp: '1,10,all', stopIfFailures: 0.05, freshKey: true, again: true, onlyPns: ['apns', 'gcm'], rate: 0.5 }],
]);

test("A job's remainder is not planned when its filter or its correction is lost", () => {
  assert.throws(() => planOfRest({ ...found, filter: null }), /can no longer be told in full: --group status=503/);
  assert.throws(() => planOfRest({ ...found, options: { ...options, correction: 'user' } }), /It corrected what it replayed \(user\)/);
});

table('The pattern names its letters: all that are shown, or the open ones', common, [
  [{ count: 1101 }, 1101, 'In common: '], [{ count: 1101 }, 1112, 'In common to the 1\u202f101 that are open: '],
  [{ count: 1 }, 2, 'In common to the 1 that is open: '],
]);
