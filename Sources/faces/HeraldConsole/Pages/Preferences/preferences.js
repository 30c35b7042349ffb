// What a user does not want, and what is recalled: both are decided immediately before each call.

import { get, post } from '../../Frame/lib/api.js';
import { command } from '../../Frame/lib/command.js';
import { ask, fail, say } from '../../Frame/lib/dialog.js';
import { badge, chips, facts, h, replace } from '../../Frame/lib/dom.js';
import { attempt, check, field, mark, unmark } from '../../Frame/lib/form.js';
import { count, prose, time } from '../../Frame/lib/format.js';
import { pause, redraw, settled } from '../../Frame/lib/live.js';
import { go, link } from '../../Frame/lib/place.js';

const why = 'Why (goes into the audit)';

export async function show(main, place, app) {
  const state = { isLeft: false };
  const query = Object.fromEntries(['campaign', 'id', 'user', 'source'].map((name) => [name, place.query.get(name) ?? '']));
  const isRecall = query.campaign !== '' || query.id !== '';
  const users = h('section', { class: 'card', 'aria-labelledby': 'users' });
  const recall = h('section', { class: 'card', 'aria-labelledby': 'recall' });
  replace(main, h('h1', {}, 'Preferences'),
    !app.viewer.obeysWords && h('p', { class: 'badge warn' }, 'preferences.enabled is false in the settings of this console: workers that have these call whom they like.'),
    isRecall ? [recall, users] : [users, recall]);
  drawUsers(users, isRecall ? '' : query.user, await get('/api/preferences'), app, state);
  drawRecall(recall, query, app, state);
  if (isRecall) document.getElementById('recall-look').click();
  return () => { state.isLeft = true; };
}

/** The answer of a task that reads a topic; null when the page was left. */
async function read(begun, again, element, state) {
  const bar = h('progress', { max: 1, 'aria-label': 'Records read' });
  const said = h('p', { class: 'muted' }, 'Reading the topics.');
  replace(element, h('div', { role: 'status' }, bar, said));
  const answer = await settled(begun, again, {
    isLeft: () => state.isLeft, wait: (turn) => turn < 4 ? 150 : 400,
    draw({ passed, total }, turn) {
      if (!(total > 0)) return;
      bar.value = passed / total;
      if (turn % 8 === 0) replace(said, `${count(passed)} of ${count(total)} records read.`);
    },
  });
  if (answer?.state === 'failed') throw new Error(answer.error);
  return answer;
}

/** Does a form's work, and shows an error at its field, or below. */
async function tried(form, result, state, work) {
  unmark(form);
  try {
    await work();
  } catch (error) {
    if (!state.isLeft) replace(result, mark(form, error) ? null : fail(error));
  }
}

// MARK: Users

/** What a form has for the entries of an opt-out. */
export function choices(entries) {
  const of = (start) => entries.filter((entry) => entry.startsWith(start)).map((entry) => entry.slice(start.length));
  return { all: entries.includes('all'), promotional: entries.includes('promotional'), pns: of('pns:'), sources: of('source:') };
}

/** The entries of an opt-out that a form has chosen; each source is on a line of its own. */
export function entriesOf({ all, promotional, pns, sources }) {
  const named = sources.split('\n').map((source) => source.trim()).filter((source) => source !== '');
  return [...(all ? ['all'] : []), ...(promotional ? ['promotional'] : []), ...pns.map((name) => `pns:${name}`), ...named.map((source) => `source:${source}`)];
}

/** An entry for people. */
export function entryWords(entry) {
  if (entry === 'all') return 'everything';
  if (entry === 'promotional') return 'advertisements';
  return entry.startsWith('pns:') ? `anything by ${entry.slice(4)}` : `advertisements of ${entry.slice('source:'.length)}`;
}

const days = [['mon', 'Monday'], ['tue', 'Tuesday'], ['wed', 'Wednesday'], ['thu', 'Thursday'], ['fri', 'Friday'], ['sat', 'Saturday'], ['sun', 'Sunday']];

