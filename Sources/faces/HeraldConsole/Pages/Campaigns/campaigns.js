// All campaigns, one of them as it runs, orders about it, and its report.

import { ApiError, get, onNews, post, save } from '../../Frame/lib/api.js';
import { command } from '../../Frame/lib/command.js';
import { ask, fail, say } from '../../Frame/lib/dialog.js';
import { badge, facts, h, replace, svg, table } from '../../Frame/lib/dom.js';
import { attempt, field, mark, revealButton, unmark } from '../../Frame/lib/form.js';
import { count, duration, masked, moment, plural, prose, rate, sentence, shares, time } from '../../Frame/lib/format.js';
import { redraw, repeat, settled } from '../../Frame/lib/live.js';
import { link } from '../../Frame/lib/place.js';
import { dropAll, encodingChoice, inForm, showForm, withUpload } from './campaign-form.js';
import { concerning } from './trouble.js';
import { contentFacts, unreached } from '../../Frame/lib/vocabulary.js';

const waitsForYou = 'waiting for you';
const kinds = { scheduled: 'good', running: 'good', 'waiting for you': 'warn', stopped: 'bad', paused: 'warn', cancelled: 'quiet', expired: 'bad', finished: 'quiet' };

export async function show(main, place, app) {
  if (place.rest.length > 0) return showOne(main, place.rest[0], app);
  if (place.query.has('new') && app.isOperator) return showForm(main, place.query.get('new'), app, place.query.has('add'));
  return showAll(main, app);
}

// MARK: The list

function showAll(main, app) {
  const list = h('div', {}, h('p', { role: 'status' }, 'Reading the campaigns.'));
  const problem = h('div', {});
  replace(main, h('h1', {}, 'Campaigns'),
    app.isOperator && h('p', { class: 'toolbar' }, h('a', { class: 'button primary', href: '/campaigns?new=' }, 'New campaign')),
    problem, list);
  return repeat(1000, async () => {
    const answer = await get('/api/campaigns');
    replace(problem);
    if (answer.state === 'done') redraw(list, answer, () => all(answer));
  }, (error) => { if (error.status !== 401) replace(problem, fail(error)); });
}

const capital = (word) => word[0].toUpperCase() + word.slice(1);

function all(answer) {
  const title = (name, number = true) => ({ title: name, number });
  const shown = unreached.filter((name, index) => index === 0 || answer.campaigns.some(({ outcomes }) => outcomes[name] > 0));
  return [
    table({
      caption: 'Notifications, one for each recipient and push service',
      columns: [title('Campaign', false), title('State', false), title('People'), title('Notifications'), title('Delivered'), ...shown.map((name) => title(capital(name))),
        title('Open'), title('Unpublished'), title('Started', false)],
      rows: answer.campaigns.map((campaign) => [
        h('a', { href: `/campaigns/${encodeURIComponent(campaign.name)}` }, campaign.name),
        [standingBadge(campaign.state), ['scheduled', waitsForYou, 'paused', 'stopped'].includes(campaign.state) && campaign.reason && h('div', { class: 'muted' }, prose(campaign.reason))],
        count(campaign.recipients && campaign.recipients + (campaign.formerRecipients ?? 0)), count(campaign.notifications),
        count(campaign.outcomes.delivered), ...shown.map((name) => count(campaign.outcomes[name])),
        count(campaign.open), count(campaign.unpublished), time(campaign.startedAt),
      ]),
      empty: 'There are no campaigns.',
    }),
    answer.uncounted.length > 0 && h('p', { class: 'muted' }, `Not counted to the end yet: ${answer.uncounted.join(', ')}. Their own pages do that.`),
    answer.damaged > 0 && h('p', { class: 'muted' }, `${count(answer.damaged)} records of the campaigns topic cannot be read; the command names them.`),
    command(answer.command),
  ];
}

function standingBadge(state) {
  return badge(kinds[state] ?? 'quiet', state);
}

// MARK: One campaign

