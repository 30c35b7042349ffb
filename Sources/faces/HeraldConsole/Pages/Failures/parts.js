// Common parts of pages of dead letters: filters, reading progress, and files.

import { get, save } from '../../Frame/lib/api.js';
import { ask } from '../../Frame/lib/dialog.js';
import { badge, h } from '../../Frame/lib/dom.js';
import { attempt, field } from '../../Frame/lib/form.js';
import { count, time } from '../../Frame/lib/format.js';
import { link, setQuery } from '../../Frame/lib/place.js';
import { plan } from '../../Frame/lib/plan.js';
import { changesOf, filterOf, noFilter, parametersOf, planOfRest } from './dead-letters.js';

const fields = ['reason', 'status', 'pns', 'campaign', 'source', 'topic', 'hour'];

/** The current place below "Failures". */
export function crumbs(...rest) {
  return h('p', { class: 'crumbs' }, h('a', { href: '/failures' }, 'All failures'), rest.map((item) => [' › ', item]));
}

/** The form of filters; the address holds all of them. */
export function filters(place, { grouped }) {
  const { query } = place;
  const by = grouped && h('div', {}, h('label', { for: 'by' }, 'Group by'),
    h('select', { id: 'by', name: 'by', onchange: (event) => setQuery({ by: event.target.value === 'reason' ? null : event.target.value }) },
      fields.map((name) => h('option', { value: name, selected: (query.get('by') ?? 'reason') === name }, name))));
  const text = (name, label, placeholder, size) => field(`filter-${name}`, label, {
    name, value: query.get(name) ?? '', placeholder, size,
  });
  return h('form', {
    class: 'toolbar', role: 'search', 'aria-label': 'Which dead letters',
    onsubmit: (event) => {
      event.preventDefault();
      setQuery(changesOf(new FormData(event.target)));
    },
  }, by, text('where', 'Condition', "status = 503 and age < 2h", 34), text('group', 'Group', 'status=503', 16),
  text('since', 'Since', '12h', 8), text('until', 'Until', '1h', 8), text('partitions', 'Partitions', '0,3', 6),
  h('p', {}, h('button', { class: 'primary' }, 'Show'), ' ',
    Object.keys(parametersOf(query)).length > 0 && h('button', { type: 'button', onclick: () => setQuery(noFilter) }, 'Show all')));
}

/** The console's reading progress, and the job that works on the dead letters. */
export function standing(status, app) {
  if (!status) return [];
  const parts = [];
  if (status.state === 'reading') {
    parts.push(h('p', {}, h('label', { for: 'reading' }, `Read ${count(status.passed)} of ${count(status.total)}; figures rise until all are read.`),
      h('progress', { id: 'reading', class: 'bar', max: Math.max(1, status.total), value: status.passed })));
  }
  if (status.state === 'failed') parts.push(h('p', { class: 'error' }, `Dead letters cannot be read; what is shown may be old. ${status.sentence}`));
  if (status.forgotten > 0) {
    parts.push(h('p', { class: 'muted' }, `The newest ${count(status.count)} are counted; about ${count(status.forgotten)} older ones are left to `,
      h('a', { href: link('/failures', { ...Object.fromEntries(new URLSearchParams(location.search)), whole: 1 }) }, 'a reading of the whole topic'), '.'));
  }
  if (!status.hasState) parts.push(h('p', { class: 'muted' }, 'There is no state topic yet, so nothing was replayed; herald topics apply makes it.'));
  if (status.holder) {
    parts.push(h('p', {}, badge('warn', 'at work'), ` ${status.holder.owner}: ${status.holder.work} (job ${status.holder.job}), since `, time(status.holder.since)));
  }
  if (status.abandoned) parts.push(abandoned(status.abandoned, app));
  return parts;
}

/** A job whose process died: its work is marked, and the rest can be planned. */
function abandoned(job, app) {
  const problem = h('div', {});
  return h('section', { class: 'card', 'aria-labelledby': 'abandoned' },
    h('h2', { id: 'abandoned' }, 'A job has ended without its last word'),
    h('p', {}, `Job ${job.job} of ${job.owner}: ${job.work}, begun `, time(job.since), '. What it has replayed is marked; a plan of the same takes only the rest.'),
    app.isOperator && h('p', {}, h('button', {
      type: 'button', class: 'primary',
      onclick: attempt(problem, async () => plan(planOfRest(await get(`/api/failures/abandoned/${encodeURIComponent(job.job)}`)))),
    }, 'Plan what is left')), problem);
}

/** Files of the filtered letters. */
export function exports(query, app) {
  const problem = h('span', {});
  const masked = ['csv', 'jsonl'].map((format) => h('a', {
    class: 'button', href: link('/api/failures/export', { ...parametersOf(query), format }), download: `dead-letters.${format}`,
  }, `Save as ${format.toUpperCase()}`));
  return [masked, app.isOperator && h('button', {
    type: 'button',
    onclick: attempt(problem, async () => {
      const isSure = await ask({
        title: 'Save with the messages’ texts?', confirm: 'Save with texts',
        body: h('p', {}, 'The file has what was written to people. That you take it goes into the audit topic.'),
      });
      if (isSure) await save('/api/failures/export', { filter: filterOf(query), format: 'jsonl' });
    }),
  }, 'Save with texts …'), problem];
}

export function stateBadge(job) {
  const kind = { running: 'good', paused: 'warn', stopping: 'warn', done: 'good', stopped: 'warn', failed: 'bad' }[job.state] ?? 'quiet';
  return badge(kind, job.state);
}
