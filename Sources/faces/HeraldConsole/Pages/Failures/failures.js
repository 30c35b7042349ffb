// What failed: groups of dead letters, one of them, and replay as a flow that cannot be done wrong.

import { get, onNews, post } from '../../Frame/lib/api.js';
import { command as commandLine } from '../../Frame/lib/command.js';
import { addressOf, changedPlan, changesOf, filterOf, labels, noFilter, parametersOf, planOfRest, words } from './dead-letters.js';
import { ask, fail, say } from '../../Frame/lib/dialog.js';
import { h, replace, table } from '../../Frame/lib/dom.js';
import { count, duration, percent, plural, sentence, time, visible } from '../../Frame/lib/format.js';
import { redraw, repeat } from '../../Frame/lib/live.js';
import { pattern, plan, planButton } from '../../Frame/lib/plan.js';
import { go, link, setQuery } from '../../Frame/lib/place.js';

const fields = ['reason', 'status', 'pns', 'campaign', 'source', 'topic', 'hour'];
const isOperator = (app) => app.viewer?.role === 'operator';

export async function show(main, place, app) {
  const [kind, name] = place.rest;
  if (kind === 'letter' && name) return showLetter(main, name, app);
  if (kind === 'letters') return showLetters(main, place, app);
  if (kind === 'plan' && name) return showPlan(main, name, app);
  if (kind === 'job' && name) return showJob(main, name, app);
  return showGroups(main, place, app);
}

// MARK: Parts of pages

/** The command beside a step; a group may be named after anything. */
function command(texts) {
  return commandLine(texts.map(visible));
}

/** Where one is below "Failures". */
function crumbs(...rest) {
  return h('p', { class: 'crumbs' }, h('a', { href: '/failures' }, 'All failures'), rest.map((item) => [' › ', item]));
}

function input(id, label, attributes) {
  return h('p', {}, h('label', { for: id }, label), h('input', { id, ...attributes }));
}

/** The form of filters; everything it says is in the address. */
function filters(place, { grouped }) {
  const { query } = place;
  const error = h('div', {});
  const by = grouped && h('p', {}, h('label', { for: 'by' }, 'Group by'),
    h('select', { id: 'by', name: 'by', onchange: (event) => setQuery({ by: event.target.value === 'reason' ? null : event.target.value }) },
      fields.map((field) => h('option', { value: field, selected: (query.get('by') ?? 'reason') === field }, field))));
  const text = (name, label, placeholder, size) => input(`filter-${name}`, label, {
    name, value: query.get(name) ?? '', placeholder, size, autocomplete: 'off', spellcheck: 'false',
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
    Object.keys(parametersOf(query)).length > 0 && h('button', { type: 'button', onclick: () => setQuery(noFilter) }, 'Show all')), error);
}

/** How far the console has read, and who works on the dead letters. */
function standing(status, app) {
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
    parts.push(h('p', {}, h('span', { class: 'badge warn' }, 'at work'), ` ${status.holder.owner}: ${status.holder.work} (job ${status.holder.job}), since `, time(status.holder.since)));
  }
  if (status.abandoned) parts.push(abandoned(status.abandoned, app));
  return parts;
}

/** A job whose process died: what it did is marked, and the rest can be planned. */
function abandoned(job, app) {
  const problem = h('div', {});
  return h('section', { class: 'card', 'aria-labelledby': 'abandoned' },
    h('h2', { id: 'abandoned' }, 'A job has ended without its last word'),
    h('p', {}, `Job ${job.job} of ${job.owner}: ${job.work}, begun `, time(job.since), '. What it has replayed is marked; a plan of the same takes only the rest.'),
    isOperator(app) && h('p', {}, h('button', {
      type: 'button', class: 'primary',
      onclick: async () => {
        try {
          const found = await get(`/api/failures/abandoned/${encodeURIComponent(job.job)}`);
          await plan(planOfRest(found));
        } catch (error) {
          replace(problem, fail(error));
        }
      },
    }, 'Plan what is left')), problem);
}