function showOne(main, name, app) {
  const now = h('div', {}, h('p', { role: 'status' }, 'Reading its outcomes.'));
  const [problem, jobs, said] = [h('div', {}), h('div', {}), h('div', { role: 'status', class: 'unseen' })];
  const [orders, report] = [orderButtons(name, app, problem), reportSection(name, app)];
  replace(main, h('h1', {}, `Campaign ${name}`), problem, orders.element, now, jobs, report.element, messageSection(name, app),
    command(['herald', 'campaign', 'status', name]), said);
  let former = null;
  let own = [];
  let verdict = null;
  const ends = [
    onNews('jobs', (list) => {
      own = ofCampaign(list, name);
      redraw(jobs, own.map(({ progress, ...job }) => [job, waits(progress)]), () => own.map((job) => jobSection(job, app, problem)));
    }),
    onNews('verdict', (latest) => { verdict = latest; }),
    repeat(1000, async () => {
      const answer = await get(`/api/campaigns/${encodeURIComponent(name)}`);
      if (answer.state !== 'done') {
        if (answer.total > 0) redraw(now, [answer.passed], () => h('progress', { max: answer.total, value: answer.passed, 'aria-label': 'Results read' }));
        return;
      }
      // What was told of brokers that did not answer is over when they do.
      if (problem.dataset.from === 'reading' || (problem.querySelector('[data-status="503"]') && !answer.isSilent)) replace(problem);
      const { campaign } = answer;
      const trouble = concerning(verdict, campaign);
      if (former && former !== campaign.state) replace(said, `The campaign is ${campaign.state}.`);
      former = campaign.state;
      orders.update(campaign);
      redraw(now, { ...answer, trouble }, () => [campaign.hold && holding(campaign, app.viewer.canChange && (() => give('resume', campaign, problem)), problem), ...standing({ ...answer, trouble }, campaign)]);
    }, (error) => {
      if (error.status === 401) return;
      problem.dataset.from = 'reading';
      replace(problem, fail(error));
    }),
  ];
  return () => [...ends, report.end].forEach((end) => end());
}

/** What became of those who are published, as a campaign waits at a hold: pairs of a name and a number. */
export function sofar({ outcomes, feedback: hub, open }) {
  return [['delivered', outcomes.delivered], ...unreached.filter((name, index) => index === 0 || outcomes[name] > 0).map((name) => [name, outcomes[name]]),
    ...(hub ? [['nobody to reach (dead tokens)', hub.nobody], ['refused by push services or the hub', hub.refused]] : []), ['open', open]];
}

/** How far a campaign goes on from its hold. */
export function behind({ hold, recipients, formerRecipients = 0 }) {
  const everybody = recipients + formerRecipients;
  return hold.next < everybody ? `goes on with the next ${count(hold.next - hold.recipients)}, and waits again` : `goes on with the other ${count(everybody - hold.recipients)}, to the end`;
}

function holding(campaign, go, problem) {
  const { hold, recipients, formerRecipients = 0 } = campaign;
  return h('section', { class: 'card', 'aria-labelledby': 'hold' },
    h('h2', { id: 'hold' }, `It waits for you: ${count(hold.recipients)} of ${plural(recipients + formerRecipients, 'recipient')} ${hold.recipients === 1 ? 'is' : 'are'} published`),
    facts(sofar(campaign).map(([name, number]) => [capital(name), count(number)])),
    h('p', { class: 'toolbar' }, go && h('button', { type: 'button', class: 'primary', id: 'order-go', onclick: attempt(problem, go) }, 'Go on'),
      h('span', {}, `It ${behind(campaign)}.`)));
}