/** What a form has for quiet hours; the day's end, 24:00, is a midnight there. */
export function hoursShown(hours) {
  return { start: hours?.start ?? '', end: hours?.end === '24:00' ? '00:00' : hours?.end ?? '', zone: hours?.zone ?? '', days: hours?.days ?? (hours ? days.map(([name]) => name) : []) };
}

/** The quiet hours that a form has, as commands take them: none without a time, and each day without one that is left out. */
export function hoursOf({ start, end, zone, days: chosen }) {
  if (start === '' && end === '') return 'none';
  const isEachDay = chosen.length === 0 || chosen.length === days.length;
  return [`${start}-${end === '00:00' ? '24:00' : end}`, zone.trim(), isEachDay ? '' : chosen.join(',')].filter((word) => word !== '').join(' ');
}

// Who may not see a user's word does not see it by a task's key either.
const againWord = ({ task }) => post(`/api/preferences/task/${task}`);

function drawUsers(section, user, rules, app, state) {
  const result = h('div', {});
  const form = h('form', {
    class: 'toolbar', 'aria-label': 'A user',
    onsubmit: (event) => {
      event.preventDefault();
      tried(form, result, state, async () => {
        const name = form.querySelector('#preferences-user').value.trim();
        const answer = await read(await post('/api/preferences/show', { user: name }), againWord, result, state);
        if (answer) drawWord(result, answer, rules, app, state);
      });
    },
  },
  field('preferences-user', 'User', { name: 'user', value: user, placeholder: 'ann', required: true }),
  h('button', { class: 'primary' }, 'Show (goes into the audit)'));
  replace(section, h('h2', { id: 'users' }, 'What a user does not want'),
    app.isOperator ? [form, result] : h('p', { class: 'muted' }, 'Operators see it, and the audit says who did.'));
}

function drawWord(result, word, rules, app, state) {
  const problem = h('div', {});
  replace(result,
    h('h3', { id: 'word', tabindex: -1 }, word.user),
    word.problem && h('p', { class: 'badge warn' }, `The record ${word.problem}. The former word stays until a sound one comes.`),
    word.isKept && h('p', { class: 'badge warn' }, 'The user was forgotten. This is kept without the name, until the user says something else.'),
    facts([['Does not want', word.optOut.length > 0 ? chips(word.optOut.map(entryWords), 'Opt-outs') : word.isKnown ? 'nothing: the user wants everything' : 'nothing is said: the user gets everything'],
      ['Quiet hours', word.quiet], ['Since', word.updatedAt && time(word.updatedAt)], ['Written by', word.by]]),
    app.viewer.canChange && changeForm(word, rules, problem, result, app, state), problem, command(word.command));
  result.querySelector('#word').focus({ preventScroll: true });
}