// MARK: Groups

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
    const rows = answer.groups.map((group) => {
      const filter = { ...filterOf(place.query), ...(group.key ? { group: group.key } : {}) };
      const open = group.count - group.replayed - group.resolved;
      return [
        group.key ? h('a', { href: link('/failures/letters', addressOf(filter)) }, group.group) : group.group,
        count(group.count), count(group.notifications), count(group.replayed), count(group.delivered), count(group.failedAgain), count(group.resolved),
        time(group.first), time(group.last), h('a', { href: `/failures/letter/${encodeURIComponent(group.sample)}` }, group.sample),
        [group.action, ' ', isOperator(app) && group.key && open > 0
          && planButton('Plan replay', () => ({ filter }), `Plan the replay of ${group.group}`, { class: 'primary plan' })],
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
        columns: [{ title: 'Group' }, { title: 'Letters', number: true }, { title: 'Notifications', number: true }, { title: 'Replayed', number: true }, { title: 'Delivered', number: true },
          { title: 'Failed again', number: true }, { title: 'Resolved', number: true }, { title: 'First' }, { title: 'Last' }, { title: 'Sample' }, { title: 'What to do' }],
        rows, empty: 'No dead letter matches.',
      }),
      answer.hidden > 0 && h('p', { class: 'muted' }, `${count(answer.hidden)} more groups; a condition shows fewer.`),
      h('p', { class: 'toolbar' }, h('a', { class: 'button', href: link('/failures/letters', parametersOf(place.query)) }, 'One by one'), exports(place.query, app)),
      command(['herald', 'dlq', 'list', '--group-by', parameters.by, ...words(place.query)]));
    if (hasFocus && button) [...groups.querySelectorAll('button')].find((item) => item.getAttribute('aria-label') === button)?.focus();
    replace(head, standing(answer.status, app));
  };

  // With the button for what is shown, or, where all are shown, for what the pattern means.
  const common = ({ pattern: found, matched }) => {
    if (!found?.words) return null;
    const filter = filterOf(place.query);
    if (found.condition && !filter.where) filter.where = found.condition;
    return [pattern(found, matched), isOperator(app) && Object.keys(filter).length > 0
      && h('p', {}, planButton('Plan their replay', () => ({ filter }), 'Plan the replay of those that have this in common', { class: 'primary plan' }))];
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
  // Before the groups, which may take their time.
  const endings = [
    onNews('failures', (status) => { latest = status; replace(head, standing(status, app)); }),
    onNews('jobs', (list) => replace(jobs, jobsCard(list))),
  ];
  await load();
  // However many come, the table stands still for two seconds.
  const timer = setInterval(() => {
    if (latest && latest.version !== shown && !place.query.get('whole')) load();
  }, 2000);
  return () => {
    isLeft = true;
    clearInterval(timer);
    for (const end of endings) end();
  };
}

/** The jobs of this console on dead letters, the newest first. */
function jobsCard(list) {
  const mine = list.filter((job) => job.kind.startsWith('dlq.')).slice(0, 5);
  if (mine.length === 0) return [];
  return h('section', { class: 'card', 'aria-labelledby': 'jobs' }, h('h2', { id: 'jobs' }, 'Jobs of this console'),
    h('ul', {}, mine.map((job) => h('li', {}, h('a', { href: `/failures/job/${job.id}` }, job.name || job.kind), ' ', stateBadge(job), ` by ${job.owner}, begun `, time(job.beganAt)))));
}

function stateBadge(job) {
  const kind = { running: 'good', paused: 'warn', stopping: 'warn', done: 'good', stopped: 'warn', failed: 'bad' }[job.state] ?? 'quiet';
  return h('span', { class: `badge ${kind}` }, job.state);
}

// MARK: Letters

/** Files of what the filter means. */
function exports(query, app) {
  const problem = h('span', {});
  const masked = ['csv', 'jsonl'].map((format) => h('a', {
    class: 'button', href: link('/api/failures/export', { ...parametersOf(query), format }), download: `dead-letters.${format}`,
  }, `Save as ${format.toUpperCase()}`));
  return [masked, isOperator(app) && h('button', {
    type: 'button',
    onclick: async () => {
      const isSure = await ask({
        title: 'Save with the messages’ texts?', confirm: 'Save with texts',
        body: h('p', {}, 'The file has what was written to people. That you take it goes into the audit topic.'),
      });
      if (!isSure) return;
      try {
        await saveRevealed(filterOf(query));
      } catch (error) {
        replace(problem, fail(error));
      }
    },
  }, 'Save with texts …'), problem];
}

