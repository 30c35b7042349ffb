import { choices, entriesOf, entryWords, hoursOf, hoursShown, wordsOf } from '#console/Pages/Preferences/preferences.js';
import { table } from '../../Frame/table.mjs';

table('A form shows each entry of an opt-out', choices, [
  [[], { all: false, promotional: false, pns: [], sources: [] }],
  [['all', 'promotional', 'pns:apns', 'pns:sms', 'source:shop', 'source:a:b'], { all: true, promotional: true, pns: ['apns', 'sms'], sources: ['shop', 'a:b'] }],
]);

table('What a form has chosen is an opt-out', entriesOf, [
  [{ all: false, promotional: false, pns: [], sources: ' ' }, []],
  [{ all: false, promotional: false, pns: [], sources: 'a,b' }, ['source:a,b']],
  [{ all: true, promotional: true, pns: ['apns'], sources: 'shop\na:b \n' }, ['all', 'promotional', 'pns:apns', 'source:shop', 'source:a:b']],
]);

table('An entry is said in words', entryWords, [
  ['all', 'everything'], ['promotional', 'advertisements'], ['pns:apns', 'anything by apns'], ['source:shop', 'advertisements of shop'],
]);

const week = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

table('A form shows quiet hours', hoursShown, [
  [undefined, { start: '', end: '', zone: '', days: [] }],
  [{ start: '22:00', end: '07:00', zone: 'Europe/Berlin' }, { start: '22:00', end: '07:00', zone: 'Europe/Berlin', days: week }],
  [{ start: '00:00', end: '24:00', days: ['sat', 'sun'] }, { start: '00:00', end: '00:00', zone: '', days: ['sat', 'sun'] }],
]);

table('What a form has is quiet hours as commands take them', hoursOf, [
  [{ start: '', end: '', zone: 'Europe/Berlin', days: week }, 'none'],
  [{ start: '22:00', end: '07:00', zone: ' Europe/Berlin ', days: [] }, '22:00-07:00 Europe/Berlin'],
  [{ start: '00:00', end: '00:00', zone: '', days: ['sat', 'sun'] }, '00:00-24:00 sat,sun'],
  [{ start: '22:00', end: '', zone: '', days: week }, '22:00-'],
]);

table('A question says the whole word', wordsOf, [
  [{ optOut: [], quiet: 'none' }, ['Does not want: nothing.', 'Quiet hours: none.']],
  [{ optOut: ['promotional'], quiet: '22:00-07:00' }, ['Does not want: advertisements.', 'Quiet hours: 22:00-07:00.']],
]);
