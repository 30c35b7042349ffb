import assert from 'node:assert/strict';
import test from 'node:test';
import { moment, count as number } from '#console/Frame/lib/format.js';
import { columnHint, columnsOf, contentOf, dataOf, encodingOf, expected, firstMessages, inForm, momentOf, noText, question, trialOutcomes, unseenParts } from '#console/Pages/Campaigns/campaign-form.js';
import { contentFacts } from '#console/Frame/lib/vocabulary.js';
import { added, atWork, behind, causes, limit, listNotes, ofCampaign, ordered, pace, parts, replaced, reportWords, serviceRows, sofar, startAgain, startPlace, waits, waitWords } from '#console/Pages/Campaigns/campaigns.js';
import { missing, shown, views } from '#console/Pages/Campaigns/phones.js';
import { concerning } from '#console/Pages/Campaigns/trouble.js';
import { sent, table } from '../../Frame/table.mjs';

const none = { delivered: 0, failed: 0, expired: 0, cancelled: 0, recovered: 0 };
const told = (answer, campaign) => parts(answer, { outcomes: none, open: 0, unpublished: 0, ...campaign })
  .map(({ name, count, note }) => (note ? [name, count, note] : [name, count]));

table('Without the backlog, open notifications count as waiting', told, [
  [{}, { open: 7 }, [['delivered', 0], ['failed', 0], ['waiting', 7]]],
  [{}, { open: 7, waiting: 3, retrying: 4 }, [['delivered', 0], ['failed', 0], ['waiting', 7]]],
]);

table('With the backlog, retries are counted apart', told, [
  [{ isBacklogKnown: true }, { open: 7, waiting: 3, retrying: 4 }, [['delivered', 0], ['retrying', 4], ['failed', 0], ['waiting', 3]]],
  [{ isBacklogKnown: true }, { open: 7 }, [['delivered', 0], ['retrying', 0], ['failed', 0], ['waiting', 0]]],
  [{ isBacklogKnown: true, isBacklogPartly: true }, { waiting: 5, suspended: 2 },
    [['delivered', 0], ['retrying', 0, 'about; the retry topics are long'], ['failed', 0], ['waiting', 5, '2 of them suspended']]],
]);

table('Rare outcomes are named when there are some', (outcomes) => told({}, { outcomes: { ...none, ...outcomes }, unpublished: 1 }), [
  [{ delivered: 9, recovered: 2, failed: 1 }, [['delivered', 9, '2 of them by a replay'], ['failed', 1], ['waiting', 0], ['unpublished', 1]]],
  [{ expired: 3, cancelled: 4 }, [['delivered', 0], ['failed', 0], ['expired', 3], ['cancelled', 4], ['waiting', 0], ['unpublished', 1]]],
]);

table('Suppressed notifications say why', (campaign) => told({}, { outcomes: { ...none, suppressed: 27 }, ...campaign }), [
  [{ suppressedWhy: '24 because their user opted out, 3 recalled' }, [['delivered', 0], ['failed', 0], ['suppressed', 27, '24 because their user opted out, 3 recalled'], ['waiting', 0]]],
  [{}, [['delivered', 0], ['failed', 0], ['suppressed', 27], ['waiting', 0]]],
]);

table('The pace has a speed and a remaining time', pace, [
  [{}, {}, null], [{}, { perSecond: 0 }, 'No outcome in the last 30 s.'],
  [{}, { perSecond: 2.5 }, '2.5/s in the last 30 s.'],
  [{}, { perSecond: 1200, secondsLeft: 90 }, '1\u202f200/s in the last 30 s, about 1 min 30 s left.'],
  [{ trouble: { headline: 'Outage' } }, { perSecond: 12, secondsLeft: 90 }, '12/s in the last 30 s.'],
  [{ isSilent: true }, { perSecond: 80 }, null], [{}, { state: 'paused', perSecond: 3 }, null], [{}, { state: 'paused' }, null],
  [{ isOver: true }, { perSecond: 3 }, 'Nothing will change any more, but by replays.'],
  [{ isOver: true }, { open: 1 }, '1 notification is left to its retries.'], [{ isOver: true }, { open: 4 }, '4 notifications are left to their retries.'],
]);