function standing(answer, campaign) {
  const rest = { since: campaign.since, by: campaign.by, reason: campaign.reason };
  return [
    h('section', { class: 'card', 'aria-label': 'How it stands' },
      h('p', {}, standingBadge(campaign.state), rest.since && [' since ', time(rest.since)], rest.by && ` by ${rest.by}`, rest.reason && [': ', prose(rest.reason)]),
      campaign.state === 'paused' && campaign.start?.sentence && h('p', {}, prose(`It ${sentence(campaign.start.sentence)}`)),
      campaign.recalled && h('p', {}, badge('warn', 'recalled'), ' ', prose(`It is ${sentence(campaign.recalled.sentence)}`)),
      campaign.startedAt && h('p', { class: 'muted' }, 'Started ', time(campaign.startedAt), ` by ${campaign.startedBy} · ${campaign.pns.join(', ')} · ${campaign.topic}`,
        campaign.expiresAt && [' · expires ', time(campaign.expiresAt)], limit(campaign)),
      picture(parts(answer, campaign)), figures(answer, campaign), services(campaign), h('p', {}, pace(answer, campaign)),
      campaign.pausedByFailures && byFailures(campaign), waiting(answer, campaign), campaign.rampWait && h('p', {}, prose(inForm(sentence(campaign.rampWait.sentence))))),
    campaign.feedback && feedback(campaign.feedback, campaign.outcomes.delivered),
    publisher(answer, campaign),
    answer.deleted > 0 && h('p', { class: 'muted' }, `${count(answer.deleted)} results, of this campaign or others, were deleted before they could be counted; what they said shows as waiting.`),
    campaign.outcomes.failed > 0 && h('p', {}, h('a', { href: failuresOf(campaign.name) }, 'Why some failed'),
      ', in their dead letters: one holds all push services of a recipient that failed alike, so they may be fewer.'),
  ].filter(Boolean);
}

/** The name and look of each known or expected outcome: patterns differ, because colours may be missing. */
export function parts(answer, campaign) {
  const { outcomes } = campaign;
  const known = [
    { name: 'delivered', count: outcomes.delivered, note: outcomes.recovered > 0 && `${count(outcomes.recovered)} of them by a replay` },
    answer.isBacklogKnown && { name: 'retrying', count: campaign.retrying ?? 0, note: answer.isBacklogPartly && 'about; the retry topics are long' },
    ...unreached.map((name, index) => (index === 0 || outcomes[name] > 0) && { name, count: outcomes[name], note: name === 'suppressed' && campaign.suppressedWhy }),
    { name: 'waiting', count: answer.isBacklogKnown ? campaign.waiting ?? 0 : campaign.open, note: [[campaign.suspended, 'suspended'], [campaign.inQuietHours, 'in quiet hours']].filter(([number]) => number > 0).map(([number, word]) => `${count(number)} of them ${word}`).join(', ') },
    campaign.unpublished > 0 && { name: 'unpublished', count: campaign.unpublished },
  ];
  return known.filter(Boolean);
}

function picture(outcomes) {
  const whole = outcomes.reduce((sum, part) => sum + part.count, 0);
  if (whole === 0) return null;
  let x = 0;
  const bars = outcomes.filter((part) => part.count > 0).map((part) => {
    const width = (part.count / whole) * 1000;
    const rect = svg('rect', { x, y: 0, width, height: 24, class: `part-${part.name}` });
    x += width;
    return rect;
  });
  // The table beside it has the same numbers.
  return svg('svg', { viewBox: '0 0 1000 24', preserveAspectRatio: 'none', class: 'outcomes', 'aria-hidden': 'true', focusable: 'false' }, bars);
}

function figures(answer, campaign) {
  const outcomes = parts(answer, campaign);
  const percents = shares(outcomes.map((part) => part.count));
  const hasNotes = outcomes.some((part) => part.note);
  return table({
    caption: `Notifications, one for each recipient on ${campaign.pns?.length === 1 ? campaign.pns[0] : `each of ${campaign.pns?.join(', ') ?? 'its push services'}`}`,
    columns: [{ title: 'Outcome' }, { title: 'Count', number: true }, { title: 'Share', number: true }, ...(hasNotes ? [{ title: 'Note' }] : [])],
    rows: outcomes.map((part, index) => [
      [svg('svg', { viewBox: '0 0 10 10', class: 'key', 'aria-hidden': 'true' }, svg('rect', { width: 10, height: 10, class: `part-${part.name}` })), ' ', part.name],
      count(part.count), percents[index],
      ...(hasNotes ? [part.note || ''] : []),
    ]),
  });
}

/** What became of the notifications of each push service, one for each person, as rows of a table. */
export function serviceRows({ byPushService = {}, published }) {
  return Object.entries(byPushService).map(([name, counts]) => [name, count(published), count(counts.delivered), ...unreached.filter((outcome) => isShown(byPushService, outcome)).map((outcome) => count(counts[outcome])), count(counts.open)]);
}

const isShown = (counted, outcome) => outcome === unreached[0] || Object.values(counted).some((counts) => counts[outcome] > 0);

