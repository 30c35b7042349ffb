import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';

const folder = new URL('../../../../Sources/faces/HeraldConsole/Page/', import.meta.url);
const text = (name) => readFileSync(new URL(name, folder), 'utf8');
// The modules themselves look for the page's elements, which there are none of here.
const registered = [...text('pages.js').matchAll(/\{ name: '(\w*)', title: '(\w+)', module: (\w+) \}/g)].map((found) => found.slice(1));
const registeredNames = registered.map(([name, , module]) => name || module);

test('Each file of a page is registered under its name, and each registered page has its file', () => {
  const names = readdirSync(new URL('pages/', folder)).filter((name) => name.endsWith('.js')).map((name) => name.slice(0, -3));
  assert.deepEqual(registeredNames.toSorted(), names.toSorted());
  assert.deepEqual(registered.map(([, , module]) => module), registeredNames);
});

test('Each page stands in docs/CONSOLE.md', () => {
  const document = readFileSync(new URL('../../../../docs/CONSOLE.md', import.meta.url), 'utf8');
  for (const [, title] of registered) assert.ok(document.includes(`\n| ${title} | `), title);
});

test('Each outcome that a campaign counts has a pattern of its own', async () => {
  const { unreached } = await import('#page/lib/vocabulary.js');
  for (const name of unreached) assert.ok(text('pages/campaigns.css').includes(`.part-${name} {`), name);
});