async function saveRevealed(filter) {
  const response = await fetch('/api/failures/export', {
    method: 'POST', credentials: 'same-origin', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ filter, format: 'jsonl' }),
  });
  if (!response.ok) throw new Error((await response.json().catch(() => null))?.error ?? `The console answered ${response.status}.`);
  const url = URL.createObjectURL(await response.blob());
  const anchor = h('a', { href: url, download: 'dead-letters.jsonl' });
  anchor.click();
  URL.revokeObjectURL(url);
}

async function showLetters(main, place, app) {
  const { query } = place;
  const filter = filterOf(query);
  const list = h('section', { 'aria-labelledby': 'letters' });
  const problem = h('div', {});
  replace(main, crumbs('One by one'), h('h1', {}, filter.group ? `Dead letters of ${visible(filter.group)}` : 'Dead letters'),
    filters(place, { grouped: false }), problem, list);
  try {
    const answer = await get('/api/failures/letters', { ...parametersOf(query), behind: query.get('behind') });
    replace(list,
      h('h2', { id: 'letters' }, `${count(answer.matched)} match, the newest first`),
      standing(answer.status, app),
      answer.isCut && h('p', { class: 'error' }, 'Reading the topic took too long: these are not the newest of all. Take fewer.'),
      table({
        caption: 'Dead letters',
        columns: [{ title: 'Place' }, { title: 'When' }, { title: 'User' }, { title: 'Event' }, { title: 'Push services' }, { title: 'Reason' },
          { title: 'Status', number: true }, { title: 'State' }, { title: 'Detail' }],
        rows: answer.letters.map((letter) => [
          h('a', { href: `/failures/letter/${encodeURIComponent(letter.place)}` }, letter.place), time(letter.at), letter.user ?? '–',
          letter.id ? h('a', { href: link('/find', { id: letter.id }) }, letter.id) : '–', letter.pns.join(', '), letter.reason ?? '–',
          letter.status ?? '–', letter.replayOutcome ? `${letter.state}, ${letter.replayOutcome}` : letter.state, letter.detail ?? '',
        ]),
        empty: 'No dead letter matches.',
      }),
      h('p', { class: 'toolbar' },
        query.get('behind') && h('a', { class: 'button', href: link('/failures/letters', parametersOf(query)) }, 'Newest'),
        answer.next && h('a', { class: 'button', href: link('/failures/letters', { ...parametersOf(query), behind: answer.next }) }, 'Older'),
        exports(query, app),
        isOperator(app) && answer.matched > 0 && Object.keys(filter).length > 0 && [
          planButton('Plan replay', () => ({ filter }), 'Plan the replay of all that match', { class: 'primary plan' }),
          planButton('Plan to resolve', () => ({ kind: 'resolve', filter }), 'Plan to mark all that match as dealt with')]),
      command(['herald', 'dlq', 'list', '--group-by', 'none', ...words(query)]));
  } catch (error) {
    replace(problem, fail(error));
  }
}

// MARK: One letter

async function showLetter(main, name, app) {
  const { letters } = await get(`/api/failures/letters/${encodeURIComponent(name)}`);
  replace(main, crumbs(visible(name)), h('h1', {}, `Dead letter ${visible(name)}`), letters.map((letter) => letterCard(letter, app)));
}

function facts(entries) {
  return h('dl', {}, entries.filter(([, value]) => value !== undefined && value !== null && value !== '').map(([term, value]) => [h('dt', {}, term), h('dd', {}, value)]));
}