function services(campaign) {
  const of = campaign.byPushService;
  if (!of || Object.keys(of).length < 2) return null;
  const title = (name) => ({ title: capital(name), number: true });
  return table({
    caption: 'Each push service', columns: [{ title: 'Push service' }, title('people'), title('delivered'), ...unreached.filter((outcome) => isShown(of, outcome)).map(title), title('open')],
    rows: serviceRows(campaign),
  });
}

/** Above which share of failures it pauses, where a start has said that. */
export const limit = ({ pauseIfFailures }) => typeof pauseIfFailures === 'number' && ` · pauses if more than ${Number((pauseIfFailures * 100).toFixed(2))} % fail`;

/** The speed, and the expected end. */
export function pace(answer, campaign) {
  // What ends now was in flight; and brokers that are silent tell no speed.
  if (['scheduled', waitsForYou, 'paused'].includes(campaign.state) || answer.isSilent) return null;
  if (answer.isOver) {
    return campaign.open > 0 ? `${plural(campaign.open, 'notification')} ${campaign.open === 1 ? 'is' : 'are'} left to ${campaign.open === 1 ? 'its' : 'their'} retries.`
      : 'Nothing will change any more, but by replays.';
  }
  if (campaign.perSecond === undefined) return null;
  const speed = campaign.perSecond > 0 ? `${rate(campaign.perSecond)} in the last 30 s` : 'No outcome in the last 30 s';
  return campaign.secondsLeft === undefined || answer.trouble || campaign.waits ? `${speed}.` : `${speed}, about ${duration(campaign.secondsLeft * 1000)} left.`;
}

/** What the campaign's open notifications wait for: what its own records tell, and what the verdict says of that. */
export function waitWords({ trouble }, { state, waits: wait }) {
  if (!['running', waitsForYou, 'stopped'].includes(state)) return null;
  // The rest of others waits for more.
  const subject = state !== 'running' ? 'What is published' : 'It';
  const own = wait && wait.for !== 'trouble' ? ownWait(wait, subject) : null;
  if (trouble) {
    if (own) return `${own} The verdict says: ${trouble.headline}.`;
    return `${trouble.services ? `What goes to ${trouble.services.join(' and ')}` : subject} waits, as the verdict says: ${trouble.headline}.`;
  }
  return wait?.for === 'trouble' ? `${subject} waits: ${wait.sentence[0].toLowerCase()}${sentence(wait.sentence).slice(1)}` : own;
}

function ownWait(wait, subject) {
  const [one, is] = [wait.count === 1, wait.count === 1 ? 'is' : 'are'];
  return wait.for === 'suspended' ? `${subject} goes on: ${plural(wait.count, 'suspended notification')} ${is} called again by ${wait.until}.`
    : wait.for === 'quiet-hours' ? `${subject} waits: ${plural(wait.count, 'notification')} ${one ? 'waits' : 'wait'} for the end of quiet hours, the next at ${wait.until}.`
      : `${subject} waits: ${plural(wait.count, 'notification')} ${one ? 'retries' : 'retry'}, the next at ${wait.until}.`;
}

function waiting(answer, campaign) {
  const words = waitWords(answer, campaign);
  return words && h('p', { class: 'waits' }, prose(words), answer.trouble && [' ', h('a', { href: '/' }, 'See the verdict'), '.']);
}

/** The failures of a campaign, which the backend's status tells apart best. */
const failuresOf = (name) => link('/failures', { where: `campaign = '${name}'`, by: 'status' });

/** What to do about a campaign that Herald has paused, because its notifications fail. */
function byFailures({ name, publishedAll }) {
  const failures = h('a', { href: failuresOf(name) }, 'their dead letters');
  const again = h('a', { href: link('/campaigns', { new: name }) }, 'start it again');
  return h('div', { class: 'advice' }, h('p', {}, 'Herald has paused it, because too many of its notifications fail. What to do:'), h('ol', {},
    h('li', {}, 'See why they fail, in the backend’s words: ', failures, '.'),
    h('li', {}, 'If the message, the audience or the backend is wrong: have the backend repaired and resume it, or cancel it.'),
    h('li', {}, 'If so many may fail, as with an old audience: ', again,
      ` with the same audience and a higher share under “Pause if more fail than”: that resumes it, too. Resume alone goes on, and pauses it again when as many fail.`,
      publishedAll && ' Nobody is notified twice, even if all are published.')));
}

