import { happened, more, sentence } from '#console/Pages/Audit/audit.js';
import { table } from '../../Frame/table.mjs';

const page = (entries, next, searched) => ({ entries: Array.from({ length: entries }), next, searched });

table('A sentence has the number of entries, and whether there are more', (entries, next, before) => sentence(page(entries, next, 2000), before), [
  [0, null, null, '0 entries, the newest.'], [1, null, null, '1 entry, the newest.'], [2, null, null, '2 entries, the newest.'],
  [50, '0:1', null, '50 entries, the newest; there are more.'], [50, '0:1', '0:9', '50 entries, older ones; there are more.'], [3, null, '0:9', '3 entries, older ones.'],
  [0, '0:1', null, 'None of the 2\u202f000 entries that were looked at matches; “Older” looks on.'],
]);

table('An entry shows the action and its end', happened, [
  [{ action: 'dlq.replay', phase: 'begin' }, ['dlq.replay begin', '–']],
  [{ action: 'dlq.replay', phase: 'end', end: 'stopped' }, ['dlq.replay end', 'stopped']],
  [{ action: 'campaign.pause', phase: 'done' }, ['campaign.pause', 'done']],
  [{ action: 'dlq.reveal', phase: 'done', end: 'refused' }, ['dlq.reveal', 'refused']],
]);

table("The details are the entry's own", more, [
  [{ place: '0:3' }, [['Record', '0:3']]],
  [{ place: '0:3', planned: 0, reason: '', job: 'j1' }, [['Job', 'j1'], ['Planned', '0'], ['Record', '0:3']]],
  [{ place: '0:3', reason: 'outage', planned: 1200, counts: { replayed: 1000 }, options: { ramp: '1,all' }, ends: { 0: 17, 1: 4 }, tookOverFrom: 'j0' },
    [['Reason', 'outage'], ['Planned', '1\u202f200'], ['replayed', '1\u202f000'], ['--ramp', '1,all'], ['Took over from', 'j0'], ['Frozen at', '0:17, 1:4'], ['Record', '0:3']]],
]);