function letterCard(letter, app) {
  const text = h('div', {});
  const editor = h('div', {});
  const problem = h('div', {});
  const reveal = async () => {
    try {
      const answer = await post('/api/failures/reveal', { name: letter.place });
      const revealed = answer.letters.find((item) => item.place === letter.place) ?? {};
      const value = answer.values.find((item) => item.place === letter.place)?.value;
      replace(text, h('h3', {}, 'Message'), h('p', { class: 'message' }, revealed.message ?? '(no event)'),
        h('h3', {}, 'Value'), h('pre', {}, revealed.value ?? '(none)'));
      say('The message is shown. That goes into the audit.');
      return value;
    } catch (error) {
      replace(problem, fail(error));
      return null;
    }
  };
  const edit = async () => {
    const value = await reveal();
    if (value === null) return;
    if (value === undefined) {
      replace(problem, fail(new Error('The value is no text, or is not there any more: it cannot be edited here.')));
      return;
    }
    const area = h('textarea', { id: `edit-${letter.place}`, rows: 12, spellcheck: 'false' });
    area.value = value;
    replace(editor, h('label', { for: `edit-${letter.place}` }, 'What is published in its place; the dead letter stays as it is'), area,
      planButton('Plan replay of the edited event', () => ({ filter: { ids: [letter.place] }, edit: { place: letter.place, value: area.value } }),
        `Plan the replay of the edited event ${letter.place}`, { class: 'primary' }));
    area.focus();
  };
  return h('section', { class: 'card', 'aria-label': `Dead letter ${letter.place}` },
    h('h2', {}, letter.place, ' ', h('span', { class: `badge ${letter.state === 'open' ? 'warn' : 'quiet'}` }, letter.state),
      letter.replayOutcome && [' ', h('span', { class: `badge ${letter.replayOutcome === 'delivered' ? 'good' : 'quiet'}` }, letter.replayOutcome)]),
    facts([['Event', letter.id && h('a', { href: link('/find', { id: letter.id }) }, letter.id)], ['User', letter.user], ['Push services', letter.pns.join(', ')],
      ['Reason', letter.reason], ['Status', letter.status], ['Detail', letter.detail], ['Attempts', letter.attempts], ['Replays before', letter.replays || null],
      ['Published', letter.originTimestamp && time(letter.originTimestamp)], ['First attempt', letter.firstAttemptAt && time(letter.firstAttemptAt)],
      ['Dead letter since', time(letter.deadLetteredAt)], ['Expires', letter.expiresAt && time(letter.expiresAt)], ['Request', letter.origin], ['Source', letter.source],
      ['Campaign', letter.campaign && h('a', { href: `/campaigns/${encodeURIComponent(letter.campaign)}` }, letter.campaign)],
      ['Left out', letter.omitted?.join(', ')], ['Message', letter.messageBytes === undefined ? 'no event' : `masked, ${count(letter.messageBytes)} bytes`]]),
    table({
      caption: 'Attempts, the oldest first', columns: [{ title: 'When' }, { title: 'Push service' }, { title: 'Answer' }, { title: 'Took', number: true }],
      rows: letter.history.map((call) => [time(call.at), call.pns, call.status ?? call.error ?? 'no answer', duration(call.ms)]), empty: 'No attempt is in its history.',
    }),
    letter.marks.length > 0 && table({
      caption: 'What was done about it', columns: [{ title: 'When' }, { title: 'What' }, { title: 'Push services' }, { title: 'Job' }],
      rows: letter.marks.map((mark) => [time(mark.at), mark.state, mark.pns?.join(', ') ?? 'all', mark.job]),
    }),
    h('p', { class: 'toolbar' },
      letter.id && h('a', { class: 'button', href: link('/find', { id: letter.id }) }, 'Timeline of the event'),
      isOperator(app) && [
        h('button', { type: 'button', onclick: reveal }, 'Reveal the message'),
        letter.replay && h('button', { type: 'button', onclick: edit }, 'Edit and replay …'),
        letter.replay && planButton('Plan replay', () => ({ filter: { ids: [letter.place] }, again: letter.state === 'replayed' || undefined }), `Plan the replay of ${letter.place}`, { class: 'primary plan' }),
        letter.state === 'open' && planButton('Plan to resolve', () => ({ kind: 'resolve', filter: { ids: [letter.place] } }), `Plan to mark ${letter.place} as dealt with`)]),
    problem, text, editor,
    letter.replay && command(['herald', 'dlq', 'show', letter.place]));
}

// MARK: A plan

