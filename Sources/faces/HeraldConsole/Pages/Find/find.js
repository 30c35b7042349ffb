// The history of a user's events or of one event: a search, the timelines, and the explanation of an event's state.

import { get } from '../../Frame/lib/api.js';
import { command } from '../../Frame/lib/command.js';
import { fail, say } from '../../Frame/lib/dialog.js';
import { badge, facts, h, replace } from '../../Frame/lib/dom.js';
import { check, field, revealButton } from '../../Frame/lib/form.js';
import { count, masked, prose, time } from '../../Frame/lib/format.js';
import { traceLink } from '../../Frame/lib/links.js';
import { settled } from '../../Frame/lib/live.js';
import { go, link } from '../../Frame/lib/place.js';
import { contentFacts, outcomeTone } from '../../Frame/lib/vocabulary.js';

/** The last search: opening one of its events does not search again. */
let last = null;

export async function show(main, place, app) {
  const query = Object.fromEntries(['user', 'id', 'since', 'allPartitions'].map((name) => [name, place.query.get(name)]));
  const results = h('div', {});
  const state = { isLeft: false };
  replace(main, h('h1', {}, 'Find'),
    h('p', { class: 'muted' }, 'What became of a user’s events, or of one event, by all topics. Messages are not shown.'),
    form(query), results);
  if (query.user || query.id) search(results, query, place.query.get('event'), app, state);
  return () => { state.isLeft = true; };
}

function form(query) {
  return h('form', {
    class: 'card toolbar', role: 'search', 'aria-label': 'Find events',
    onsubmit: (event) => {
      event.preventDefault();
      const value = (id) => document.getElementById(id).value.trim();
      last = null;
      const target = { user: value('find-user'), id: value('find-id'), since: value('find-since'), allPartitions: document.getElementById('find-all').checked ? 'true' : '' };
      if (!target.user && !target.id) {
        say('Say whose: a user, an id, or both.');
        document.getElementById('find-user').focus();
        return;
      }
      if (link('/find', target) === location.pathname + location.search) dispatchEvent(new PopStateEvent('popstate'));
      else go('/find', target);
    },
  },
  field('find-user', 'User', { value: query.user ?? '', placeholder: 'ann' }),
  field('find-id', 'Event id or TOPIC/PARTITION/OFFSET', { value: query.id ?? '', placeholder: 'order-17' }),
  field('find-since', 'Since (2d, or a moment)', { value: query.since ?? '', placeholder: '2d' }),
  check('find-all', 'Read all partitions', { checked: query.allPartitions === 'true' }),
  h('button', { class: 'primary' }, 'Find'));
}

async function search(results, query, event, app, state) {
  const text = JSON.stringify(query);
  try {
    if (last?.text !== text) last = { text, answer: await searched(results, query, state) };
    if (!state.isLeft && last.answer) draw(results, query, event, app, last.answer);
  } catch (error) {
    last = null;
    if (!state.isLeft) replace(results, fail(error));
  }
}

/** The answer of a finished search; the server ends one that no page asks for. */
async function searched(results, query, state) {
  const bar = h('progress', { max: 1, 'aria-label': 'Records read' });
  const said = h('p', { class: 'muted' }, 'Reading the topics.');
  replace(results, h('div', { class: 'card', role: 'status' }, bar, said));
  const answer = await settled(await get('/api/find', query), ({ search: key }) => get(`/api/find/${key ?? ''}`), {
    isLeft: () => state.isLeft, wait: (turn) => turn < 4 ? 150 : 400,
    draw({ passed, total }, turn) {
      if (total === 0) return;
      bar.value = passed / total;
      if (turn % 8 === 0) replace(said, `${count(passed)} of ${count(total)} records read.`);
    },
  });
  if (answer?.state === 'failed') throw new Error(answer.error);
  return answer;
}

function draw(results, query, chosen, app, answer) {
  const { events } = answer;
  const open = chosen ?? (events.length === 1 ? events[0].origin : null);
  const sentence = events.length === 0 ? nothing(answer) : something(answer);
  replace(results, remarks(answer).map((line) => h('p', { class: 'badge warn' }, line)), h('p', { role: 'status' }, sentence),
    events.map((event) => (event.origin === open ? whole(event, query, answer, app) : brief(event, query))),
    command(answer.command));
  if (chosen) document.getElementById('chosen')?.focus({ preventScroll: false });
}

/** The number of events, and places that may hold others. */
export function something({ events, isNarrow, strayTopics, grownTopics }) {
  const others = isNarrow && strayTopics.length + grownTopics.length === 0
    ? ' Not read: the other partitions. Events with another key than the user may be there: “Read all partitions”.' : '';
  return `${count(events.length)} ${events.length === 1 ? 'event' : 'events'}, the newest first.${others}`;
}

/** The sentence for an empty result, with the parts that were not read. */
export function nothing({ gaps, unread, tombstones }) {
  const others = gaps.filter((gap) => !unread.includes(gap));
  const empty = tombstones > 0 ? ` ${count(tombstones)} ${tombstones === 1
    ? 'record of this user has no value: it is no event, and notifies nobody.' : 'records of this user have no value: they are no events, and notify nobody.'}` : '';
  const why = gaps.length === 0 ? ' It was never published to these topics, or they have forgotten it.' : '';
  return `Nothing was found in what was read.${empty}${why}${others.length > 0 ? ` Not read: ${others.join('; ')}.` : ''}`;
}