function changeForm(word, rules, problem, result, app, state) {
  const known = choices(word.optOut);
  const hours = hoursShown(word.quietHours);
  const names = [...rules.pns, ...known.pns.filter((name) => !rules.pns.includes(name))];
  const form = h('form', {
    'aria-label': 'Change it',
    onsubmit: (event) => {
      event.preventDefault();
      const isChosen = (id) => form.querySelector(`#${CSS.escape(id)}`).checked;
      const optOut = entriesOf({
        all: isChosen('word-all'), promotional: isChosen('word-promotional'), pns: names.filter((name) => isChosen(`word-${name}`)),
        sources: form.querySelector('#word-sources').value,
      });
      const value = (id) => form.querySelector(`#${id}`).value;
      const quiet = hoursOf({
        start: value('word-start'), end: value('word-end'), zone: value('word-zone'), days: days.map(([name]) => name).filter((name) => isChosen(`word-${name}`)),
      });
      tried(form, problem, state, () => change(word, { optOut, quiet }, rules, problem, result, app, state));
    },
  },
  h('fieldset', {}, h('legend', {}, 'Does not want'),
    check('word-all', entryWords('all'), { checked: known.all }), check('word-promotional', entryWords('promotional'), { checked: known.promotional }),
    names.map((name) => check(`word-${name}`, entryWords(`pns:${name}`), { checked: known.pns.includes(name) })),
    h('div', {}, h('label', { for: 'word-sources' }, 'Advertisements of these sources'),
      h('textarea', { id: 'word-sources', name: 'sources', rows: 2, 'aria-describedby': 'word-sources-hint' }, known.sources.join('\n')),
      h('p', { class: 'muted hint', id: 'word-sources-hint' }, 'As in the event’s source; each on a line of its own.'))),
  h('fieldset', {}, h('legend', {}, 'Quiet hours, in which advertisements wait'),
    h('div', { class: 'toolbar' },
      field('word-start', 'From', { type: 'time', name: 'quiet', value: hours.start }), field('word-end', 'until', { type: 'time', value: hours.end }),
      field('word-zone', 'Time zone', { name: 'zone', value: hours.zone, placeholder: 'Europe/Berlin', list: 'zones' })),
    h('datalist', { id: 'zones' }, rules.zones.map((name) => h('option', { value: name }))),
    h('div', { class: 'days', role: 'group', 'aria-label': 'Days on which they begin' }, days.map(([name, title]) => check(`word-${name}`, title, { checked: hours.days.includes(name) }))),
    h('p', { class: 'muted hint' }, `Without times there are none; without a day they begin on each. Without a zone the event’s counts${rules.defaultZone ? `, else ${rules.defaultZone}` : ', and without that they hold nothing'}.`)),
  h('p', { class: 'toolbar' }, h('button', { class: 'primary' }, 'Change'),
    word.isKnown && h('button', {
      type: 'button', class: 'danger', onclick: attempt(problem, () => change(word, null, rules, problem, result, app, state)),
    }, 'Forget the user')));
  return form;
}

/** What an opt-out and quiet hours say, in words. */
export function wordsOf({ optOut, quiet }) {
  return [`Does not want: ${optOut.length > 0 ? optOut.map(entryWords).join(', ') : 'nothing'}.`, `Quiet hours: ${quiet}.`];
}

/** Writes another word, or forgets the user (null), after a question. */
async function change(word, wanted, rules, problem, result, app, state) {
  const reason = await ask(wanted === null ? {
    title: `Forget ${word.user}?`, confirm: 'Forget the user', danger: true, reason: why,
    body: [h('p', {}, rules.keeps ? 'The record is deleted, quiet hours too. The opt-out is kept without the user’s name, until the user says something else.'
      : 'The record is deleted, and the user gets everything again. Events that are on their way are called then.')],
  } : {
    title: `Change what ${word.user} gets?`, confirm: 'Change it', reason: why,
    body: [...wordsOf(wanted).map((words) => h('p', {}, words)), h('p', { class: 'muted' }, 'This takes the place of opt-out and quiet hours as they are. What the service of users’ settings keeps in the record beside them stays.')],
  });
  if (!reason) return;
  const said = typeof reason === 'string' ? reason : undefined;
  const answer = await read(await post('/api/preferences/change', { user: word.user, ...wanted, reason: said }), againWord, problem, state);
  if (!answer) return;
  say(wanted === null ? `${word.user} is forgotten.` : `${word.user}: ${wordsOf(wanted).join(' ')}`);
  drawWord(result, { user: word.user, optOut: wanted?.optOut ?? [], isKnown: wanted !== null, quiet: answer.quiet, quietHours: answer.quietHours, command: answer.command }, rules, app, state);
}

// MARK: Recalls

const againRecall = ({ task }) => get(`/api/recalls/${task}`);