async function showPlan(main, id, app) {
  let isLeft = false;
  const head = h('div', {});
  const body = h('div', {});
  replace(main, crumbs('Plan'), h('h1', {}, 'Plan'), head, body);
  const read = async () => {
    const found = await get(`/api/failures/plans/${encodeURIComponent(id)}`);
    if (isLeft) return;
    if (found.state === 'planning') {
      replace(head, h('p', {}, h('label', { for: 'planning' }, `Looking through ${count(found.passed)} of ${count(found.total)} …`),
        h('progress', { id: 'planning', class: 'bar', max: Math.max(1, found.total), value: found.passed })));
      setTimeout(() => { if (!isLeft) read().catch((error) => replace(head, fail(error))); }, 300);
    } else {
      replace(head);
      drawPlan(body, found, app);
      say(found.planned === undefined ? 'The plan cannot be started.' : `The plan is ready: ${found.planned} of ${found.matched}.`);
    }
  };
  await read();
  return () => { isLeft = true; };
}

function again(label, { request }) {
  return request && planButton(label, () => request, label);
}

function drawPlan(body, found, app) {
  if (found.state === 'failed') return replace(body, fail(new Error(found.sentence)), h('p', {}, h('a', { href: '/failures' }, 'Back to the groups')));
  if (found.state === 'used') {
    return replace(body, h('p', {}, `${found.by} has started this plan. `, found.job && h('a', { href: `/failures/job/${found.job}` }, 'See how far it is')));
  }
  if (found.state === 'aged') {
    return replace(body, h('p', {}, 'The plan is older than a quarter of an hour, and what it was made of may have changed.'), again('Plan it again', found));
  }
  const isReplay = found.kind === 'replay';
  const verb = isReplay ? 'replayed' : 'resolved';
  return replace(body,
    h('section', { class: 'card', 'aria-labelledby': 'what' },
      h('h2', { id: 'what' }, `${count(found.planned)} of ${count(found.matched)} would be ${verb}${isReplay && found.planned > 0 ? `: ${plural(found.notifications, 'notification')}` : ''}`),
      h('p', { class: 'muted' }, found.selection),
      found.notice && h('p', {}, found.notice),
      pattern(found.pattern, found.matched),
      (found.warnings ?? []).map((warning) => h('p', { class: 'error warning' }, warning)),
      found.doubt && h('p', {}, `${found.doubt}.`),
      isReplay && facts([
        ['To', pairs(found.topics)], ['Calls', pairs(found.pushServices)], ['From', found.earliest && [time(found.earliest), ' to ', time(found.latest)]],
        ['Takes', found.takes], ['Batches', found.ramp], ['Stops above', `${percent(found.stopIfFailures)} % bad outcomes`],
        ['Replayed before', found.replayedBefore && pairs(found.replayedBefore)]]),
      isReplay && table({
        caption: 'What is left out, and why', columns: [{ title: 'Why' }, { title: 'Count', number: true }],
        rows: found.leftOut.map((item) => [item.words, count(item.count)]), empty: 'Nothing is left out.',
      }),
      isReplay && found.corrections.length > 0 && table({
        caption: `What is said otherwise${found.planned > found.corrections.length ? ', the first of them' : ''}`, columns: [{ title: 'Dead letter' }, { title: 'Correction' }],
        rows: found.corrections.map((item) => [item.place, item.words]),
      }),
      isReplay ? command([...found.command, '--dry-run']) : null),
    isReplay && isOperator(app) && found.request && changes(found),
    startForm(found, app));
}

function pairs(counts) {
  return Object.entries(counts ?? {}).map(([name, number]) => `${name} ${count(number)}`).join(', ');
}

