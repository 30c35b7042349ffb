// Failures: groups of dead letters, and the page for an address.

import { get, onNews } from '../../Frame/lib/api.js';
import { command } from '../../Frame/lib/command.js';
import { fail } from '../../Frame/lib/dialog.js';
import { h, replace, table } from '../../Frame/lib/dom.js';
import { count, plural, time } from '../../Frame/lib/format.js';
import { link } from '../../Frame/lib/place.js';
import { pattern, planButton } from '../../Frame/lib/plan.js';
import { addressOf, filterOf, parametersOf, words } from './dead-letters.js';
import { exports, filters, standing } from './parts.js';
import { showLetter, showLetters } from './letters.js';
import { showPlan } from './replay-plan.js';
import { jobsCard, showJob } from './replay-job.js';

export async function show(main, place, app) {
  const [kind, name] = place.rest;
  if (kind === 'letter' && name) return showLetter(main, name, app);
  if (kind === 'letters') return showLetters(main, place, app);
  if (kind === 'plan' && name) return showPlan(main, name, app);
  if (kind === 'job' && name) return showJob(main, name, app);
  return showGroups(main, place, app);
}

/** What to do about a group, where the command's options are the page's. */
export const inPage = (action) => action.replace(/ \(--group of this one, --group-by \w+\)/, ' (“Group by” above)');

const treatments = [['replayed', 'Replayed'], ['delivered', 'Delivered'], ['failedAgain', 'Failed again'], ['resolved', 'Resolved']];

async function showGroups(main, place, app) {
  const parameters = { ...parametersOf(place.query), by: place.query.get('by') ?? 'reason', whole: place.query.get('whole') };
  const head = h('div', {});
  const jobs = h('div', {});
  const groups = h('section', { 'aria-labelledby': 'groups' });
  const problem = h('div', {});
  replace(main, h('h1', {}, 'Failures'), head, jobs, filters(place, { grouped: true }), problem, groups);
  let shown = null;
  let isLoading = false;
  let isLeft = false;

  const draw = (answer) => {
    // Nothing is said of what was done where nothing was.
    const treated = treatments.filter(([member]) => answer.groups.some((group) => group[member] > 0));
    const rows = answer.groups.map((group) => {
      const filter = { ...filterOf(place.query), ...(group.key ? { group: group.key } : {}) };
      const open = group.count - group.replayed - group.resolved;
      return [
        [group.key ? h('a', { href: link('/failures/letters', addressOf(filter)) }, group.group) : group.group,
          h('div', { class: 'muted' }, 'such as ', h('a', { href: `/failures/letter/${encodeURIComponent(group.sample)}` }, group.sample))],
        count(group.count), count(group.notifications), ...treated.map(([member]) => count(group[member])),
        [time(group.first), group.last !== group.first && [' to ', time(group.last)]],
        [inPage(group.action), ' ', app.isOperator && group.key && open > 0
          && planButton('Plan replay', () => ({ filter }), `Plan replay of ${group.group}`, { class: 'primary plan' })],
      ];
    });
    const button = document.activeElement?.getAttribute?.('aria-label');
    const hasFocus = groups.contains(document.activeElement);
    replace(groups,
      h('h2', { id: 'groups' }, `${plural(answer.matched, 'dead letter')} in groups, ${plural(answer.notifications, 'notification')}`),
      common(answer),
      answer.isFromTopic && h('p', { class: 'muted' }, answer.isCut
        ? 'This asks for what is not in memory, and reading the topic took too long: these are not all. Take fewer.'
        : 'This asks for what is not in memory: the topic was read.'),
      table({
        caption: 'Groups of dead letters, the largest first',
        columns: [{ title: 'Group' }, { title: 'Letters', number: true }, { title: 'Notifications', number: true },
          ...treated.map(([, title]) => ({ title, number: true })), { title: 'When' }, { title: 'What to do' }],
        rows, empty: 'No dead letter matches.',
      }),
      answer.hidden > 0 && h('p', { class: 'muted' }, `${count(answer.hidden)} more groups; a condition shows fewer.`),
      h('p', { class: 'toolbar' }, h('a', { class: 'button', href: link('/failures/letters', parametersOf(place.query)) }, 'One by one'), exports(place.query, app)),
      command(['herald', 'dlq', 'list', '--group-by', parameters.by, ...words(place.query)]));
    if (hasFocus && button) [...groups.querySelectorAll('button')].find((item) => item.getAttribute('aria-label') === button)?.focus();
    replace(head, standing(answer.status, app));
  };

  // The button plans the letters shown or, if all are shown, those of the pattern.
  const common = ({ pattern: found, matched }) => {
    if (!found?.words) return null;
    const filter = filterOf(place.query);
    if (found.condition && !filter.where) filter.where = found.condition;
    return [pattern(found, matched), app.isOperator && Object.keys(filter).length > 0
      && h('p', {}, planButton('Plan their replay', () => ({ filter }), 'Plan their replay, of those that have this in common', { class: 'primary plan' }))];
  };

  const load = async () => {
    if (isLoading) return;
    isLoading = true;
    try {
      const answer = await get('/api/failures/groups', parameters);
      shown = answer.status.version;
      replace(problem);
      if (!isLeft) draw(answer);
    } catch (error) {
      replace(problem, fail(error));
    } finally {
      isLoading = false;
    }
  };
  let latest = null;
  // Before the groups, which may take a while.
  const endings = [
    onNews('failures', (status) => { latest = status; replace(head, standing(status, app)); }),
    onNews('jobs', (list) => replace(jobs, jobsCard(list))),
  ];
  await load();
  // The table changes at most every two seconds.
  const timer = setInterval(() => {
    if (latest && latest.version !== shown && !place.query.get('whole')) load();
  }, 2000);
  return () => {
    isLeft = true;
    clearInterval(timer);
    for (const end of endings) end();
  };
}
