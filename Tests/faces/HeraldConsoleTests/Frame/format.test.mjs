import { ago, count, duration, moment, percent, plural, rate, sentence, shares, visible, zone } from '#console/Frame/lib/format.js';
import { table } from './table.mjs';

// East of Greenwich, by a number of half hours, without summer time.
process.env.TZ = 'Asia/Kolkata';

table('Thousands are separated by a narrow no-break space', count, [
  [0, '0'], [999, '999'], [1000, '1\u202f000'], [1234567, '1\u202f234\u202f567'], [-4200, '-4\u202f200'], [12.5, '13'],
  [null, '–'], [undefined, '–'],
]);

table('A number has its noun, in the singular for one', plural, [
  [0, 'notification', '0 notifications'], [1, 'dead letter', '1 dead letter'], [1234, 'notification', '1\u202f234 notifications'],
  [undefined, 'notification', '– notifications'],
]);

table('A rate has a decimal below ten', rate, [
  [0, '0/s'], [0.25, '0.3/s'], [9.94, '9.9/s'], [9.97, '10/s'], [10.4, '10/s'], [1234.5, '1\u202f235/s'], [null, '–'], [undefined, '–'],
]);

table('A duration has its two largest units', duration, [
  [0, '0 ms'], [1, '1 ms'], [999, '999 ms'], [999.4, '999 ms'], [999.5, '1 s'], [1000, '1 s'], [1499, '1 s'], [59_499, '59 s'], [59_500, '1 min'], [60_000, '1 min'],
  [61_000, '1 min 1 s'], [119_999, '2 min'], [3_599_999, '1 h'], [3_600_000, '1 h'], [3_659_000, '1 h'], [3_660_000, '1 h 1 min'],
  [86_400_000, '1 d'], [86_400_000 + 3_599_000, '1 d'], [90_000_000, '1 d 1 h'], [400 * 86_400_000, '400 d'], [null, '–'], [undefined, '–'],
]);

table('Shares add up to 100%, and only the whole is that, and only nothing is 0%', (...parts) => shares(parts).join(' '), [
  [0, 10, '0.0% 100.0%'], [1, 1, 1, '33.4% 33.3% 33.3%'], [1, 999_999, '0.1% 99.9%'], [10, '100.0%'], [0, 0, '– –'],
  [1, 1, 999_998, '0.1% 0.1% 99.8%'], [1245, 600, 155, '62.2% 30.0% 7.8%'],
  [5885, 33, 14, '99.2% 0.6% 0.2%'], [33, 3000, 2899, '0.6% 50.5% 48.9%'],
]);

table('A share in percent has no rounding error', percent, [
  [0, '0'], [0.05, '5'], [0.07, '7'], [0.14, '14'], [0.29, '29'], [0.0025, '0.25'], [1 / 3, '33.3333333333'], [1, '100'],
]);

const now = new Date('2026-03-04T08:00:00Z');
table('A zone is its offset from UTC', (minutes) => zone({ getTimezoneOffset: () => minutes }), [
  [0, 'UTC'], [-60, 'UTC+1'], [-330, 'UTC+5:30'], [300, 'UTC\u22125'], [210, 'UTC\u22123:30'],
]);

table('A time is in local time, with its zone', (text) => moment(text, now), [
  ['2026-03-04T07:08:09.123Z', '12:38:09 UTC+5:30'],
  ['2026-03-03T18:30:00Z', '00:00:00 UTC+5:30'],
  ['2026-03-03T18:29:59Z', '2026-03-03 23:59:59 UTC+5:30'], ['2026-03-04T18:30:00Z', '2026-03-05 00:00:00 UTC+5:30'], ['2025-12-31T00:00:00Z', '2025-12-31 05:30:00 UTC+5:30'],
  ['soon', null],
]);

table('The age of a time is never negative', (text) => ago(text, now.valueOf()), [
  ['2026-03-04T07:58:30Z', '1 min 30 s ago'], ['2026-03-04T08:00:01Z', '0 ms ago'], ['', '–'], [null, '–'], [undefined, '–'],
]);

table('Control characters and writing-direction marks are spelled out', visible, [
  ['reason=größe, 数', 'reason=größe, 数'], ['a\nb\u0000', 'a\\u{A}b\\u{0}'], ['\u001b[31mred\u007f\u009b', '\\u{1B}[31mred\\u{7F}\\u{9B}'],
  ['\u202egpj.exe', '\\u{202E}gpj.exe'], ['\u2066a\u2069\u200f\u061c', '\\u{2066}a\\u{2069}\\u{200F}\\u{61C}'], ['\ufeff\u2028', '\\u{FEFF}\\u{2028}'],
]);

table('A text from the server is a sentence of its own', sentence, [
  ['waits for 1 outcome', 'Waits for 1 outcome.'], ['it is paused. What ends this: a resume.', 'It is paused. What ends this: a resume.'],
]);
