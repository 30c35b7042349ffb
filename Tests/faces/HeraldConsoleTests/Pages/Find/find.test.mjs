import { letterAddress, mayBeCalled, newestOutcomes, nothing, remarks, something, title } from '#console/Pages/Find/find.js';
import { table } from '../../Frame/table.mjs';

const settled = (outcome, ...pns) => ({ step: 'settled', outcome, pns });

table('Each push service has its newest outcome', newestOutcomes, [
  [{ steps: [], open: ['apns'] }, [['apns', null]]],
  [{ steps: [settled('dead-lettered', 'apns'), { step: 'called', pns: ['apns'] }, settled('delivered', 'apns')], open: ['gcm'] }, [['apns', 'delivered'], ['gcm', null]]],
  [{ steps: [settled('expired', 'apns', 'gcm')], open: [] }, [['apns', 'expired'], ['gcm', 'expired']]],
  [{ steps: [settled('invalid')], open: [] }, [['event', 'invalid']]],
]);

const named = { id: 'order-17', user: 'ann' };
table('What may still be called can be recalled', mayBeCalled, [
  [{ ...named, steps: [], open: ['apns'] }, true],
  [{ ...named, steps: [settled('dead-lettered', 'apns')], open: [] }, true],
  [{ ...named, steps: [settled('delivered', 'apns')], open: [] }, false],
  [{ user: 'ann', steps: [], open: ['apns'] }, false],
]);

table('A dead letter has its page at its place', letterAddress, [
  ['notifications.dlq/3/17', '/failures/letter/3:17'], ['a/b/0/4', '/failures/letter/0:4'],
]);

table('An event is called after its id, or its place', title, [
  [{ id: 'order-17', origin: 'n/0/3', user: 'ann', source: 'shop' }, 'order-17 for ann by shop'],
  [{ origin: 'n/0/3' }, 'n/0/3'], [{ origin: 'n/0/3', source: 'shop' }, 'n/0/3 by shop'],
]);

const complete = { unread: [], strayTopics: [], grownTopics: [], isCut: false, hidden: 0, state: 'done' };
table('An incomplete answer explains why', (more) => remarks({ ...complete, ...more }), [
  [{}, []],
  [{ unread: ['the results (no access)', 'the audit'] }, ['Not read: the results (no access).', 'Not read: the audit.']],
  [{ strayTopics: ['a', 'b'] }, ['Events of this user are not where the key of their user belongs in a, b: their producer has another partitioner or key, '
    + 'so that some may be missing here. “Read all partitions” finds them all.']],
  [{ grownTopics: ['a'] }, ['Events of this user are where the key of their user belonged when a had fewer partitions: older records stay there when '
    + 'partitions are added, so that some may be missing here. “Read all partitions” finds them all.']],
  [{ isCut: true }, ['Only the newest events are shown; the command shows more, and “Since” bounds them.']],
  [{ hidden: 3 }, ['Only the newest events are shown; the command shows more, and “Since” bounds them.']],
  [{ lost: '7 requests were deleted.' }, ['7 requests were deleted.']],
  [{ state: 'part' }, ['The reading was ended before its end.']],
]);

const others = 'Not read: the other partitions. Events with another key than the user may be there: “Read all partitions”.';
table('A result from one partition may be incomplete', something, [
  [{ events: [1, 2], isNarrow: false, strayTopics: [], grownTopics: [] }, '2 events, the newest first.'],
  [{ events: [1], isNarrow: true, strayTopics: [], grownTopics: [] }, `1 event, the newest first. ${others}`],
  // A remark explains more.
  [{ events: [1], isNarrow: true, strayTopics: ['n'], grownTopics: [] }, '1 event, the newest first.'],
  [{ events: [1], isNarrow: true, strayTopics: [], grownTopics: ['n'] }, '1 event, the newest first.'],
]);

const absent = { gaps: [], unread: [], tombstones: 0 };
table('An event counts as never published only after a complete search', (more) => nothing({ ...absent, ...more }), [
  [{}, 'Nothing was found in what was read. It was never published to these topics, or they have forgotten it.'],
  [{ gaps: ['the audit', 'other partitions'], unread: ['the audit'] }, 'Nothing was found in what was read. Not read: other partitions.'],
  [{ gaps: ['the audit'], unread: ['the audit'] }, 'Nothing was found in what was read.'],
  [{ tombstones: 2 }, 'Nothing was found in what was read. 2 records of this user have no value: they are no events, and notify nobody. '
    + 'It was never published to these topics, or they have forgotten it.'],
  [{ tombstones: 1, gaps: ['a'] }, 'Nothing was found in what was read. 1 record of this user has no value: it is no event, and notifies nobody. Not read: a.'],
]);