table('A campaign without outcomes says what it waits for', waitWords, [
  [{}, { state: 'running' }, null], [{ trouble: { headline: 'Outage' } }, { state: 'paused' }, null],
  [{ trouble: { headline: 'Too few brokers' } }, { state: 'running' }, 'It waits, as the verdict says: Too few brokers.'],
  [{ trouble: { headline: 'gcm delivers nothing', services: ['gcm'] } }, { state: 'running' }, 'What goes to gcm waits, as the verdict says: gcm delivers nothing.'],
  [{ trouble: { headline: 'Outage' } }, { state: 'running', waits: { for: 'retries', count: 2, until: 'noon' } }, 'It waits: 2 notifications retry, the next at noon. The verdict says: Outage.'],
  [{ trouble: { headline: 'No worker runs' } }, { state: 'running', waits: { for: 'trouble', sentence: 'No member' } }, 'It waits, as the verdict says: No worker runs.'],
  [{}, { state: 'running', waits: { for: 'trouble', sentence: 'No worker runs' } }, 'It waits: no worker runs.'],
  [{}, { state: 'running', waits: { for: 'suspended', count: 40, until: 'noon' } }, 'It goes on: 40 suspended notifications are called again by noon.'],
  [{}, { state: 'running', waits: { for: 'retries', count: 1, until: 'noon' } }, 'It waits: 1 notification retries, the next at noon.'],
  [{}, { state: 'stopped', waits: { for: 'retries', count: 2, until: 'noon' } }, 'What is published waits: 2 notifications retry, the next at noon.'],
  [{ trouble: { headline: 'Outage' } }, { state: 'stopped' }, 'What is published waits, as the verdict says: Outage.'],
]);

table('A campaign says above which share of failures it pauses', limit, [
  [{}, false], [{ pauseIfFailures: null }, false], [{ pauseIfFailures: 0.99 }, ' · pauses if more than 99 % fail'], [{ pauseIfFailures: 0.0725 }, ' · pauses if more than 7.25 % fail'],
]);

const gcm = { state: 'bad', key: 'push-service-failing gcm', headline: 'gcm delivers nothing', where: ['gcm'] };
table('A finding of the verdict concerns a campaign whose open notifications wait for it', concerning, [
  [null, { open: 1 }, null], [{ state: 'good' }, { pns: ['apns'], open: 1 }, null],
  [gcm, { pns: ['apns'], open: 2, perSecond: 0 }, null], [gcm, { pns: ['gcm'], open: 2 }, { headline: 'gcm delivers nothing' }],
  [gcm, { pns: ['gcm'], open: 0 }, null], [gcm, { pns: ['apns', 'gcm'], open: 2 }, { headline: 'gcm delivers nothing', services: ['gcm'] }],
  [{ state: 'warn', headline: 'x', others: [{ state: 'bad', key: 'outage-breaker', headline: 'Outage' }] }, { pns: ['apns'], open: 2, perSecond: 5 }, { headline: 'Outage' }],
  [{ state: 'bad', key: 'partition-stuck', headline: 'A partition is stuck', where: ['notifications-3'] }, { pns: ['apns'], open: 2, perSecond: 5 }, null],
]);

table('Another start of a campaign has a name', startAgain, [
  [{ state: 'running', published: 3, publisher: { alive: true } }, 'Take it over'], [{ state: 'stopped', published: 3, publisher: { alive: false } }, 'Start it again'],
  [{ state: 'scheduled', published: 0, publisher: { alive: true } }, 'Change it'], [{ state: 'finished', published: 3, publishedAll: true }, 'Add people'], [{ state: 'finished', published: 3, publishedAll: true, expired: true }, null], [{ state: 'cancelled', published: 3 }, null], [{ state: 'running' }, null],
]);

table('A campaign that waits for its operator says what became of those who are published, and how far it goes', (campaign) => [sofar({ outcomes: none, open: 0, ...campaign }).map((pair) => pair.join(' ')).join(', '), behind(campaign)], [
  [{ hold: { recipients: 100, next: 1000 }, recipients: 2000, outcomes: { ...none, delivered: 97, failed: 2 }, open: 1 }, ['delivered 97, failed 2, open 1', 'goes on with the next 900, and waits again']],
  [{ hold: { recipients: 1000 }, recipients: 1990, formerRecipients: 10, feedback: { nobody: 4, refused: 1 } }, ['delivered 0, failed 0, nobody to reach (dead tokens) 4, refused by push services or the hub 1, open 0', 'goes on with the other 1\u202f000, to the end']],
]);

