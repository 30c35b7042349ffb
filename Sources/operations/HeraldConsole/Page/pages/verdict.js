// What is the matter, since when, how many wait, and what to do first.

import { get, onNews } from '../lib/api.js';
import { command } from '../lib/command.js';
import { h, replace } from '../lib/dom.js';
import { ago, count, time } from '../lib/format.js';

const words = { good: 'All is well', warn: 'Look at this', bad: 'Act now', unknown: 'Not known' };
const kinds = { good: 'good', warn: 'warn', bad: 'bad', unknown: 'quiet' };

const badge = (state) => h('span', { class: `badge ${kinds[state] ?? 'quiet'}` }, words[state] ?? state);

/** The sentence with the time as the reader's clock shows it. */
function sentence({ headline, since, cause }) {
  return [headline, since && [' since ', time(since)], cause && `: ${cause}`];
}

function facts(finding) {
  const entries = [
    finding.since && ['Since', [time(finding.since), ` (${ago(finding.since)})`]],
    finding.waiting !== null && finding.waiting !== undefined && ['Events that wait', count(finding.waiting)],
    finding.retrying > 0 && ['Events that wait for a retry', count(finding.retrying)],
  ].filter(Boolean);
  return entries.length > 0 && h('dl', {}, entries.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}

function step(next) {
  if (!next) return null;
  return [
    h('p', {}, next.sentence),
    next.href && h('p', {}, h('a', { class: 'button primary', href: next.href }, next.href === '/failures' ? 'See the failures' : 'Look there')),
    next.command && command(next.command),
    h('p', { class: 'muted' }, 'Runbook: ', h('code', {}, `docs/RUNBOOK.md#${next.section}`)),
  ];
}

function other(finding) {
  return h('section', { class: 'card other', 'aria-label': finding.headline },
    h('h3', {}, badge(finding.state), ' ', sentence(finding)), h('div', { class: 'facts' }, facts(finding)), step(finding.next));
}

/** What stays on the page while its numbers change: focus and selection live in it. */
export function shape(verdict) {
  return JSON.stringify([verdict, ...verdict.others].map(({ key, state, since, next }) => [key, state, since, next]));
}

export async function show(main) {
  const heading = h('h1', { id: 'verdict-heading' }, 'Verdict');
  const live = h('p', { class: 'unseen', role: 'status' });
  const body = h('div', {});
  main.append(heading, live, body);
  let shown = null;
  let said = null;

  function draw(verdict) {
    if (!verdict) return;
    const key = `${verdict.key} ${verdict.state}`;
    if (key !== said) replace(live, `Verdict: ${verdict.sentence}`);
    said = key;
    replace(heading, badge(verdict.state), ' ', sentence(verdict));
    const present = shape(verdict);
    if (present === shown) {
      for (const [index, finding] of [verdict, ...verdict.others].entries()) {
        const place = body.querySelectorAll('.facts')[index];
        if (place) replace(place, facts(finding));
      }
      return;
    }
    shown = present;
    replace(body,
      h('section', { class: `card first ${kinds[verdict.state] ?? 'quiet'}`, 'aria-labelledby': 'verdict-next' },
        h('h2', { id: 'verdict-next' }, verdict.state === 'good' ? 'Nothing to do' : 'What to do first'),
        h('div', { class: 'facts' }, facts(verdict)), step(verdict.next)),
      verdict.others.length > 0 && [h('h2', {}, 'Besides'), verdict.others.map(other)],
      h('p', {}, h('a', { href: '/now' }, 'Rates, limits and what waits, now')));
  }

  const end = onNews('verdict', draw);
  if (!shown) draw(await get('/api/verdict'));
  return end;
}