/** The permanent note about an audience that was replaced. */
export function replaced(former) {
  return ` Another audience since ${moment(former.at)} by ${former.by}: ${count(former.unpublished)} of ${count(former.recipients)} were not published by then.`;
}

/** The permanent note about people who were added. */
export function added(addition) {
  return ` ${count(addition.recipients)} ${addition.recipients === 1 ? 'recipient' : 'recipients'} added at ${moment(addition.at)} by ${addition.by}.`;
}

// A publisher reports every five seconds.
const expectedSilence = 10;

/** What its publisher does, as far as it was heard of. */
export function atWork({ state, publisher: { by, silentSeconds } }) {
  const seen = `last report ${duration(Math.max(1, silentSeconds) * 1000)} ago`;
  if (silentSeconds > expectedSilence) return `Its publisher, ${by}, is silent: ${seen}. It reports every five seconds.`;
  return `Its publisher, ${by}, ${{ paused: 'waits until it is resumed', [waitsForYou]: 'waits for you', scheduled: 'waits for that moment' }[state] ?? 'is at work'} (${seen}).`;
}

/** What a start of a campaign does that has no publisher. */
function afterwards(start) {
  if (!start?.sentence) return 'goes on; nobody is notified twice.';
  return start.late ? 'begins at once.' : 'waits for that moment.';
}

function publisher(answer, campaign) {
  if (campaign.published === undefined) return h('p', { class: 'muted' }, campaign.startedAt ? 'Nothing is published yet.' : 'It was not started with herald campaign start.');
  const counts = `Published ${count(campaign.published)} of ${count(campaign.recipients + (campaign.formerRecipients ?? 0))} recipients.${
    campaign.excludedWords ? ` ${campaign.excludedWords}.` : ''}${(campaign.replacedAudiences ?? []).map(replaced).join('')}${(campaign.additions ?? []).map(added).join('')}`;
  const left = Math.max(0, campaign.recipients + (campaign.formerRecipients ?? 0) - campaign.published);
  if (campaign.publishedAll || !['scheduled', 'running', waitsForYou, 'paused', 'stopped'].includes(campaign.state)) {
    return h('p', {}, counts, left > 0 && ` ${plural(left, 'recipient')} will not be notified.`);
  }
  if (campaign.publisher.alive) {
    return h('p', {}, counts, ` ${atWork(campaign)}`, campaign.detached && ' Its audience is kept in Kafka: when that one ends, a console that may make changes, or herald campaign run, goes on.');
  }
  if (campaign.state === 'scheduled') return h('p', {}, counts, ' Its audience is kept in Kafka: a console that may make changes, or herald campaign run, publishes it then.');
  const isPaused = campaign.state === 'paused';
  // Why it is stopped says so already, or a resume.
  if (campaign.detached) return h('p', {}, counts, ' Its audience is kept in Kafka: a console that may make changes, or herald campaign run, publishes the rest.');
  if (campaign.hold) return h('p', {}, counts, ' Nobody publishes the rest: let it go on, and then ', h('a', { href: link('/campaigns', { new: campaign.name }) }, 'start it again with the same audience'), '.');
  return h('p', { class: 'badge bad' }, counts, isPaused ? ' Nobody publishes the rest. ' : ' ',
    h('a', { href: link('/campaigns', { new: campaign.name }) }, 'Start it again with the same audience'), `, and it ${isPaused ? 'is resumed and ' : ''}${afterwards(campaign.start)}`);
}

function feedback(told, taken) {
  const rows = [['taken by the backend', taken], ['reached a push service', told.reached], ['nobody to reach', told.nobody],
    ['refused by push services or the hub', told.refused], ['not told by the hub', told.untold], ['not known yet', told.open]];
  return h('section', { class: 'card', 'aria-label': 'Behind the hub' }, table({
    caption: 'What became of them behind the hub', columns: [{ title: 'What' }, { title: 'Notifications', number: true }],
    rows: rows.filter(([name, number]) => number > 0 || name === 'reached a push service').map(([name, number]) => [name, count(number)]),
  }));
}