table('People are added in a form of their own', startPlace, [
  [{ name: 'a b', publishedAll: true }, '/campaigns?new=a+b&add=people'], [{ name: 'spring' }, '/campaigns?new=spring'],
]);

table('A file that is no text is known when it is chosen', (text) => noText(Uint8Array.from(text, (character) => character.charCodeAt(0))), [
  ['PK\u0003\u0004rest', 'the file is an Excel workbook (xlsx) or another ZIP archive; save its sheet as CSV UTF-8'], ['user,name\n', null], ['', null],
]);

table('What was not typed keeps the first messages hidden', unseenParts, [
  [['message'], 'the message was'], [['title', 'data.order'], 'the title and the data order were'],
]);

table('What outcomes wait for is said once, by the campaign itself', waits, [
  [undefined, null], [{}, null], [{ waits: { reason: 'last-outcomes', sentence: 'It waits for the last 9 outcomes.' } }, null],
  [{ open: 10000, waits: { reason: 'open-outcomes', sentence: 'x' } }, 'It publishes more once outcomes come: 10\u202f000 are open, as many as may be'],
  [{ waits: { reason: 'rate', sentence: 'It waits for its rate.' } }, 'It waits for its rate.'],
]);

table('An order says what was done, and not how the campaign stands', ordered, [
  ['resume', { changed: true, is: 'running' }, 'The campaign is resumed.'], ['pause', { changed: false, is: 'paused' }, 'The campaign was paused already.'],
  ['finish', { changed: true, is: 'running' }, 'The campaign is finished.'], ['cancel', { changed: true, is: 'cancelled' }, 'The campaign is cancelled.'],
]);

const silent = (state, silentSeconds) => ({ state, publisher: { by: 'ann', silentSeconds } });
table('A publisher is at work until it is silent for longer than its reports take', atWork, [
  [silent('running', 3), 'Its publisher, ann, is at work (last report 3 s ago).'], [silent('paused', 0), 'Its publisher, ann, waits until it is resumed (last report 1 s ago).'],
  [silent('scheduled', 2), 'Its publisher, ann, waits for that moment (last report 2 s ago).'],
  [silent('running', 12), 'Its publisher, ann, is silent: last report 12 s ago. It reports every five seconds.'],
]);

table('Each push service has its people and what became of their notifications', serviceRows, [
  [{ published: 10 }, []],
  [{ published: 10, byPushService: { apns: { delivered: 7, failed: 1, expired: 0, cancelled: 0, open: 2 }, gcm: { delivered: 9, failed: 0, expired: 1, cancelled: 0, open: 0 } } },
    [['apns', '10', '7', '1', '0', '2'], ['gcm', '10', '9', '0', '1', '0']]],
]);

table("A file's beginning names its columns", columnsOf, [
  ['user,name\r\nann,Ann\n', ['user', 'name']], ['\uFEFFE-Mail;"first; name";a,b\n1;2;3', ['E-Mail', 'first; name', 'a,b']],
  ['a\tb\n', ['a', 'b']], ['a|b', ['a', 'b']], ['{"id":1,"name":"x"}\n', ['id', 'name']], ['{"id":', []], ['', []], ['"say ""hi""",b', ['say "hi"', 'b']],
]);

table('The encoding of a file is known by its mark, or by the zeros of plain text', (bytes) => encodingOf(Uint8Array.from(bytes)), [
  [[0xff, 0xfe, 0x75, 0], 'utf-16le'], [[0xfe, 0xff, 0, 0x75], 'utf-16be'], [[0x75, 0, 0x73, 0], 'utf-16le'], [[0, 0x75, 0, 0x73], 'utf-16be'],
  [[0x75, 0x73], 'utf-8'], [[0xef, 0xbb, 0xbf, 0x75], 'utf-8'], [[], 'utf-8'],
]);

table('The column with the users is chosen among those of the file', columnHint, [
  [null, [], 'Empty: user.'], ['spring', ['a', 'b'], 'Empty: as at the last start. The file has: a, b.'],
  [null, ['Gr\uFFFD\uFFFDe', 'user'], 'Empty: user. The file is not UTF-8: the preview shows how it may read.'],
]);

