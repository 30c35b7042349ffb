import { choices, entriesOf, entryWords } from '#console/Pages/Preferences/preferences.js';
import { table } from '../../Frame/table.mjs';

table('A form shows each entry of an opt-out', choices, [
  [[], { all: false, promotional: false, pns: [], sources: [] }],
  [['all', 'promotional', 'pns:apns', 'pns:sms', 'source:shop', 'source:a:b'], { all: true, promotional: true, pns: ['apns', 'sms'], sources: ['shop', 'a:b'] }],
]);

table('What a form has chosen is an opt-out', entriesOf, [
  [{ all: false, promotional: false, pns: [], sources: ' ' }, []],
  [{ all: true, promotional: true, pns: ['apns'], sources: 'shop, a:b,' }, ['all', 'promotional', 'pns:apns', 'source:shop', 'source:a:b']],
]);

table('An entry is said in words', entryWords, [
  ['all', 'everything'], ['promotional', 'advertisements'], ['pns:apns', 'anything by apns'], ['source:shop', 'advertisements of shop'],
]);
