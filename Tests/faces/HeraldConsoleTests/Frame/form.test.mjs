import assert from 'node:assert/strict';
import test from 'node:test';
import { forgetTyped, typeAgain, typedIn } from '#console/Frame/lib/form.js';

const form = (values = {}) => [
  { id: 'name', type: 'text', value: '' }, { id: 'apns', type: 'checkbox', checked: false }, { id: 'audience', type: 'file', files: [] },
  { id: 'topic', type: 'select-one', value: 'bulk', options: [{ value: 'bulk' }, { value: 'fast' }] },
  { id: 'token', type: 'password', value: '' }, { id: 'typed', type: 'text', value: '', dataset: { confirms: 'true' } }, { id: '', type: 'submit', value: '' },
].map((input) => ({ ...input, ...values[input.id] }));

test('What was typed in a form is typed again, without secrets, confirmations and the file itself', () => {
  const typed = typedIn(form({
    name: { value: 'spring' }, apns: { checked: true }, audience: { files: [{ name: 'users.csv' }] }, topic: { value: 'fast' }, token: { value: 'secret' }, typed: { value: '300' },
  }));
  assert.deepEqual(typed, { name: 'spring', apns: true, audience: ['users.csv'], topic: 'fast' });
  const again = form();
  assert.deepEqual(typeAgain(again, typed), { audience: ['users.csv'] });
  assert.deepEqual(again.map(({ value, checked }) => value ?? checked), ['spring', true, undefined, 'fast', '', '', '']);
});

test('A choice that is gone, and fields that are new, stay as they are', () => {
  const again = form();
  assert.deepEqual(typeAgain(again, { topic: 'dropped', other: 'x' }), {});
  assert.deepEqual(again, form());
});

test('Who signs out leaves nothing that was typed', () => {
  globalThis.sessionStorage = { 'typed ann /campaigns?new= form': '{}', other: '1', removeItem(name) { delete this[name]; } };
  forgetTyped();
  assert.deepEqual(Object.keys(sessionStorage), ['other', 'removeItem']);
  delete globalThis.sessionStorage;
});
