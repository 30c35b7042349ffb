// What is the matter, since when, how many wait, and what to do first.

import { get, onNews } from '../lib/api.js';
import { command } from '../lib/command.js';
import { h, replace } from '../lib/dom.js';
import { ago, count, time } from '../lib/format.js';
import { planButton } from '../lib/plan.js';

const words = { good: 'All is well', warn: 'Look at this', bad: 'Act now', unknown: 'Not known' };
const kinds = { good: 'good', warn: 'warn', bad: 'bad', unknown: 'quiet' };

const badge = (state) => h('span', { class: `badge ${kinds[state] ?? 'quiet'}` }, words[state] ?? state);

/** The sentence with the time as the reader's clock shows it. */
export function sentence({ headline, since, cause }) {
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

function step(next, app) {
  if (!next) return null;
  return [
    h('p', {}, next.sentence),
    (next.href || next.plan) && h('p', { class: 'toolbar' },
      next.href && h('a', { class: 'button primary', href: next.href }, next.href.startsWith('/failures') ? 'See the failures' : 'Look there'),
      next.plan && app.viewer?.role === 'operator' && planButton('Plan their replay', () => ({ filter: next.plan }), 'Plan the replay of these dead letters', { class: 'plan' })),
    next.command && command(next.command),
    h('p', { class: 'muted' }, 'Runbook: ', h('code', {}, `docs/RUNBOOK.md#${next.section}`)),
  ];
}

function other(finding, app) {
  return h('section', { class: 'card other', 'aria-label': finding.headline },
    h('h3', {}, badge(finding.state), ' ', h('span', { class: 'sentence' }, sentence(finding))), h('div', { class: 'facts' }, facts(finding)), step(finding.next, app));
}

/** What stays on the page while its numbers change: focus and selection live in it. */
export function shape(verdict) {
  return JSON.stringify([verdict, ...verdict.others].map(({ key, state, since, next }) => [key, state, since, next]));
}

export async function show(main, place, app) {
  const heading = h('h1', { id: 'verdict-heading' }, 'Verdict');
  const live = h('p', { class: 'unseen', role: 'status' });
  const body = h('div', {});
  main.append(heading, live, body);
  let shown = null;
  let said = null;
  let latest = null;

  // Facts and sentences are those of now, whatever stays.
  function refresh() {
    const findings = [latest, ...latest.others];
    for (const [index, place] of body.querySelectorAll('.facts').entries()) replace(place, facts(findings[index]));
    for (const [index, place] of body.querySelectorAll('.sentence').entries()) replace(place, sentence(latest.others[index]));
  }

  function draw(verdict) {
    if (!verdict) return;
    latest = verdict;
    const key = `${verdict.key} ${verdict.state}`;
    if (key !== said) replace(live, `Verdict: ${verdict.sentence}`);
    said = key;
    replace(heading, badge(verdict.state), ' ', sentence(verdict));
    const present = shape(verdict);
    if (present === shown) {
      refresh();
      return;
    }
    shown = present;
    replace(body,
      h('section', { class: `card first ${kinds[verdict.state] ?? 'quiet'}`, 'aria-labelledby': 'verdict-next' },
        h('h2', { id: 'verdict-next' }, verdict.state === 'good' ? 'Nothing to do' : 'What to do first'),
        h('div', { class: 'facts' }, facts(verdict)), step(verdict.next, app)),
      verdict.others.length > 0 && [h('h2', {}, 'Besides'), verdict.others.map((finding) => other(finding, app))],
      h('p', {}, h('a', { href: '/now' }, 'Rates, limits and what waits, now')));
  }

  const end = onNews('verdict', draw);
  // How long ago something began changes without any news.
  const timer = setInterval(() => { if (latest) refresh(); }, 1000);
  try {
    if (!shown) draw(await get('/api/verdict'));
  } catch (error) {
    end();
    clearInterval(timer);
    throw error;
  }
  return () => {
    end();
    clearInterval(timer);
  };
}