/** Plans the same with other options, or corrected. */
function changes(found) {
  return h('details', { class: 'card' }, h('summary', {}, 'Change the plan'),
    h('form', {
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          await plan(changedPlan(found.request?.filter, new FormData(event.target)));
        } catch (error) {
          replace(event.target.querySelector('.problem'), fail(error));
        }
      },
    }, h('div', { class: 'grid' },
      h('fieldset', {}, h('legend', {}, 'How'), input('ramp', 'Batches', { name: 'ramp', value: found.ramp }),
        input('stop', labels.stop, { name: 'stop', inputmode: 'decimal', value: percent(found.stopIfFailures) }),
        input('rate', labels.rate, { name: 'rate', inputmode: 'decimal' })),
      h('fieldset', {}, h('legend', {}, 'Which'), input('only', 'Only these push services', { name: 'only' }),
        check('again', 'Also what was replayed or resolved before'), check('fresh', 'New idempotency keys')),
      h('fieldset', {}, h('legend', {}, 'Correct each'), input('user', 'User', { name: 'user', autocomplete: 'off' }),
        input('message', 'Message', { name: 'message', autocomplete: 'off' }), input('pns', 'Push services', { name: 'pns', autocomplete: 'off' }))),
    h('div', { class: 'problem' }), h('button', {}, 'Plan again')));
}

function check(name, label) {
  return h('p', { class: 'check' }, h('input', { id: name, name, type: 'checkbox' }), ' ', h('label', { for: name }, label));
}

function startForm(found, app) {
  if (found.planned === 0) return h('p', {}, 'There is nothing to do.');
  if (!app.viewer.canChange) return h('p', { class: 'muted' }, isOperator(app) ? 'This console is read-only; start it with --allow-changes.' : 'Only an operator may start it.');
  const isReplay = found.kind === 'replay';
  const label = isReplay
    ? (found.firstBatch && found.firstBatch < found.planned ? `Start with a canary of ${found.firstBatch}` : `Replay ${count(found.planned)}`)
    : `Resolve ${count(found.planned)}`;
  const why = h('input', { id: 'reason', name: 'reason', required: true, maxlength: 500, autocomplete: 'off' });
  const typed = found.isTyped && h('input', { id: 'typed', name: 'typed', inputmode: 'numeric', autocomplete: 'off', required: true });
  const problem = h('div', {});
  const hint = h('p', { class: 'muted' }, `The plan can be started once, for ${duration(found.secondsLeft * 1000)} from now on. `,
    isReplay && 'Each batch waits for its outcomes; it stops by itself when too many are bad.');
  const line = h('div', {});
  const drawLine = () => replace(line, command([...found.command, isReplay ? '--reason' : '--note', why.value || 'WHY']));
  why.addEventListener('input', drawLine);
  drawLine();
  return h('form', {
    class: 'card', 'aria-labelledby': 'start',
    onsubmit: async (event) => {
      event.preventDefault();
      if (typed && typed.value.trim() !== String(found.planned)) {
        replace(problem, fail(new Error(`Type ${found.planned} to confirm.`)));
        typed.focus();
        return;
      }
      const button = event.target.querySelector('button');
      button.disabled = true;
      try {
        const started = await post(`/api/failures/plans/${encodeURIComponent(found.id)}/start`, { count: found.planned, reason: why.value });
        go(`/failures/job/${started.job}`);
      } catch (error) {
        button.disabled = false;
        replace(problem, fail(error));
      }
    },
  }, h('h2', { id: 'start' }, isReplay ? 'Start the replay' : 'Resolve'),
  h('p', {}, h('label', { for: 'reason' }, isReplay ? 'Why (goes into the audit)' : 'What was done about them (goes into the audit)'), why),
  typed && h('p', {}, h('label', { for: 'typed' }, `Type ${found.planned} to confirm`), typed),
  problem, h('p', {}, h('button', { class: 'primary', id: 'start-button' }, label)), hint, line);
}

// MARK: A job

async function showJob(main, id, app) {
  const body = h('div', {});
  const open = h('div', {});
  replace(main, crumbs('Job'), h('h1', {}, 'Job'), body, open);
  const problem = h('div', {});
  let last = null;
  const draw = (job) => {
    const text = JSON.stringify(job);
    if (text === last) return;
    const focused = document.activeElement?.id;
    last = text;
    replace(body, jobCard(job, app, problem));
    if (focused?.startsWith('ask-for-')) document.getElementById(focused)?.focus();
  };
  let latest = await get(`/api/jobs/${encodeURIComponent(id)}`);
  draw(latest);
  let state = null;
  // What the open ones wait for is known of the retry topics.
  const endOpen = repeat(2000, async () => {
    const isOpen = !latest.endedAt && latest.kind === 'dlq.replay' && latest.progress?.open > 0;
    const answer = isOpen ? await get('/api/failures/open', { since: latest.beganAt }) : { open: [] };
    redraw(open, answer, () => openReplays(answer));
  }, () => {});
  const endJobs = onNews('jobs', (list) => {
    const job = list.find((item) => item.id === id);
    if (!job) return;
    latest = job;
    draw(job);
    // A screen reader hears what changes, not each number.
    if (state !== null && state !== job.state) say(job.sentence ?? `The job is ${job.state}.`);
    state = job.state;
  });
  return () => {
    endOpen();
    endJobs();
  };
}

