import { moment, rowsOf, shownColumns, verdict } from '#console/Pages/Account/account.js';
import { table } from '../../Frame/table.mjs';

// East of Greenwich, by a number of half hours, without summer time.
process.env.TZ = 'Asia/Kolkata';

const now = new Date('2026-03-04T08:00:00Z');
table('A time of the last 24 hours is by the clock of the reader', (text) => moment(text, now), [
  ['13:30', '2026-03-04T08:00:00.000Z'], ['13:31', '2026-03-03T08:01:00.000Z'], ['00:00', '2026-03-03T18:30:00.000Z'],
  ['24h', '24h'], ['2026-03-01T00:00:00Z', '2026-03-01T00:00:00Z'], ['25:00', '25:00'], ['', ''],
]);

table('An account is equal only when nothing is missing, and all of it could be read', verdict, [
  [{ isBalanced: true, missingCount: 0 }, ['good', 'Equal']], [{ isBalanced: false, missingCount: 0 }, ['warn', 'Not known in full']],
  [{ isBalanced: false, missingCount: 2 }, ['bad', 'Not equal']],
]);

const columns = ['events', 'notifications', 'delivered', 'expired', 'open', 'missing'];
table('Columns of zeros are left out, but not what a reader looks for', (...counts) => shownColumns(columns, counts.map((row) => ['all', '', Object.fromEntries(columns.map((name, index) => [name, row[index]]))])), [
  [[0, 0, 0, 0, 0, 0], ['events', 'notifications', 'delivered', 'missing']], [[9, 9, 8, 0, 1, 0], [1, 1, 0, 1, 0, 0], columns],
]);

const some = { events: 1, notifications: 1 };
table('The rows are of all, of topics, sources and push services, and of replays if there are any', (replays) => rowsOf({
  total: some, replays, topics: [{ topic: 'notifications', ...some }], sources: [{ source: null, ...some }], pushServices: [{ pns: 'apns', ...some }],
}).map(([of, name]) => `${of} ${name}`), [
  [{ notifications: 0 }, ['all ', 'topic notifications', 'source (none)', 'push service apns']],
  [{ notifications: 1 }, ['all ', 'topic notifications', 'source (none)', 'push service apns', 'replays ']],
]);