// MARK: Orders

const orders = ['pause', 'resume', 'finish', 'cancel'];

function orderButtons(name, app, problem) {
  const buttons = orders.map((order) => h('button', {
    type: 'button', hidden: true, class: order === 'cancel' ? 'danger' : order === 'resume' && 'primary', id: `order-${order}`,
    onclick: attempt(problem, () => give(order, { name }, problem)),
  }, { pause: 'Pause', resume: 'Resume', finish: 'Finish now', cancel: 'Cancel for good' }[order]));
  const again = h('a', { class: 'button', hidden: true });
  const isPossible = ({ state, publishedAll, open }) => ({
    pause: ['scheduled', 'running', waitsForYou, 'stopped'].includes(state), resume: state === 'paused', finish: state === 'running' && publishedAll && open > 0,
    cancel: ['scheduled', 'running', waitsForYou, 'paused', 'stopped'].includes(state),
  });
  return {
    element: h('div', { class: 'toolbar', role: 'group', 'aria-label': 'Orders' }, app.viewer.canChange && buttons,
      app.viewer.obeysWords && h('a', { class: 'button', href: link('/preferences', { campaign: name }) }, 'Recall'), app.isOperator && again),
    update(campaign) {
      orders.forEach((order, index) => {
        const button = buttons[index];
        const isHidden = !isPossible(campaign)[order];
        // The focus goes to the element that replaced the button.
        const hadFocus = isHidden && document.activeElement === button;
        button.hidden = isHidden;
        if (hadFocus) (buttons.find((other) => !other.hidden) ?? document.getElementById('main')).focus();
      });
      const words = startAgain(campaign);
      again.hidden = !words;
      again.href = startPlace(campaign);
      if (words && again.textContent !== words) replace(again, words);
    },
  };
}

/** What another start of the campaign is for; null when it takes none. */
export function startAgain(campaign) {
  if (campaign.published === undefined || campaign.expired || ['cancelled', 'expired'].includes(campaign.state)) return null;
  if (campaign.publishedAll) return 'Add people';
  if (campaign.state === 'scheduled') return 'Change it';
  return campaign.publisher?.alive ? 'Take it over' : 'Start it again';
}

/** The form of that start: people are added in a file that need not have those who are published. */
export const startPlace = ({ name, publishedAll }) => link('/campaigns', { new: name, add: publishedAll ? 'people' : '' });

/** What has become of an order: what was done, because the campaign's own state (running, stopped) is said beside it. */
export function ordered(order, { changed, is }) {
  const done = { pause: 'paused', resume: 'resumed', finish: 'finished', cancel: 'cancelled' }[order];
  return changed ? `The campaign is ${done}.` : `The campaign was ${order === 'finish' ? done : is} already.`;
}

async function give(order, { name, hold }, problem) {
  delete problem.dataset.from;
  const place = `/api/campaigns/${encodeURIComponent(name)}`;
  const { consequence, at, command: words } = await get(`${place}/consequence/${order}`);
  const reason = await ask({
    title: `${hold ? 'Go on with' : capital(order)} campaign ${name}?`, body: [h('p', {}, prose(consequence)), h('p', { class: 'muted' }, 'Counted at ', time(at), '.'), command(words)],
    confirm: { pause: 'Pause it', resume: hold ? 'Go on' : 'Resume it', finish: 'Finish it', cancel: 'Cancel it for good' }[order], danger: order === 'cancel',
    keep: order === 'cancel' ? 'Keep it' : undefined,
    reason: order === 'resume' ? undefined : 'Why (others see it, and it goes into the audit)',
  });
  if (!reason) return;
  const answer = await post(`${place}/${order}`, { reason: typeof reason === 'string' ? reason : undefined, hold: hold?.recipients });
  say(hold ? 'The campaign goes on.' : ordered(order, answer));
}

// MARK: Its jobs in this console

const isAtWork = ({ state }) => state === 'running' || state === 'stopping';

/** The newest job in a list that publishes this campaign, while it does or when it has failed: of others the campaign's own state says more, and its numbers are of now. */
export function ofCampaign(jobs, name) {
  return jobs.filter((job) => job.kind === 'campaign.publish' && job.about?.campaign === name).slice(0, 1)
    .filter((job) => isAtWork(job) || job.state === 'failed');
}