function drawRecall(section, query, app, state) {
  const result = h('div', {});
  const form = h('form', {
    class: 'toolbar', 'aria-label': 'What to recall',
    onsubmit: (event) => {
      event.preventDefault();
      const value = (name) => form.querySelector(`#recall-${name}`).value.trim();
      const subject = { campaign: value('campaign'), id: value('id'), user: value('user'), source: value('source') };
      if (link('/preferences', subject) !== location.pathname + location.search) return go('/preferences', subject);
      return tried(form, result, state, () => look(subject, result, app, state));
    },
  },
  field('recall-campaign', 'Campaign', { value: query.campaign, placeholder: 'spring' }),
  field('recall-id', 'or an event’s id', { value: query.id, placeholder: 'order-17' }),
  field('recall-user', 'its user', { value: query.id && query.user, placeholder: 'ann' }),
  field('recall-source', 'its source, if it has one', { value: query.source, placeholder: 'shop' }),
  h('button', { class: 'primary', id: 'recall-look' }, 'Look what is not called yet'));
  replace(section, h('h2', { id: 'recall' }, 'Recall'),
    h('p', { class: 'muted' }, 'What is recalled ends without a call, whenever it comes, replays included. What was called is not taken back.'), form, result);
}

async function look(subject, result, app, state) {
  const answer = await read(await get('/api/recalls', subject), againRecall, result, state);
  if (!answer) return;
  const shown = h('div', {});
  replace(result, shown);
  drawScope(shown, subject, answer, app, state);
  shown.querySelector('#scope').focus({ preventScroll: true });
}

function drawScope(shown, subject, { task: _, ...answer }, app, state) {
  const problem = h('div', {});
  const order = (name, title, kind) => h('button', { type: 'button', class: kind, onclick: attempt(problem, () => give(name, subject, answer, shown, app, state)) }, title);
  redraw(shown, answer, () => [
    h('h3', { id: 'scope', tabindex: -1 }, answer.subject),
    answer.isRecalled && h('p', {}, badge('warn', 'recalled'), answer.at && [' since ', time(answer.at)], answer.by && ` by ${answer.by}`, answer.reason && `: ${answer.reason}`),
    h('div', { role: 'status' }, answer.sentences.map((sentence) => h('p', {}, prose(sentence)))),
    app.viewer.canChange && h('p', { class: 'toolbar' },
      answer.isRecalled ? order('withdraw', 'Withdraw the recall') : order('give', 'Recall it', 'danger')),
    problem, command(answer.isRecalled ? [...answer.command, '--withdraw'] : answer.command),
  ]);
}

/** Recalls, or withdraws that, after a question; then looks again until nothing of it is left. */
async function give(name, subject, answer, shown, app, state) {
  const isRecall = name === 'give';
  const reason = await ask({
    title: isRecall ? `Recall ${answer.subject}?` : `Withdraw the recall of ${answer.subject}?`,
    body: [...(isRecall ? answer.sentences.map((sentence) => h('p', {}, prose(sentence))) : []),
      h('p', {}, isRecall ? 'Calls that have begun are not undone.' : 'Later calls begin again; what ended meanwhile stays suppressed.')],
    confirm: isRecall ? 'Recall it' : 'Withdraw it', danger: isRecall, reason: isRecall ? 'Why (results have it, and the audit)' : why,
  });
  if (!reason) return;
  await post(`/api/recalls/${name}`, { ...subject, reason: typeof reason === 'string' ? reason : undefined });
  say(isRecall ? `${answer.subject} is recalled.` : 'The recall is withdrawn.');
  await follow(subject, shown, app, state);
}

/** Looks again until nothing is left; the numbers are those after the recall. */
async function follow(subject, shown, app, state) {
  for (;;) {
    const answer = await settled(await get('/api/recalls', subject), againRecall, { isLeft: () => state.isLeft });
    if (!answer || state.isLeft) return;
    if (answer.state === 'failed') throw new Error(answer.error);
    drawScope(shown, subject, answer, app, state);
    if (!answer.isRecalled || !(answer.left > 0)) return;
    await pause(3000);
    if (state.isLeft || !shown.isConnected) return;
  }
}