/** What replayed events were answered last, and when they are called next. */
function openReplays({ open, count: all }) {
  if (open.length === 0) return [];
  return h('section', { class: 'card', 'aria-labelledby': 'open' }, h('h2', { id: 'open' }, 'Open: what they wait for'),
    table({
      caption: all > open.length ? `The newest of ${count(all)}` : 'Replayed, and not yet ended',
      columns: [{ title: 'Push services' }, { title: 'Last answer' }, { title: 'At' }, { title: 'Next call' }],
      rows: open.map((replay) => [replay.pns.join(', '), [replay.status ?? 'none', replay.detail && `: ${replay.detail}`],
        time(replay.answeredAt), replay.nextCall ? time(replay.nextCall) : '–']),
    }));
}

function jobCard(job, app, problem) {
  const { progress = {}, about = {} } = job;
  const isOver = Boolean(job.endedAt);
  const request = (name, label, kind) => h('button', {
    type: 'button', id: `ask-for-${name}`, class: kind,
    onclick: async () => {
      if (name === 'stop' && !await ask({
        title: 'Stop the replay?', confirm: 'Stop', danger: true,
        body: h('p', {}, `${count(progress.replayed ?? 0)} of ${count(progress.planned ?? about.count)} are replayed and stay so; the rest is as it was, and can be planned again.`),
      })) return;
      try {
        await post(`/api/jobs/${job.id}/${name}`);
        replace(problem);
      } catch (error) {
        replace(problem, fail(error));
      }
    },
  }, label);
  const batches = job.report?.batches ?? progress.batches ?? [];
  return h('section', { class: 'card', 'aria-labelledby': 'job' },
    h('h2', { id: 'job' }, job.name, ' ', stateBadge(job)),
    job.sentence && h('p', { class: job.state === 'failed' ? 'error' : null }, job.sentence),
    facts([['By', job.owner], ['Begun', time(job.beganAt)], ['Ended', job.endedAt && time(job.endedAt)], ['Why', about.reason],
      ['Now', !isOver && progress.waits && sentence(progress.waits.sentence)]]),
    progress.planned !== undefined && h('div', {},
      h('label', { for: 'replayed' }, `${count(progress.replayed)} of ${plural(progress.planned, 'dead letter')} replayed: ${plural(progress.delivered, 'notification')} delivered, ${count(progress.failed)} failed, ${count(progress.open)} open`),
      h('progress', { id: 'replayed', class: 'bar', max: Math.max(1, progress.planned), value: progress.replayed + (progress.skipped ?? 0) })),
    batches.length > 0 && table({
      caption: 'Outcomes of each batch',
      columns: [{ title: 'Batch', number: true }, { title: 'Dead letters replayed', number: true }, { title: 'Notifications delivered', number: true }, { title: 'Notifications failed', number: true }],
      rows: batches.map((batch) => [count(batch.batch), count(batch.replayed), count(batch.delivered), count(batch.failed)]),
    }),
    problem,
    !isOver && app.viewer.canChange && h('p', { class: 'toolbar' },
      job.canPause && (job.state === 'paused' ? request('resume', 'Continue', 'primary') : request('pause', 'Pause')), request('stop', 'Stop', 'danger')),
    // Whoever replays again cannot tell by marks what is left.
    isOver && job.state !== 'done' && isOperator(app) && about.request && !about.request.again
      && planButton('Plan what is left', () => about.request, 'Plan what is left', { class: 'primary' }),
    about.command && command([...about.command, job.kind === 'dlq.resolve' ? '--note' : '--reason', about.reason ?? '']));
}