table('Those who were not reached are counted by cause', causes, [
  [{ people: { causes: [{ why: 'failed', reason: 'invalid', count: 3 }, { why: 'no outcome yet', reason: '', count: 1 }, { why: 'suppressed', reason: 'opted-out', count: 12 }] } },
    [['failed: invalid', '3'], ['no outcome yet', '1'], ['suppressed: they have opted out', '12']]],
]);

table('A list of people says what it lacks, and what may change', listNotes, [
  [{ people: { omitted: [], unpublished: 0 } }, []],
  [{ people: { stillNotified: '2 of them may.', omitted: ['4 notifications were delivered without title.'], unpublished: 1 } }, ['2 of them may.', '4 notifications were delivered without title.',
    '1 recipient was never published and is not in the lists, because the audience’s file alone names them: choose it above, and make the report again.']],
]);

table('Lines NAME=TEXT are the data for the app', (text) => sent({ data: dataOf(text) }).data, [
  ['', undefined], [' \n', undefined], ['order={{order}}\r\n\n a.b = 1=1 ', { order: '{{order}}', 'a.b': '1=1' }],
]);

test('A line without =, or a name twice, is refused', () => {
  assert.throws(() => dataOf('order 17'), { field: 'data', reason: '“order 17” has no =; a line is NAME=TEXT' });
  assert.throws(() => dataOf('a=1\na=2'), { field: 'data', reason: 'a is given twice' });
  assert.deepEqual(Object.keys(dataOf('__proto__=x')), ['__proto__']);
});

table('The form has what was filled in beside the message', (fields) => sent({ content: contentOf((id) => fields[id]) }).content, [
  [{}, undefined], [{ title: 'Spring', badge: '0', data: 'a=1' }, { title: 'Spring', badge: 0, data: { a: '1' } }],
]);

test('The table of first messages has a column for each part that one of them has', () => {
  const samples = [{ user: 'ann', message: 'Hi', title: 'T', data: { a: '1', b: '2' } }, { user: 'bob', message: 'Ho' }];
  assert.deepEqual(firstMessages(samples).columns.map(({ title }) => title), ['User', 'Message', 'Title', 'Data']);
  assert.deepEqual(firstMessages(samples).rows, [['ann', 'Hi', 'T', 'a=1, b=2'], ['bob', 'Ho', '', '']]);
  assert.deepEqual(contentFacts({ badge: 0 }), [['Badge', '0']]);
});

table('A phone shows title, text and the host of the picture', shown, [
  [{ title: 'T', message: 'a⏎b', image: 'https://shop.example/a.png' }, 'iPhone', { heading: 'T', text: 'a\nb', host: 'shop.example' }],
  [{ message: 'a' }, 'iPhone', { heading: 'Your app', text: 'a', host: '' }], [{ message: 'a', image: 'x' }, 'Android', { heading: '', text: 'a', host: '' }],
]);

const lacking = (found, phone) => [...missing(found, phone)];
table('A phone lacks what one of its push services does not get', lacking, [
  [{ pns: ['apns', 'gcm'] }, 'iPhone', []], [{ pns: ['apns', 'gcm'], omitted: { gcm: ['badge'] } }, 'iPhone', []],
  [{ pns: ['apns', 'gcm'], omitted: { gcm: ['badge'] } }, 'Android', ['badge']], [{ pns: ['gcm'], omitted: { gcm: ['title'] } }, 'iPhone', ['title']],
  [{ pns: ['gcm', 'wns'], omitted: { wns: ['image'] } }, 'Android', []], [{ pns: ['gcm', 'wns'], omitted: { wns: ['image'] } }, 'Windows', ['image']],
]);

table('Whoever gets the longest and the emptiest notification can be looked at, with the reason', (found) => views(found).map(([{ user }, why]) => [user, why]), [
  [{ samples: [{ user: 'ann' }], longest: { user: 'ann', characters: 9 } }, [['ann', 'the first']]],
  [{ samples: [{ user: 'ann' }], longest: { user: 'max', characters: 9 }, emptiest: { user: 'bob', emptyFields: ['name', 'city'] } },
    [['ann', 'the first'], ['max', 'the longest, with 9 characters'], ['bob', 'the emptiest, without name, city']]],
]);

