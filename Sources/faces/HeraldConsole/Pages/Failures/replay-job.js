// A running replay, and the jobs of this console.

import { get, onNews, post } from '../../Frame/lib/api.js';
import { command } from '../../Frame/lib/command.js';
import { ask, say } from '../../Frame/lib/dialog.js';
import { facts, h, replace, table } from '../../Frame/lib/dom.js';
import { attempt } from '../../Frame/lib/form.js';
import { count, plural, prose, sentence, time } from '../../Frame/lib/format.js';
import { redraw, repeat } from '../../Frame/lib/live.js';
import { planButton } from '../../Frame/lib/plan.js';
import { crumbs, stateBadge } from './parts.js';

/** This console's jobs on dead letters, newest first. */
export function jobsCard(list) {
  const mine = list.filter((job) => job.kind.startsWith('dlq.')).slice(0, 5);
  if (mine.length === 0) return [];
  return h('section', { class: 'card', 'aria-labelledby': 'jobs' }, h('h2', { id: 'jobs' }, 'Jobs of this console'),
    h('ul', {}, mine.map((job) => h('li', {}, h('a', { href: `/failures/job/${job.id}` }, job.name || job.kind), ' ', stateBadge(job), ` by ${job.owner}, begun `, time(job.beganAt)))));
}

export async function showJob(main, id, app) {
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
  // The retry topics tell what the open ones wait for.
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
    // A screen reader announces changes, not each number.
    if (state !== null && state !== job.state) say(job.sentence ?? `The job is ${job.state}.`);
    state = job.state;
  });
  return () => {
    endOpen();
    endJobs();
  };
}

/** The last answers to replayed events, and the times of their next calls. */
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
    onclick: attempt(problem, async () => {
      if (name === 'stop' && !await ask({
        title: 'Stop the replay?', confirm: 'Stop', danger: true,
        body: h('p', {}, `${count(progress.replayed ?? 0)} of ${count(progress.planned ?? about.count)} are replayed and stay so; the rest is as it was, and can be planned again.`),
      })) return;
      await post(`/api/jobs/${job.id}/${name}`);
      replace(problem);
    }),
  }, label);
  const batches = job.report?.batches ?? progress.batches ?? [];
  return h('section', { class: 'card', 'aria-labelledby': 'job' },
    h('h2', { id: 'job' }, job.name, ' ', stateBadge(job)),
    job.sentence && h('p', { class: job.state === 'failed' ? 'error' : null }, prose(job.sentence)),
    facts([['By', job.owner], ['Begun', time(job.beganAt)], ['Ended', job.endedAt && time(job.endedAt)], ['Why', about.reason],
      ['Now', !isOver && progress.waits && prose(sentence(progress.waits.sentence))]]),
    progress.planned !== undefined && h('div', {},
      h('label', { for: 'replayed' }, `${count(progress.replayed)} of ${plural(progress.planned, 'dead letter')} replayed: ${plural(progress.delivered, 'notification')} delivered, ${progress.suppressed > 0 ? `${count(progress.suppressed)} suppressed, ` : ''}${count(progress.failed)} failed, ${count(progress.open)} open`),
      h('progress', { id: 'replayed', class: 'bar', max: Math.max(1, progress.planned), value: progress.replayed + (progress.skipped ?? 0) })),
    batches.length > 0 && table({
      caption: 'Outcomes of each batch',
      columns: [{ title: 'Batch', number: true }, { title: 'Dead letters replayed', number: true }, { title: 'Notifications delivered', number: true }, { title: 'Notifications failed', number: true }],
      rows: batches.map((batch) => [count(batch.batch), count(batch.replayed), count(batch.delivered), count(batch.failed)]),
    }),
    problem,
    !isOver && app.viewer.canChange && h('p', { class: 'toolbar' },
      job.canPause && (job.state === 'paused' ? request('resume', 'Continue', 'primary') : request('pause', 'Pause')), request('stop', 'Stop', 'danger')),
    // For a repeated replay, marks do not show what is left.
    isOver && job.state !== 'done' && app.isOperator && about.request && !about.request.again
      && planButton('Plan what is left', () => about.request, 'Plan what is left', { class: 'primary' }),
    about.command && command([...about.command, job.kind === 'dlq.resolve' ? '--note' : '--reason', about.reason ?? '']));
}
