import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';

const folder = new URL('../../../../Sources/faces/HeraldConsole/', import.meta.url);
const text = (name) => readFileSync(new URL(name, folder), 'utf8');
// The modules look for the page's elements, which do not exist here.
const registered = [...text('Frame/pages.js').matchAll(/\{ name: '(\w*)', title: '(\w+)', module: (\w+) \}/g)].map((found) => found.slice(1));
const registeredNames = registered.map(([name, , module]) => name || module);

test("Each page's folder is registered under its name, and has its script", () => {
  const names = readdirSync(new URL('Pages/', folder));
  assert.deepEqual(registeredNames.toSorted(), names.map((name) => name.toLowerCase()).toSorted());
  for (const name of names) assert.ok(text(`Pages/${name}/${name.toLowerCase()}.js`), name);
  assert.deepEqual(registered.map(([, , module]) => module), registeredNames);
});

test('Each page is described in docs/CONSOLE.md', () => {
  const document = readFileSync(new URL('../../../../docs/CONSOLE.md', import.meta.url), 'utf8');
  for (const [, title] of registered) assert.ok(document.includes(`\n| ${title} | `), title);
});

test('Each outcome that a campaign counts has its own pattern', async () => {
  const { unreached } = await import('#console/Frame/lib/vocabulary.js');
  for (const name of unreached) assert.ok(text('Pages/Campaigns/campaigns.css').includes(`.part-${name} {`), name);
});