test('A phone does not draw what does not reach it', () => {
  const sample = { title: 'T', message: 'a', image: 'https://shop.example/a.png' };
  assert.deepEqual(shown(sample, 'iPhone', new Set(['title', 'image'])), { heading: 'Your app', text: 'a', host: '' });
  assert.deepEqual(shown(sample, 'Android', new Set(['title'])), { heading: '', text: 'a', host: 'shop.example' });
});

table('A refusal names the fields of the form', inForm, [
  ['a start with --ramp none goes on without them', 'a start with none under “Begin with” goes on without them'],
  ['campaign alt is paused (x); resume it first with: herald campaign resume alt; then start it again', 'campaign alt is paused (x); preview it again, and it is resumed with the start'],
  ['as MACINTOSH; leave out --encoding, or add --replace-audience', 'as MACINTOSH; leave “Encoding” empty, or tick “Another audience takes the place of the one that this campaign had, which its page says for ever”'],
  ['or add --replace-audience, which its status then says for ever', 'or tick “Another audience takes the place of the one that this campaign had, which its page says for ever”'],
  ['(people may be added at its end; or alone, with --add-people, once all are published)', '(people may be added at its end; or alone, with “Add people” on its page, once all are published)'],
  ['allow more with --max-invalid', 'allow more with “Allow invalid lines up to”'], ['--rate 100/s', '“Recipients a second” 100/s'],
]);

test("A campaign's job is the newest that publishes it, while it does or when it has failed", () => {
  const job = (id, kind, campaign, state = 'running') => ({ id, kind, state, about: campaign && { campaign } });
  const jobs = [job(5, 'dlq.replay', 'a'), job(4, 'campaign.publish', 'b'), job(3, 'campaign.publish', 'a'), job(2, 'campaign.publish', 'a'), job(1, 'campaign.publish')];
  assert.deepEqual(ofCampaign(jobs, 'a').map(({ id }) => id), [3]);
  assert.deepEqual(ofCampaign(jobs, 'c'), []);
  const kept = (state) => ofCampaign([job(7, 'campaign.publish', 'a', state), ...jobs], 'a').map(({ id }) => id);
  assert.deepEqual(['stopping', 'failed', 'stopped', 'done'].map(kept), [[7], [7], [], []]);
});

table('Added people are named permanently', added, [
  [{ at: '2026-11-21T08:40:26.000Z', by: 'ann@web1', recipients: 1 }, ` 1 recipient added at ${moment('2026-11-21T08:40:26.000Z')} by ann@web1.`],
]);

test('A preview of a continued campaign counts the people left', () => {
  const preview = { recipients: 1500, toNotify: 20, readAs: 'CSV with tabs', repeats: 0, invalid: 0, pns: ['apns', 'gcm'], topic: 't', longestMessageBytes: 1 };
  const rows = new Map(expected({ preview }));
  assert.equal(rows.get('Notifications'), '40 for apns and gcm');
  assert.equal(rows.get('Read as'), 'CSV with tabs');
});

test('A preview counts a notification for each push service', () => {
  const preview = { recipients: 1500, toNotify: 1500, repeats: 2, invalid: 0, pns: ['apns', 'gcm'], topic: 'notifications', ramp: [1, 5, 1000], rampLeft: [1, 1000], longestMessageBytes: 1024 };
  assert.deepEqual(expected({ preview, duration: '8 s' }), [
    ['Lines', '1\u202f502'], ['Recipients', '1\u202f500'], ['Repeats', '2'], ['Invalid lines', '0'], ['Notifications', '3\u202f000 for apns and gcm'], ['Topic', 'notifications'],
    ['Takes', '8 s'], ['Begins with', '1, 1\u202f000, and waits for their outcomes'], ['Longest message', '1\u202f024 bytes']]);
  assert.deepEqual(expected({ preview: { ...preview, rampLeft: undefined } }).map(([name]) => name),
    ['Lines', 'Recipients', 'Repeats', 'Invalid lines', 'Notifications', 'Topic', 'Longest message']);
});

test('A preview that leaves people out counts the lines of the list', () => {
  const preview = { recipients: 2, toNotify: 2, repeats: 0, invalid: 0, excluded: 3, lineSum: '5 lines = 2 recipients + 3 delivered by spring', pns: ['apns'] };
  assert.deepEqual(expected({ preview }).slice(0, 2), [['Lines', '5 lines = 2 recipients + 3 delivered by spring'], ['Recipients', '2']]);
});

