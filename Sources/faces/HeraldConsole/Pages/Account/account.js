// What was published in a span of time, and what became of it: every notification has one result, or is on its way.

import { get } from '../../Frame/lib/api.js';
import { command } from '../../Frame/lib/command.js';
import { fail } from '../../Frame/lib/dialog.js';
import { badge, h, replace, table } from '../../Frame/lib/dom.js';
import { field, mark } from '../../Frame/lib/form.js';
import { count, prose, time } from '../../Frame/lib/format.js';
import { settled } from '../../Frame/lib/live.js';
import { go, link } from '../../Frame/lib/place.js';

/** A time of the last 24 hours by the reader's clock, as a moment; other texts stay as they are. */
export function moment(text, now = new Date()) {
  const [, hour, minute] = /^(\d\d):(\d\d)$/.exec(text) ?? [];
  if (hour === undefined || hour > 23 || minute > 59) return text;
  const then = new Date(now);
  then.setHours(hour, minute, 0, 0);
  if (then > now) then.setDate(then.getDate() - 1);
  return then.toISOString();
}

export async function show(main, place) {
  const query = { since: place.query.get('since'), until: place.query.get('until') };
  const results = h('div', {});
  const state = { isLeft: false };
  const asked = form(query);
  replace(main, h('h1', {}, 'Account'),
    h('p', { class: 'muted' }, 'Was anything lost? It counts what was published in a span of time, and looks for the one result of each notification.'),
    asked, results);
  if (query.since !== null) account(results, asked, query, state);
  return () => { state.isLeft = true; };
}

function form(query) {
  const asked = h('form', {
    class: 'card toolbar', 'aria-label': 'Which span of time',
    onsubmit: (event) => {
      event.preventDefault();
      const value = (name) => moment(asked.querySelector(`#${name}`).value.trim());
      // The same again is made anew.
      const target = { since: value('since') || '24h', until: value('until') };
      if (link('/account', target) === location.pathname + location.search) dispatchEvent(new PopStateEvent('popstate'));
      else go('/account', target);
    },
  },
  field('since', 'Published since', { value: query.since ?? '22:00', placeholder: '24h' }, '22:00 by your clock, 24h, or a moment.'),
  field('until', 'Until', { value: query.until ?? '', placeholder: 'now' }, 'Empty: now.'),
  h('button', { class: 'primary' }, 'Count'),
  h('a', { class: 'button', href: '/account?since=24h' }, 'The last 24 hours'));
  return asked;
}

async function account(results, asked, query, state) {
  const bar = h('progress', { max: 1, 'aria-label': 'Records read' });
  const said = h('p', { class: 'muted' }, 'Reading the topics.');
  replace(results, h('div', { class: 'card', role: 'status' }, bar, said));
  try {
    const answer = await settled(await get('/api/account', query), ({ account: key }) => get(`/api/account/${key}`), {
      isLeft: () => state.isLeft,
      draw({ stage, passed, total }, turn) {
        if (!(total > 0)) return;
        bar.value = passed / total;
        if (turn % 4 === 0) replace(said, `${count(passed)} of ${count(total)} records of the ${stage} read.`);
      },
    });
    if (!answer || state.isLeft) return;
    if (answer.state === 'failed') throw new Error(answer.error);
    draw(results, answer);
  } catch (error) {
    if (!state.isLeft) replace(results, mark(asked, error) ? null : fail(error));
  }
}

/** The word for all of it. */
export function verdict({ isBalanced, missingCount }) {
  if (missingCount > 0) return ['bad', 'Not equal'];
  return isBalanced ? ['good', 'Equal'] : ['warn', 'Not known in full'];
}

/** The rows of the table: what they are of, their names, and their counts. */
export function rowsOf({ total, replays, topics, sources, pushServices }) {
  return [['all', '', total], ...topics.map((row) => ['topic', row.topic, row]), ...sources.map((row) => ['source', row.source ?? '(none)', row]),
    ...pushServices.map((row) => ['push service', row.pns ?? '(none)', row]), ...(replays.notifications > 0 ? [['replays', '', replays]] : [])];
}

/** The columns that say something. */
export function shownColumns(columns, rows) {
  return columns.filter((column) => ['events', 'notifications', 'delivered', 'missing'].includes(column) || rows.some(([, , counts]) => counts[column] > 0));
}

const capital = (word) => word[0].toUpperCase() + word.slice(1);

function draw(results, answer) {
  const rows = rowsOf(answer);
  const shown = shownColumns(answer.columns, rows);
  const [kind, word] = verdict(answer);
  replace(results,
    h('h2', { id: 'result', tabindex: -1 }, badge(kind, word), ' Published ', answer.since && ['from ', time(answer.since), ' '], 'until ', time(answer.until)),
    answer.sentences.map((sentence) => h('p', {}, prose(sentence))),
    table({
      caption: 'Notifications, one for each event and push service',
      columns: [{ title: 'Of' }, { title: 'Name' }, ...shown.map((column) => ({ title: capital(column), number: true }))],
      rows: rows.map(([of, name, counts]) => [of, name, ...shown.map((column) => count(counts[column]))]),
    }),
    answer.missing.length > 0 && table({
      caption: `Missing, by the request${answer.missing.length < answer.missingCount ? `; the first ${count(answer.missing.length)}` : ''}`,
      columns: [{ title: 'Request' }, { title: 'Push service' }, { title: 'Source' }],
      rows: answer.missing.map(({ record, pns, source }) => [h('a', { href: link('/find', { id: record }) }, record), pns ?? '–', source ?? '–']),
    }),
    command(answer.command));
  results.querySelector('#result').focus({ preventScroll: true });
}
