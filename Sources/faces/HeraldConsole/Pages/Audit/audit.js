// The audit: actions with their person, time and reason, newest first.

import { get } from '../../Frame/lib/api.js';
import { badge, facts, h, replace, table } from '../../Frame/lib/dom.js';
import { field } from '../../Frame/lib/form.js';
import { count, time } from '../../Frame/lib/format.js';
import { go, link } from '../../Frame/lib/place.js';

const actions = ['campaign', 'campaign.start', 'campaign.pause', 'campaign.resume', 'campaign.finish', 'campaign.cancel', 'campaign.reveal', 'dlq', 'dlq.replay',
  'dlq.resolve', 'dlq.reveal', 'event.reveal', 'offsets.restore', 'preferences', 'preferences.set', 'preferences.import', 'preferences.forget', 'preferences.reveal', 'recall', 'recall.withdraw'];

export async function show(main, place) {
  const filters = Object.fromEntries(['who', 'what', 'since'].map((name) => [name, place.query.get(name)]));
  const before = place.query.get('before');
  const page = await get('/api/audit', { ...filters, before });
  const older = page.next && h('a', { class: 'button', href: link('/audit', { ...filters, before: page.next }) }, 'Older');
  const newest = before && h('a', { class: 'button', href: link('/audit', filters) }, 'Newest');
  replace(main, h('h1', {}, 'Audit'),
    h('p', { class: 'muted' }, 'Who replayed, resolved, revealed, and started or stopped campaigns, here or by command.'),
    form(filters),
    h('p', { role: 'status' }, sentence(page, before)),
    table({
      caption: 'Entries, the newest first',
      columns: [{ title: 'When' }, { title: 'Who' }, { title: 'What' }, { title: 'On' }, { title: 'How it ended' }, { title: 'More' }],
      rows: page.entries.map(row), empty: 'No entry matches.',
    }),
    h('nav', { class: 'toolbar', 'aria-label': 'Pages of the audit' }, newest, older));
}

export function sentence(page, before) {
  const entries = `${count(page.entries.length)} ${page.entries.length === 1 ? 'entry' : 'entries'}`;
  const where = before ? 'older ones' : 'the newest';
  if (page.entries.length === 0 && page.next) return `None of the ${count(page.searched)} entries that were looked at matches; “Older” looks on.`;
  return page.next ? `${entries}, ${where}; there are more.` : `${entries}, ${where}.`;
}

function form(filters) {
  const value = (id) => document.getElementById(id).value.trim();
  return h('form', {
    class: 'card toolbar', 'aria-label': 'Filter the audit',
    onsubmit: (event) => {
      event.preventDefault();
      go('/audit', { who: value('audit-who'), what: value('audit-what'), since: value('audit-since') });
    },
  },
  field('audit-who', 'Who', { value: filters.who ?? '' }),
  h('div', {}, h('label', { for: 'audit-what' }, 'What'), h('select', { id: 'audit-what' },
    h('option', { value: '' }, 'anything'),
    [...new Set([...actions, ...(filters.what ? [filters.what] : [])])].map((action) => h('option', { value: action, selected: action === filters.what }, action)))),
  field('audit-since', 'Since (2d, or a moment)', { value: filters.since ?? '' }),
  h('button', { class: 'primary' }, 'Show'),
  h('a', { class: 'button', href: '/audit' }, 'All'));
}

function row(entry) {
  if (entry.damaged) return [time(entry.at), '–', badge('warn', 'not readable'), entry.place, '–', '–'];
  const [what, end] = happened(entry);
  return [time(entry.at), entry.by, what, subject(entry), end, details(entry)];
}

/** The action, and its end. */
export function happened({ action, phase, end }) {
  return phase === 'done' ? [action, end ?? 'done'] : [`${action} ${phase}`, end ?? '–'];
}

/** The subject, as a link to its page. */
function subject(entry) {
  const { selection } = entry;
  if (!selection) return '–';
  if (entry.action.startsWith('campaign.')) return h('a', { href: `/campaigns/${encodeURIComponent(selection)}` }, selection);
  if (entry.action === 'event.reveal') return h('a', { href: link('/find', { id: selection }) }, selection);
  return selection;
}

/** The other facts, as pairs of texts. */
export function more(entry) {
  return [
    ['Reason', entry.reason], ['Job', entry.job], ['Planned', entry.planned === undefined ? undefined : count(entry.planned)],
    ...Object.entries(entry.counts ?? {}).map(([name, number]) => [name, count(number)]),
    ...Object.entries(entry.options ?? {}).map(([name, value]) => [`--${name}`, value]),
    ['Took over from', entry.tookOverFrom],
    ['Frozen at', entry.ends && Object.entries(entry.ends).map(([partition, offset]) => `${partition}:${offset}`).join(', ')],
    ['Record', entry.place],
  ].filter(([, value]) => value !== undefined && value !== '');
}

function details(entry) {
  return h('details', {}, h('summary', {}, entry.reason ?? 'Details'), facts(more(entry)));
}
