// The plan of a replay or resolution, and the form that starts it.

import { get, post } from '../../Frame/lib/api.js';
import { command } from '../../Frame/lib/command.js';
import { fail, say } from '../../Frame/lib/dialog.js';
import { facts, h, replace, table } from '../../Frame/lib/dom.js';
import { attempt, check, field, keepTyped, keptPrefix } from '../../Frame/lib/form.js';
import { count, duration, percent, plural, time } from '../../Frame/lib/format.js';
import { settled } from '../../Frame/lib/live.js';
import { go } from '../../Frame/lib/place.js';
import { pattern, plan, planButton } from '../../Frame/lib/plan.js';
import { contentTitles } from '../../Frame/lib/vocabulary.js';
import { changedPlan, labels } from './dead-letters.js';
import { crumbs } from './parts.js';

export async function showPlan(main, id, app) {
  let isLeft = false;
  const head = h('div', {});
  const body = h('div', {});
  replace(main, crumbs('Plan'), h('h1', {}, 'Plan'), head, body);
  const read = () => get(`/api/failures/plans/${encodeURIComponent(id)}`);
  const first = await read().catch((error) => {
    // The console was started anew meanwhile, and has no plans; the tab knows what this one was of.
    const request = sessionStorage.getItem(requestKey(id, app));
    if (error.status !== 409 || !request) throw error;
    return { state: 'gone', request: JSON.parse(request) };
  });
  const finish = async () => {
    const found = await settled(first, read, {
      isLeft: () => isLeft,
      draw: ({ passed, total }) => replace(head, h('p', {}, h('label', { for: 'planning' }, `Looking through ${count(passed)} of ${count(total)} …`),
        h('progress', { id: 'planning', class: 'bar', max: Math.max(1, total), value: passed }))),
    });
    if (!found || isLeft) return;
    replace(head);
    drawPlan(body, found, app);
    say(found.planned === undefined ? 'The plan cannot be started.' : `The plan is ready: ${found.planned} of ${found.matched}.`);
  };
  finish().catch((error) => replace(head, fail(error)));
  return () => { isLeft = true; };
}

const requestKey = (id, app) => `${keptPrefix}${app.viewer.name} plan ${id}`;

function again(label, { request }) {
  return request && planButton(label, () => request, label);
}

function drawPlan(body, found, app) {
  if (found.state === 'failed') return replace(body, fail(new Error(found.sentence)), h('p', {}, h('a', { href: '/failures' }, 'Back to the groups')));
  if (found.state === 'used') {
    return replace(body, h('p', {}, `${found.by} has started this plan. `, found.job && h('a', { href: `/failures/job/${found.job}` }, 'See how far it is')));
  }
  if (found.state === 'aged' || found.state === 'gone') {
    return replace(body, h('p', {}, found.state === 'gone' ? 'The console has forgotten this plan: it was started anew since, or made many others.'
      : 'The plan is older than a quarter of an hour, and what it was made of may have changed.'), again('Plan it again', found));
  }
  if (found.request) sessionStorage.setItem(requestKey(found.id, app), JSON.stringify(found.request));
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
    isReplay && app.isOperator && found.request && changes(found, app),
    startForm(found, app));
}

function pairs(counts) {
  return Object.entries(counts ?? {}).map(([name, number]) => `${name} ${count(number)}`).join(', ');
}

const contentHints = { data: 'A JSON object of texts: {"order":"17"}', badge: 'A number' };

/** Makes the same plan with other options, or corrected. */
function changes(found, app) {
  const problem = h('div', {});
  const form = h('form', {
    'aria-label': 'Change the plan', onsubmit: attempt(problem, (event) => {
      event.preventDefault();
      return plan(changedPlan(found.request?.filter, new FormData(event.target)));
    }),
  }, h('div', { class: 'grid' },
    h('fieldset', {}, h('legend', {}, 'How'), field('ramp', 'Batches', { name: 'ramp', value: found.ramp }),
      field('stop', labels.stop, { name: 'stop', inputmode: 'decimal', value: percent(found.stopIfFailures) }),
      field('rate', labels.rate, { name: 'rate', inputmode: 'decimal' })),
    h('fieldset', {}, h('legend', {}, 'Which'), field('only', 'Only these push services', { name: 'only' }),
      check('again', 'Also what was replayed or resolved before', { name: 'again' }), check('fresh', 'New idempotency keys', { name: 'fresh' })),
    h('fieldset', {}, h('legend', {}, 'Correct each'), field('user', 'User', { name: 'user' }),
      field('message', 'Message', { name: 'message' }), field('pns', 'Push services', { name: 'pns' }),
      contentTitles.map(([name, title]) => field(name, title, { name }, contentHints[name])))),
  problem, h('button', {}, 'Plan again'));
  const isTyped = keepTyped(form, app.viewer).files !== null;
  return h('details', { class: 'card', open: isTyped }, h('summary', {}, 'Change the plan'), form);
}

function startForm(found, app) {
  if (found.planned === 0) return h('p', {}, 'There is nothing to do.');
  if (!app.viewer.canChange) return h('p', { class: 'muted' }, app.isOperator ? 'This console is read-only; start it with --allow-changes.' : 'Only an operator may start it.');
  const isReplay = found.kind === 'replay';
  const label = isReplay
    ? (found.firstBatch && found.firstBatch < found.planned ? `Start with a canary of ${found.firstBatch}` : `Replay ${count(found.planned)}`)
    : `Resolve ${count(found.planned)}`;
  const why = h('input', { id: 'reason', name: 'reason', required: true, maxlength: 500, autocomplete: 'off' });
  const typed = found.isTyped && h('input', { id: 'typed', name: 'typed', inputmode: 'numeric', autocomplete: 'off', required: true, 'data-confirms': true });
  const problem = h('div', {});
  const hint = h('p', { class: 'muted' }, `The plan can be started once, for ${duration(found.secondsLeft * 1000)} from now on. `,
    isReplay && 'Each batch waits for its outcomes; it stops by itself when too many are bad.');
  const line = h('div', {});
  const drawLine = () => replace(line, command([...found.command, isReplay ? '--reason' : '--note', why.value || 'WHY']));
  why.addEventListener('input', drawLine);
  drawLine();
  const form = h('form', {
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
  if (keepTyped(form, app.viewer).files) drawLine();
  return form;
}