// The campaign's own section says it: what outcomes wait for, a pause, a step.
const toldAbove = new Set(['campaign-paused', 'ramp-step', 'hold', 'next-turn', 'last-outcomes']);

/** What its publisher waits for, where the campaign's own section does not say it. */
export function waits(progress) {
  const wait = progress?.waits;
  if (!wait || toldAbove.has(wait.reason)) return null;
  return wait.reason === 'open-outcomes' ? `It publishes more once outcomes come: ${count(progress.open)} are open, as many as may be` : wait.sentence;
}

function jobSection(job, app, problem) {
  const wait = isAtWork(job) && waits(job.progress);
  return h('section', { class: 'card', 'aria-label': 'The publisher in this console' },
    h('h2', {}, 'Published by this console'),
    h('p', {}, job.state === 'failed' && [badge('bad', 'failed'), ' '], prose(job.sentence ?? (job.about.detached ? 'This console has taken it up: its audience is kept in Kafka.' : `Begun by ${job.owner}.`))),
    wait && h('p', {}, prose(sentence(wait))),
    isAtWork(job) && h('p', { class: 'muted' }, `It goes on when this tab is closed. When the console ends, ${job.about.detached ? 'another one that may make changes, or herald campaign run, goes on' : 'start the campaign again with the same audience'}.`),
    isAtWork(job) && app.viewer.canChange && h('button', {
      type: 'button', disabled: job.state === 'stopping',
      onclick: attempt(problem, async () => {
        const isSure = await ask({
          title: 'Stop publishing?', confirm: 'Stop publishing',
          body: [h('p', {}, 'What is published goes on; the rest waits until the campaign is started again with the same audience. Pause holds back what is published, too.')],
        });
        if (isSure) await post(`/api/jobs/${job.id}/stop`);
      }),
    }, 'Stop publishing'),
    command(job.about.command));
}

// MARK: Report and message

function reportSection(name, app) {
  const place = `/api/campaigns/${encodeURIComponent(name)}/report`;
  const result = h('div', { role: 'status' });
  const state = { isLeft: false, uploaded: null };
  const button = h('button', {}, 'Make a report');
  const make = async (form) => {
    const file = form.querySelector('#reportAudience')?.files[0];
    const begin = (upload) => get(place, { anew: 'true', ...written(form, upload) });
    const first = file ? await withUpload(file, result, state, begin) : await begin();
    const answer = first && await settled(first, () => get(place, written(form, file && state.uploaded?.key)), {
      isLeft: () => state.isLeft,
      draw: ({ passed, total }) => replace(result, h('p', {}, total > 0 ? `${count(passed)} of ${count(total)} results read.` : 'Reading the results.')),
    });
    if (!answer) return;
    if (answer.readings) encodingChoice(answer.readings, form.querySelector('#reportEncoding'), result);
    else if (answer.state === 'failed') throw new ApiError(inForm(answer.error), 409, answer.field);
    else replace(result, made(answer, name, place, app));
  };
  const form = h('form', {
    onsubmit: async (event) => {
      event.preventDefault();
      button.disabled = true;
      unmark(form);
      try {
        await make(form);
      } catch (error) {
        replace(result, mark(form, error) ? null : fail(error));
      }
      button.disabled = false;
    },
  },
  app.isOperator && field('reportAudience', 'The campaign’s audience (you may leave it out)', { type: 'file', accept: '.csv,.tsv,.txt,.jsonl,.ndjson,text/csv' },
    'With its file the lists of who was not reached and what was not delivered have its columns and those who were never published, and can be the audience of a new campaign.'),
  app.isOperator && h('div', { class: 'grid' },
    field('reportEncoding', 'Encoding', { name: 'encoding' }, 'Empty: as at the last start, or UTF-8; else it shows how the file may read.'),
    field('reportDelimiter', 'Between columns', { name: 'delimiter', placeholder: 'comma, semicolon, tab, pipe' }, 'Empty: what the first line shows.')),
  h('p', {}, button));
  return {
    element: h('section', { class: 'card', 'aria-labelledby': 'report' }, h('h2', { id: 'report' }, 'Report'),
      h('p', { class: 'muted' }, reportWords(app.isOperator)), form, result),
    end() {
      state.isLeft = true;
      dropAll(state);
    },
  };
}

