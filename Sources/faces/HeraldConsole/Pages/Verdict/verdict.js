// What is the matter, since when, how many wait, and what to do first.

import { get, onNews } from '../../Frame/lib/api.js';
import { command } from '../../Frame/lib/command.js';
import { badge, chips, facts, h, replace, table } from '../../Frame/lib/dom.js';
import { ago, count, duration, plural, prose, time } from '../../Frame/lib/format.js';
import { alertLink } from '../../Frame/lib/links.js';
import { redraw, repeat } from '../../Frame/lib/live.js';
import { link } from '../../Frame/lib/place.js';
import { planButton } from '../../Frame/lib/plan.js';
import { loadTitles, section, titles } from '../Runbook/runbook.js';

const words = { good: 'All is well', warn: 'Look at this', bad: 'Act now', unknown: 'Not known' };
const kinds = { good: 'good', warn: 'warn', bad: 'bad', unknown: 'quiet' };

const stateBadge = (state, ...content) => badge(kinds[state] ?? 'quiet', ...(content.length > 0 ? content : [words[state] ?? state]));

/** What it is, in a few words. */
export const heading = (finding) => finding.headline;

/** What happened, and what those have in common that it is about. */
function details(finding) {
  return [
    finding.cause && h('p', { class: 'cause' }, prose(`${finding.cause[0].toUpperCase()}${finding.cause.slice(1)}.`)),
    chips(finding.traits, 'What they have in common'),
    finding.consequences?.length > 0 && h('p', { class: 'muted' }, 'What follows from it: ', finding.consequences.map(({ headline }) => headline).join('; '), '.'),
  ];
}

function numbers(finding) {
  const entries = [
    finding.since && ['Since', [finding.sinceIsBefore && 'before ', time(finding.since), ` (${ago(finding.since)})`]],
    finding.waiting !== null && finding.waiting !== undefined && ['Events that wait', count(finding.waiting)],
    finding.retrying > 0 && ['Events that wait for a retry', count(finding.retrying)],
  ];
  return entries.some(Boolean) && facts(entries);
}

function step(next, app) {
  if (!next) return null;
  return [
    h('p', {}, prose(next.sentence.replaceAll('`', ''))),
    (next.href || next.plan) && h('p', { class: 'toolbar' },
      next.href && h('a', { class: 'button primary', href: next.href }, places.find(([start]) => next.href.startsWith(start))?.[1] ?? 'Look there'),
      next.plan && app.viewer?.role === 'operator' && planButton('Plan their replay', () => ({ filter: next.plan }), undefined, { class: 'plan' })),
    next.command && command(next.command),
    h('p', { class: 'muted' }, 'Runbook: ', h('a', { href: section(next.section) }, titles.get(next.section) ?? next.section),
      alertLink(app, next.alert) && [' · Alert: ', h('a', { href: alertLink(app, next.alert) }, next.alert)]),
  ];
}

const places = [['/failures', 'See the failures'], ['/campaigns', 'See the campaign']];

function other(finding, app) {
  return h('section', { class: 'card other', 'aria-label': finding.headline },
    h('h3', {}, stateBadge(finding.state), ' ', heading(finding)), h('div', { class: 'details' }, details(finding)), h('div', { class: 'facts' }, numbers(finding)), step(finding.next, app));
}

/** What was wrong within the last day, the newest first. */
export function newestFirst(spans) {
  return [...spans].sort((left, right) => (left.from < right.from ? 1 : -1));
}

/** A moment of whole seconds before or after, as a filter takes it. */
function beside(text, seconds) {
  const moment = new Date(new Date(text).valueOf() + seconds * 1000);
  // A header may hold any moment.
  return Number.isNaN(moment.valueOf()) ? text : moment.toISOString();
}

/** How many events came late, and by how much; where not all results were read, at least so many. */
export function late(lateness) {
  if (!lateness) return '–';
  return `${lateness.isExact ? '' : 'at least '}${count(lateness.count)}, by up to ${duration(lateness.worstMilliseconds)}`;
}

