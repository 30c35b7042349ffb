import assert from 'node:assert/strict';
import test from 'node:test';
import { changed, destination, link, placeOf } from '#console/Frame/lib/place.js';
import { table } from './table.mjs';

table('Empty values are left out of an address', link, [
  ['/find', undefined, '/find'], ['/find', {}, '/find'],
  ['/find', { user: 'ann', id: '', since: null, all: undefined }, '/find?user=ann'],
  ['/find', { offset: 0, all: false }, '/find?offset=0&all=false'],
  ['/failures', { where: "status = 503 & user = 'ä'" }, '/failures?where=status+%3D+503+%26+user+%3D+%27%C3%A4%27'],
]);

table('A place has a page and the segments after it', (pathname) => {
  const { page, rest } = placeOf({ pathname, search: '' });
  return [page, ...rest];
}, [
  ['/', ['']], ['/now', ['now']], ['/failures/letter/0:17', ['failures', 'letter', '0:17']], ['//now/', ['now']],
  ['/campaigns/a%2Fb%20c', ['campaigns', 'a/b c']],
  // A malformed address, which names nothing.
  ['/campaigns/100%', ['campaigns', '100%']], ['/%E4', ['%E4']],
]);

test('A place has the query', () => {
  const { path, query } = placeOf({ pathname: '/find', search: '?user=a+b&id=%C3%A4' });
  assert.deepEqual([path, ...query], ['/find', ['user', 'a b'], ['id', 'ä']]);
});

test('An address is read as it was written', () => {
  for (const value of ['a b', '+', '&=?#', '%', 'ä/ö', "'", '\u202e']) {
    const url = new URL(link(`/campaigns/${encodeURIComponent(value)}`, { value }), 'http://localhost');
    const place = placeOf(url);
    assert.deepEqual([place.rest, place.query.get('value')], [[value], value]);
  }
});

table('Parameters change, and others stay', (search, changes) => changed({ pathname: '/failures', search }, changes), [
  ['', {}, '/failures'], ['', { by: 'status' }, '/failures?by=status'], ['?by=status&since=2h', { by: null }, '/failures?since=2h'],
  ['?by=status', { by: 'topic', since: '' }, '/failures?by=topic'], ['?by=status', { by: undefined }, '/failures'],
  ['?new=&by=topic', { by: null }, '/failures?new='],
]);

const plain = { defaultPrevented: false, button: 0, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false };
const anchor = (href, attributes = {}) => ({ href: new URL(href, 'http://console').href, target: '', hasAttribute: (name) => name in attributes, ...attributes });

table('A link within the console is followed without reloading', (href) => destination(plain, anchor(href), 'http://console'), [
  ['/now', '/now'], ['/find?user=a+b', '/find?user=a+b'], ['/apiary', '/apiary'],
  ['/api/failures/export?format=csv', null], ['http://elsewhere/now', null], ['https://console/now', null], ['/now#main', null], ['mailto:ann@console', null],
]);

table('Clicks and links for the browser are left to it', (click, attributes) => destination({ ...plain, ...click }, anchor('/now', attributes), 'http://console'), [
  [{}, {}, '/now'], [{ defaultPrevented: true }, {}, null], [{ button: 1 }, {}, null], [{ ctrlKey: true }, {}, null], [{ metaKey: true }, {}, null],
  [{ shiftKey: true }, {}, null], [{ altKey: true }, {}, null], [{}, { target: '_blank' }, null], [{}, { download: 'a.csv' }, null],
]);