/** Caveats about the answer. */
export function remarks(answer) {
  const lines = answer.unread.map((reason) => `Not read: ${reason}.`);
  if (answer.strayTopics.length > 0) {
    lines.push(`Events of this user are not where the key of their user belongs in ${answer.strayTopics.join(', ')}: their producer has `
      + 'another partitioner or key, so that some may be missing here. “Read all partitions” finds them all.');
  }
  if (answer.grownTopics.length > 0) {
    lines.push(`Events of this user are where the key of their user belonged when ${answer.grownTopics.join(', ')} had fewer partitions: `
      + 'older records stay there when partitions are added, so that some may be missing here. “Read all partitions” finds them all.');
  }
  if (answer.isCut || answer.hidden > 0) lines.push('Only the newest events are shown; the command shows more, and “Since” bounds them.');
  if (answer.lost) lines.push(answer.lost);
  if (answer.state === 'part') lines.push('The reading was ended before its end.');
  return lines;
}

/** The newest outcome of each push service; null where there is none yet. */
export function newestOutcomes(event) {
  const known = new Map();
  for (const step of event.steps) if (step.step === 'settled') for (const name of step.pns.length ? step.pns : ['event']) known.set(name, step.outcome);
  return [...known, ...event.open.map((name) => [name, null])];
}

function outcomes(event) {
  return newestOutcomes(event).flatMap(([name, outcome]) => [badge(outcomeTone(outcome), `${name}: ${outcome ?? 'no outcome yet'}`), ' ']);
}

export function title(event) {
  return [event.campaign ? `Campaign ${event.campaign}` : event.id ?? event.origin, event.user && ` for ${event.user}`,
    event.source && !event.campaign && ` by ${event.source}`].filter(Boolean).join('');
}

function brief(event, query) {
  return h('section', { class: 'card' },
    h('h2', {}, h('a', { href: link('/find', { ...query, event: event.origin }) }, title(event))),
    h('p', {}, event.steps.length > 0 && time(event.steps[0].at), ' ', outcomes(event)));
}

function whole(event, query, answer, app) {
  const why = h('div', {}, h('p', { class: 'muted' }, 'Looking at why it stands there.'));
  explain(why, event, answer);
  return h('section', { class: 'card', 'aria-labelledby': 'chosen' },
    h('h2', { id: 'chosen', tabindex: -1 }, title(event)),
    h('p', {}, outcomes(event)),
    facts([
      ['Event', event.campaign && event.id], ['Request', event.origin], ['Campaign', event.campaign && h('a', { href: `/campaigns/${encodeURIComponent(event.campaign)}` }, event.campaign)],
      ['Trace', traceLink(app, event.trace) && h('a', { href: traceLink(app, event.trace) }, event.trace)], ['Message', message(event, app)]]),
    h('h3', {}, 'Why, and what happens next'), why,
    app.viewer.obeysWords && mayBeCalled(event) && h('p', {}, h('a', { class: 'button', href: link('/preferences', { id: event.id, user: event.user, source: event.source }) }, 'Recall')),
    h('h3', {}, 'What happened'),
    event.leftOut && h('p', { class: 'muted' }, `${count(event.leftOut)} older steps are left out.`),
    h('ol', { class: 'steps' }, event.steps.map((step) => h('li', { class: `step-${step.step} ${step.outcome ? outcomeTone(step.outcome) : ''}` }, time(step.at), ' ', prose(step.words), letterLink(step)))));
}

/** Whether a recall can end a call of it: one that is to come, or that of a replay. */
export function mayBeCalled(event) {
  return Boolean(event.id && event.user) && newestOutcomes(event).some(([, outcome]) => outcome === null || outcome === 'dead-lettered');
}

/** The page of a dead letter, by its record TOPIC/PARTITION/OFFSET. */
export function letterAddress(record) {
  const [partition, offset] = record.split('/').slice(-2);
  return `/failures/letter/${partition}:${offset}`;
}

function letterLink(step) {
  return step.step === 'dead-lettered' && [' ', h('a', { href: letterAddress(step.record) }, 'the dead letter')];
}

async function explain(why, event, answer) {
  try {
    const explanation = await get(`/api/find/${answer.search}/explanation`, { event: event.origin });
    replace(why, explanation.sentences.map((sentence) => h('p', {}, prose(sentence))),
      explanation.commands.map((text) => command(text.split(' '))), command(explanation.command));
  } catch (error) {
    if (error.status !== 404) return replace(why, fail(error));
    // The server has forgotten the search; the timelines are still here.
    last = null;
    replace(why, h('p', { class: 'muted' }, 'Find it again to see why it stands there.'));
  }
  return why;
}

function message(event, app) {
  const text = h('div', {}, masked(null), ' ');
  const problem = h('div', {});
  if (app.isOperator) {
    text.append(revealButton(problem, '/api/find/message', { origin: event.origin }, (found, answer) => replace(text,
      found === null ? h('span', { class: 'muted' }, 'the topic has forgotten it, or it is no event') : [h('code', {}, found), facts(contentFacts(answer))])));
  }
  return [text, problem];
}