test('A test shows each outcome with its status and why', () => {
  assert.deepEqual(trialOutcomes({ outcomes: [{ user: 'me', pns: 'apns', outcome: 'delivered' }, { user: 'me', pns: 'gcm', outcome: 'dead-lettered', status: 404, detail: 'gone' }] }).rows,
    [['me', 'apns', 'delivered', ''], ['me', 'gcm', 'dead-lettered', 'status 404: gone']]);
});

table('The question before a start has its numbers, and asks for no 0', (preview) => question({ pns: ['apns', 'gcm'], ...preview }).title, [
  [{ toNotify: 1, invalid: 0 }, 'Notify 1 recipient?'], [{ toNotify: 1500, invalid: 1 }, 'Leave this invalid line out and notify the other 1\u202f500?'],
  [{ toNotify: 0, invalid: 3 }, 'Everybody is published. Go on with what the form says?'],
]);

table('A start that waits is asked for with its moment, and with what the verdict says now', (preview) => Object.values(question({ pns: ['gcm'], invalid: 0, toNotify: 2, ...preview }, gcm)).slice(0, 3), [
  [{ start: { words: '2026-12-24 09:00 (Europe/Berlin)', late: false } }, ['Notify 2 recipients, from 2026-12-24 09:00 (Europe/Berlin) on?', 'Notify 2',
    'Now they would wait, because the verdict says: gcm delivers nothing. 2 notifications go to gcm. Nobody is notified before; this console has to run then. Pause stops the rest at once; what is delivered is delivered.']],
]);

table('Date and time name a moment in the zone of the browser', momentOf, [
  [undefined, undefined, 'Europe/Berlin', false, {}], ['2026-12-24', '09:00', 'Europe/Berlin', false, { at: '2026-12-24T09:00', zone: 'Europe/Berlin' }],
  ['2026-12-24', '09:00', 'Europe/Berlin', true, { at: 'now' }],
]);

test('A day without a time, and a time without a day, are refused at the field that is empty', () => {
  assert.throws(() => momentOf('2026-12-24', undefined, 'UTC', false), { field: 'atTime' });
  assert.throws(() => momentOf(undefined, '09:00', 'UTC', false), { field: 'at' });
});

table('The question before a start says what the notifications would wait for', (preview, verdict) => question({ invalid: 0, toNotify: 2, ...preview }, verdict).body.split('. ')[0], [
  [{ pns: ['apns'] }, gcm, '2 notifications go to apns'], [{ pns: ['apns', 'gcm'] }, gcm, 'Now they would wait on gcm, because the verdict says: gcm delivers nothing'],
  [{ pns: ['apns'] }, { state: 'warn', key: 'outage-breaker', headline: 'The outage may be over' }, 'The verdict says: The outage may be over'],
]);

table('The question before a start of a paused campaign says that it resumes it', (preview) => question({ pns: ['apns'], invalid: 0, isPaused: true, ...preview }).body.split(':')[0], [
  [{ toNotify: 0 }, 'It is paused'], [{ toNotify: 3 }, 'It is paused'],
]);

table('The question before a start says from whom it takes over', (preview) => question({ pns: ['apns'], invalid: 0, toNotify: 2, publisher: 'carl@web1 pid 7', ...preview }).body.split('. '), [
  [{}, ['It takes over from carl@web1 pid 7, whose publishing ends', '2 notifications go to apns', 'Pause stops the rest at once; what is delivered is delivered.']],
  [{ isPaused: true, toNotify: 0 }, ['It is paused: this resumes it first, and what waits is sent', 'It takes over from carl@web1 pid 7, whose publishing ends', 'Nobody is notified again', 'A new limit of failures holds from now on.']],
]);

table('The box of a report promises each what he gets', reportWords, [
  [true, 'Who was not reached and why, and files to save: a page with outcomes over time and failures by reason, and lists of results and people as CSV; without the message.'],
  [false, 'Who was not reached and why, and a file to save: a page with outcomes over time and failures by reason; without the message.'],
]);

table('A replaced audience is named permanently', replaced, [
  [{ at: '2026-11-21T08:40:26.000Z', by: 'ann@web1', recipients: 15000, unpublished: 6356 },
    ` Another audience since ${moment('2026-11-21T08:40:26.000Z')} by ann@web1: ${number(6356)} of ${number(15000)} were not published by then.`],
]);