/** What a report has for people who may take lists, and for others. */
export const reportWords = (isOperator) => `Who was not reached and why, and ${isOperator ? 'files' : 'a file'} to save: a page with outcomes over time and failures by reason${
  isOperator ? ', and lists of results and people as CSV' : ''}; without the message.`;

/** How the audience of a report is written, as the report is asked for. */
function written(form, upload) {
  const value = (id) => form.querySelector(`#${id}`)?.value.trim() || undefined;
  return upload ? { upload, encoding: value('reportEncoding'), delimiter: value('reportDelimiter') } : {};
}

const persons = (number) => `${count(number)} ${number === 1 ? 'person' : 'people'}`;

const causeWords = { 'suppressed: opted-out': 'suppressed: they have opted out', 'suppressed: recalled': 'suppressed: it was recalled', 'suppressed: quiet-expired': 'suppressed: expired in their quiet hours', 'suppressed: capped': 'suppressed: they had as many as caps allow' };

/** Why people were not reached, as rows of a table. */
export function causes({ people }) {
  return people.causes.map(({ why, reason, count: number }) => {
    const cause = reason ? `${why}: ${reason}` : why;
    return [causeWords[cause] ?? cause, count(number)];
  });
}

/** What the list of those who were not reached lacks, or may soon have wrong. */
export function listNotes({ people }) {
  return [
    people.stillNotified, ...people.omitted,
    people.unpublished > 0 && `${plural(people.unpublished, 'recipient')} ${people.unpublished === 1 ? 'was' : 'were'} never published and ${people.unpublished === 1 ? 'is' : 'are'} not in the lists, because the audience’s file alone names them: choose it above, and make the report again.`,
  ].filter(Boolean);
}

function made(answer, name, place, app) {
  const { people } = answer;
  const problem = h('div', {});
  const button = (list, label) => !answer.tooLarge.includes(list) && h('button', {
    type: 'button', onclick: attempt(problem, () => save(`${place}/lists/${list}`).then(() => say('The list is saved; the audit says by whom.'))),
  }, label);
  return [
    h('p', { class: 'toolbar' }, h('a', { class: 'button', href: `${place}/page`, download: '' }, 'Save the report'),
      app.isOperator && [button('not-reached', 'Save who was not reached'), button('not-delivered', 'Save what was not delivered'), button('results', 'Save all results')]), problem,
    app.isOperator && h('p', { class: 'muted' }, 'The lists are CSV and name people: who takes one is in the audit. What was not delivered has a line for each push service, of people who were reached on another one, too, and what is open. All results have a row for each end of a notification: its failure, and its delivery by a replay.',
      answer.tooLarge.length > 0 && ' A list above 1 GiB is left to the command.'),
    table({
      caption: `${persons(people.notReached)} not reached on any push service; ${count(people.reached)} reached`,
      columns: [{ title: 'Why' }, { title: 'People', number: true }], rows: causes(answer), empty: people.reached > 0 ? `All ${persons(people.reached)} who were published were reached.` : 'There is no outcome yet.',
    }),
    people.audience && h('p', {}, people.audience),
    listNotes(answer).map((note) => h('p', { class: 'badge warn' }, note)),
    h('details', { id: 'report-commands' }, h('summary', {}, 'The same on a command line'), command(answer.command),
      h('p', {}, 'What was not delivered and who was not reached, with the columns of the campaign’s audience (its file for AUDIENCE), so that a list can be the audience of a new campaign:'),
      command(answer.unreached)),
  ];
}

function messageSection(name, app) {
  const text = h('div', {}, h('p', {}, masked(null)));
  const button = app.isOperator
    && revealButton(text, `/api/campaigns/${encodeURIComponent(name)}/message`, undefined,
      (message, { message: _, ...content }) => replace(text, h('pre', {}, message), facts(contentFacts(content))));
  return h('section', { class: 'card', 'aria-labelledby': 'message' }, h('h2', { id: 'message' }, 'Message'), text, button);
}
