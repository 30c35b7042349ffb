// Lists of dead letters, and single ones.

import { get, post } from '../../Frame/lib/api.js';
import { command } from '../../Frame/lib/command.js';
import { fail, say } from '../../Frame/lib/dialog.js';
import { badge, facts, h, replace, table } from '../../Frame/lib/dom.js';
import { attempt, revealed } from '../../Frame/lib/form.js';
import { count, duration, prose, time, visible } from '../../Frame/lib/format.js';
import { link } from '../../Frame/lib/place.js';
import { planButton } from '../../Frame/lib/plan.js';
import { contentFacts } from '../../Frame/lib/vocabulary.js';
import { filterOf, parametersOf, words } from './dead-letters.js';
import { crumbs, exports, filters, standing } from './parts.js';

export async function showLetters(main, place, app) {
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
        app.isOperator && answer.matched > 0 && Object.keys(filter).length > 0 && [
          planButton('Plan replay', () => ({ filter }), 'Plan replay of all that match', { class: 'primary plan' }),
          planButton('Plan to resolve', () => ({ kind: 'resolve', filter }), 'Plan to resolve all that match')]),
      command(['herald', 'dlq', 'list', '--group-by', 'none', ...words(query)]));
  } catch (error) {
    replace(problem, fail(error));
  }
}

export async function showLetter(main, name, app) {
  const { letters } = await get(`/api/failures/letters/${encodeURIComponent(name)}`);
  replace(main, crumbs(visible(name)), h('h1', {}, `Dead letter ${visible(name)}`), letters.map((letter) => letterCard(letter, app)));
}

function letterCard(letter, app) {
  const text = h('div', {});
  const editor = h('div', {});
  const problem = h('div', {});
  const reveal = async () => {
    const answer = await post('/api/failures/reveal', { name: letter.place });
    const shown = answer.letters.find((item) => item.place === letter.place) ?? {};
    replace(text, h('h3', {}, 'Message'), h('p', { class: 'message' }, shown.message ?? '(no event)'), facts(contentFacts(shown)),
      h('h3', {}, 'Value'), h('pre', {}, shown.value ?? '(none)'));
    say(revealed);
    return answer.values.find((item) => item.place === letter.place)?.value;
  };
  const edit = async () => {
    const value = await reveal();
    if (value === undefined) throw new Error('The value is no text, or is not there any more: it cannot be edited here.');
    const area = h('textarea', { id: `edit-${letter.place}`, rows: 12, spellcheck: 'false' });
    area.value = value;
    replace(editor, h('label', { for: `edit-${letter.place}` }, 'What is published in its place; the dead letter stays as it is'), area,
      planButton('Plan replay of the edited event', () => ({ filter: { ids: [letter.place] }, edit: { place: letter.place, value: area.value } }),
        `Plan replay of the edited event ${letter.place}`, { class: 'primary' }));
    area.focus();
  };
  return h('section', { class: 'card', 'aria-label': `Dead letter ${letter.place}` },
    h('h2', {}, letter.place, ' ', badge(letter.state === 'open' ? 'warn' : 'quiet', letter.state),
      letter.replayOutcome && [' ', badge(letter.replayOutcome === 'delivered' ? 'good' : 'quiet', letter.replayOutcome)]),
    facts([['Event', letter.id && h('a', { href: link('/find', { id: letter.id }) }, letter.id)], ['User', letter.user], ['Push services', letter.pns.join(', ')],
      ['Reason', letter.reason], ['Status', letter.status], ['Detail', letter.detail], ['Attempts', letter.attempts], ['Replays before', letter.replays || null],
      ['Published', letter.originTimestamp && time(letter.originTimestamp)], ['First attempt', letter.firstAttemptAt && time(letter.firstAttemptAt)],
      ['Dead letter since', time(letter.deadLetteredAt)], ['Expires', letter.expiresAt && time(letter.expiresAt)], ['Request', letter.origin], ['Source', letter.source],
      ['Campaign', letter.campaign && h('a', { href: `/campaigns/${encodeURIComponent(letter.campaign)}` }, letter.campaign)],
      ['Left out', letter.omitted?.join(', ')], ['Message', letter.messageBytes === undefined ? 'no event' : maskedBytes(letter.messageBytes)],
      ...contentFacts(letter.contentBytes, maskedBytes)]),
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
      app.isOperator && [
        h('button', { type: 'button', onclick: attempt(problem, reveal) }, 'Reveal the message'),
        canEdit(letter) && h('button', { type: 'button', class: letter.remedy === 'correct' && 'primary', onclick: attempt(problem, edit) }, 'Edit and replay …'),
        letter.replay && planButton('Plan replay', () => ({ filter: { ids: [letter.place] }, again: letter.state === 'replayed' || undefined }), `Plan replay of ${letter.place}`, { class: 'primary plan' }),
        letter.state === 'open' && planButton('Plan to resolve', () => ({ kind: 'resolve', filter: { ids: [letter.place] } }), `Plan to resolve ${letter.place}`,
          { class: ['resolve', 'leave'].includes(letter.remedy) && 'primary' })]),
    ...Object.entries(letter.lastWord ?? {}).map(([name, said]) => h('p', {}, `${name}: a replay ends as suppressed: `, prose(said.detail), '.')),
    letter.state === 'open' && remedies[letter.remedy] && h('p', { class: 'muted' }, remedies[letter.remedy]),
    problem, text, editor,
    command(['herald', 'dlq', 'show', letter.place]));
}

const remedies = {
  leave: 'A replay calls nobody: leave this one, or resolve it.',
  correct: 'A replay as it is fails again: edit it, or have its publisher send it again and resolve it.',
  resolve: 'A replay fails again: have it sent again if it is still wanted, and resolve this one.',
};

function maskedBytes(bytes) {
  return `masked, ${count(bytes)} bytes`;
}

/** Whether there is a value to edit. */
function canEdit(letter) {
  return letter.state !== 'resolved' && !(letter.omitted ?? []).some((part) => ['key', 'value'].includes(part));
}