/** What the numbers of the column rest upon. */
export function basis({ isComplete, lookedAt, delivered, scattered }) {
  const read = lookedAt === delivered ? `all ${count(delivered)} deliveries of the day` : `${count(lookedAt)} of about ${count(delivered)} deliveries of the day`;
  const others = scattered ? ` Besides, one by one: ${late(scattered)}.` : '';
  return `Late is an event that was delivered more than a minute after it was published, or due; it counts once. Counted from the results of ${read}${isComplete ? '' : '; older ones are still read'}.${others}`;
}

function howMany(span) {
  if (span.count === null) return span.waiting ? `${span.late && !span.late.isExact && span.key === 'late' ? 'at least ' : ''}${count(span.waiting)} waited at most` : '–';
  return [h('a', { href: link('/failures', { since: beside(span.from, -1), until: beside(span.to, 1) }) }, plural(span.count, 'dead letter')), `, ${count(span.open)} open`];
}

function day({ spans, watchedSince, lateness }) {
  return [
    table({
      caption: 'What was wrong within the last day, the newest first',
      columns: [{ title: 'From' }, { title: 'To' }, { title: 'What' }, { title: 'How many' }, { title: 'Came late' }],
      rows: newestFirst(spans).map((span) => [
        time(span.from), span.to ? time(span.to) : h('strong', {}, 'now'),
        [stateBadge(span.state, span.headline), span.cause && [' ', prose(span.cause)]],
        howMany(span), late(span.late),
      ]),
      empty: 'Nothing was wrong.',
    }),
    h('p', { class: 'muted' }, basis(lateness)),
    h('p', { class: 'muted' }, 'Dead letters, and what was delivered late, are known of the whole day, from Kafka; anything else since this console was started, ', time(watchedSince), '.'),
  ];
}

/** What stays on the page while its numbers and moments change: focus and selection live in it. */
export function shape(verdict) {
  return JSON.stringify([verdict, ...verdict.others].map(({ key, state, next }) => [key, state, next]));
}

export async function show(main, place, app) {
  const title = h('h1', { id: 'verdict-heading' }, 'Verdict');
  const live = h('p', { class: 'unseen', role: 'status' });
  const body = h('div', {});
  const past = h('div', {});
  main.append(title, live, body, h('section', { class: 'card', 'aria-labelledby': 'day' }, h('h2', { id: 'day' }, 'The last day'), past));
  const endDay = repeat(10_000, async () => {
    const found = await get('/api/verdict/day');
    redraw(past, found, () => day(found));
  }, () => {});
  await loadTitles();
  let shown = null;
  let said = null;
  let latest = null;

  // Facts and sentences are those of now, whatever stays.
  function refresh() {
    const findings = [latest, ...latest.others];
    for (const [index, element] of body.querySelectorAll('.facts').entries()) replace(element, numbers(findings[index]));
    for (const [index, element] of body.querySelectorAll('.details').entries()) replace(element, details(findings[index]));
  }

  function draw(verdict) {
    if (!verdict) return;
    latest = verdict;
    const key = `${verdict.key} ${verdict.state}`;
    if (key !== said) replace(live, `Verdict: ${verdict.sentence}`);
    said = key;
    replace(title, stateBadge(verdict.state), ' ', heading(verdict));
    const present = shape(verdict);
    if (present === shown) {
      refresh();
      return;
    }
    shown = present;
    replace(body,
      h('section', { class: `card first ${kinds[verdict.state] ?? 'quiet'}`, 'aria-labelledby': 'verdict-next' },
        h('h2', { id: 'verdict-next' }, verdict.state === 'good' ? 'Nothing to do' : 'What to do first'),
        h('div', { class: 'details' }, details(verdict)), h('div', { class: 'facts' }, numbers(verdict)), step(verdict.next, app)),
      verdict.others.length > 0 && [h('h2', {}, 'Besides'), verdict.others.map((finding) => other(finding, app))],
      h('p', {}, h('a', { href: '/now' }, 'Rates, limits and what waits, now')));
  }

  const end = onNews('verdict', draw);
  // How long ago something began changes without any news.
  const timer = setInterval(() => { if (latest) refresh(); }, 1000);
  try {
    if (!shown) draw(await get('/api/verdict'));
  } catch (error) {
    endDay();
    end();
    clearInterval(timer);
    throw error;
  }
  return () => {
    endDay();
    end();
    clearInterval(timer);
  };
}
