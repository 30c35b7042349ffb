import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { anchor, blocks, inline, tableNames } from '#console/Frame/lib/markdown.js';
import { address } from '#console/Pages/Runbook/runbook.js';
import { table } from './table.mjs';

table('A heading has the anchor that forges give it', anchor, [
  ['HeraldLag', 'heraldlag'], ['A setting that cannot wait', 'a-setting-that-cannot-wait'], ['outage-tls', 'outage-tls'],
  ['What, and `why`?', 'what-and-why'],
]);

table('A line has texts, code, emphasis and links', inline, [
  ['plain', ['plain']],
  ['see `a|b *c*` and *live* ones', ['see ', ['code', 'a|b *c*'], ' and ', ['em', ['live']], ' ones']],
  ['**now**: [the `x`](#y).', [['strong', ['now']], ': ', ['link', ['the ', ['code', 'x']], '#y'], '.']],
  ['2 * 3 * 4 [sic]', ['2 * 3 * 4 [sic]']],
  ['<img src=x onerror=alert(1)>', ['<img src=x onerror=alert(1)>']],
]);

table('A text has its blocks', (...given) => blocks(given), [
  ['# One', '', 'two', 'three', '', '    four', '      five', '', [
    { kind: 'heading', level: 1, text: 'One' }, { kind: 'paragraph', text: 'two three' }, { kind: 'code', text: 'four\n  five' }]],
  ['1. one', '   more', '', '       code', '', '2. two', 'end', [
    { kind: 'list', isOrdered: true, items: [
      [{ kind: 'paragraph', text: 'one more' }, { kind: 'code', text: 'code' }], [{ kind: 'paragraph', text: 'two' }]] },
    { kind: 'paragraph', text: 'end' }]],
  ['- a', '- b', '', 'c', [
    { kind: 'list', isOrdered: false, items: [[{ kind: 'paragraph', text: 'a' }], [{ kind: 'paragraph', text: 'b' }]] }, { kind: 'paragraph', text: 'c' }]],
  ['| a | b |', '|---|---|', '| `x|y` | z |', [{ kind: 'table', head: ['a', 'b'], rows: [['`x|y`', 'z']] }]],
]);

const runbook = blocks(readFileSync(new URL('../../../../docs/RUNBOOK.md', import.meta.url), 'utf8').split('\n'));

function* lines(found) {
  for (const block of found) {
    if (block.kind === 'list') for (const item of block.items) yield* lines(item);
    else if (block.kind === 'table') yield* [block.head, ...block.rows].flat();
    else if (block.kind !== 'code') yield block.text;
  }
}

function* parts(found) {
  for (const part of found) {
    yield part;
    if (Array.isArray(part?.[1])) yield* parts(part[1]);
  }
}

test('No part of the runbook stays Markdown', () => {
  for (const line of lines(runbook)) {
    for (const part of parts(inline(line))) {
      if (typeof part === 'string') assert.doesNotMatch(part, /`|\]\(|\*\*|^\s*(?:-|\d+\.|#+|\|) /, line);
    }
  }
  for (const block of runbook) if (block.kind === 'table') for (const row of block.rows) assert.equal(row.length, block.head.length, row.join());
});

test('Every link within the runbook leads to one of its sections', () => {
  const headings = runbook.filter(({ kind }) => kind === 'heading').map(({ text }) => anchor(text));
  assert.equal(new Set(headings).size, headings.length);
  const targets = [...lines(runbook)].flatMap((line) => [...parts(inline(line))]).filter(([kind]) => kind === 'link').map(([, , target]) => target);
  assert.ok(targets.length > 30);
  for (const target of targets) if (target.startsWith('#')) assert.ok(headings.includes(target.slice(1)), target);
});

table('A link of the runbook leads to a section, or elsewhere when it names a site', address, [
  ['#heraldlag', '/runbook/heraldlag'], ['BACKEND.md', null], ['https://example.org/x', 'https://example.org/x'],
  ['data:text/html,x', null], ['../deploy/prometheus/rules.yaml', null],
]);

test('Each table is named after its heading, uniquely', () => {
  const found = blocks(['## The `pns` of **all**', '| a |', '|---|', '| 1 |', '', '| b |', '|---|', '| 2 |', '## Next', '| c |', '|---|']);
  assert.deepEqual([...tableNames(found).values()], ['Table of “The pns of all”', 'Table of “The pns of all”, 2', 'Table of “Next”']);
  const names = [...tableNames(runbook).values()];
  assert.ok(names.length > 1);
  assert.equal(new Set(names).size, names.length);
});
