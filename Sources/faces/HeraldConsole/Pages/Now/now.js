// Rates, what is in flight, what waits and until when: live, with ten minutes of history.

import { get, onNews } from '../../Frame/lib/api.js';
import { rateStep, spanStep, wholeStep } from '../../Frame/lib/chart/axes.js';
import { charts } from '../../Frame/lib/chart/charts.js';
import { badge, facts, h, replace, table } from '../../Frame/lib/dom.js';
import { ago, count, duration, prose, rate, time } from '../../Frame/lib/format.js';
import { endTone } from '../../Frame/lib/vocabulary.js';

/** The server keeps as many. */
const mostPoints = 300;
/** More lines in one chart cannot be told apart. */
const mostLines = 5;

const seconds = (value) => value === null ? '–' : duration(value * 1000);

/** The colour of an end of notifications or calls: the same wherever it is drawn, and green is what was delivered alone. */
export function colour(end) {
  return { good: 2, warn: 4, bad: 3, quiet: 5 }[endTone(end)];
}

/** One line for each of the largest series; what is absent in a point is 0 there. */
export function lines(points, member, name) {
  const sums = new Map();
  const colours = new Map();
  for (const point of points) {
    for (const [service, ends] of Object.entries(point[member])) {
      for (const [end, value] of Object.entries(ends)) {
        const key = JSON.stringify(name(service, end));
        sums.set(key, (sums.get(key) ?? 0) + value);
        colours.set(key, colour(end));
      }
    }
  }
  const keys = [...sums].sort((left, right) => right[1] - left[1]).slice(0, mostLines).map(([key]) => key).sort();
  return keys.map((key) => ({
    name: JSON.parse(key),
    colour: colours.get(key),
    values: points.map((point) => {
      let sum = 0;
      for (const [service, ends] of Object.entries(point[member])) {
        for (const [end, value] of Object.entries(ends)) if (JSON.stringify(name(service, end)) === key) sum += value;
      }
      return sum;
    }),
  }));
}

const service = (name) => name === '' ? 'unreadable' : name;

const ended = { format: rate, step: rateStep, empty: 'None has ended within ten minutes.' };
/** Each chart with its lines. */
const pictures = [
  { title: 'Notifications by push service and outcome', ...ended, lines: (points) => lines(points, 'outcomes', (name, end) => `${service(name)} ${end}`) },
  { title: 'Calls by result', ...ended, lines: (points) => lines(points, 'calls', (name, end) => end) },
  { title: 'Calls in flight, and their limit', format: count, step: wholeStep, empty: 'No worker says so.', lines: (points) => [
    { name: 'in flight', values: points.map(({ inFlight }) => inFlight) },
    { name: 'limit', values: points.map(({ inFlightLimit }) => inFlightLimit) }] },
  { title: 'From publication to outcome', format: seconds, step: spanStep, empty: 'None has ended within ten minutes.', lines: (points) => [
    { name: 'half within', values: points.map(({ halfSeconds }) => halfSeconds) },
    { name: '99 % within', values: points.map(({ mostSeconds }) => mostSeconds) }] },
  { title: 'Age of the oldest event', format: seconds, step: spanStep, empty: 'It is not known.', lines: (points) => [
    { name: 'oldest', values: points.map(({ oldestSeconds }) => oldestSeconds) }] },
  { title: 'Events that wait', format: count, step: wholeStep, empty: 'The brokers do not tell.', lines: (points) => [
    { name: 'not done', values: points.map(({ waiting }) => waiting) },
    { name: 'for a retry', values: points.map(({ retrying }) => retrying) }] },
];

const states = { older: ['warn', 'is of an older version'], ready: ['good', 'delivers'], 'not-ready': ['bad', 'does not deliver'], silent: ['warn', 'does not answer'], unasked: ['quiet', 'is asked'] };

function workers(current) {
  return table({
    caption: 'Workers, at their admin ports',
    columns: [{ title: 'Worker' }, { title: 'State' }, { title: 'Partitions', number: true }, { title: 'In flight', number: true },
      { title: 'Limit', number: true }, { title: 'Oldest event', number: true }, { title: 'Version' }],
    rows: current.workers.map((worker) => {
      const [kind, word] = states[worker.state] ?? ['quiet', worker.state];
      return [worker.address, [badge(kind, word), worker.sentence && [' ', prose(worker.sentence)]],
        count(worker.partitions), count(worker.inFlight), count(worker.inFlightLimit), seconds(worker.oldestSeconds), worker.version ?? '–'];
    }),
    empty: current.group.members === 0 ? 'The group has no member: no worker runs.'
      : 'No admin port can be asked from here. The setting console.workers names them.',
  });
}

function limits(current) {
  return table({
    caption: 'Rates that the backend bears, as the workers found',
    columns: [{ title: 'Push service' }, { title: 'Calls a second', number: true }],
    rows: current.limits.map(({ pns, callsPerSecond }) => [pns, count(callsPerSecond)]),
    empty: 'The backend never asked for fewer calls.',
  });
}

/** How much is due in each span and later; `due` has sums. */
export function spans(due, waiting) {
  return [...due.map((sum, index) => Math.max(0, sum - (index > 0 ? due[index - 1] : 0))), Math.max(0, waiting - (due.at(-1) ?? 0))];
}

function backlog(current) {
  const bounds = current.backlogWithinSeconds;
  const titles = bounds.map((bound) => bound === 0 ? 'Due now' : `Within ${duration(bound * 1000)}`);
  return table({
    caption: 'Events that wait for a retry, by when they are due',
    columns: [{ title: 'Delay' }, ...titles.map((title) => ({ title, number: true })), { title: 'Later', number: true }, { title: 'In all', number: true }],
    rows: current.backlog.filter(({ waiting }) => waiting > 0).map(({ delay, waiting, due }) => [delay,
      ...spans(due, waiting).map(count), count(waiting)]),
    empty: 'No event waits for a retry.',
  });
}

function partitions(current) {
  return table({
    caption: 'Partitions in which something waits, those furthest behind first',
    columns: [{ title: 'Partition' }, { title: 'Behind', number: true }, { title: 'Overdue', number: true }, { title: 'Oldest event' }, { title: 'State' }],
    rows: current.partitions.map((partition) => [
      `${partition.topic}/${partition.partition}`, count(partition.lag), partition.delay ? count(partition.overdue) : '–',
      time(partition.oldest),
      partition.stillSince ? [badge('warn', 'nothing done'), ' since ', time(partition.stillSince)]
        : !partition.hasMember ? badge('warn', 'no worker has it') : 'goes on']),
    empty: 'Nothing waits in any partition.',
  });
}

function summary(current, point) {
  const { group } = current;
  return facts([
    ['Workers that deliver', `${point?.ready ?? 0} of ${current.workers.length}`],
    ['Outages', point?.outages.length ? point.outages.join(', ') : 'none'],
    ['Group', group.problem ?? `${group.state}, ${count(group.members)} ${group.members === 1 ? 'member' : 'members'}`],
    ['Events that wait', `${count(group.waiting)}, and ${count(group.retrying)} for a retry`],
    ['Open dead letters of the last hour', count(current.deadLettersOfHour)],
    group.problem && group.at && ['Kafka answered', ago(group.at)],
  ]);
}

/** The newest points, in the order of their times, each once. */
export function merged(points, more) {
  const known = new Set(points.map(({ at }) => at));
  return [...points, ...more.filter(({ at }) => !known.has(at))].sort((left, right) => left.at < right.at ? -1 : 1).slice(-mostPoints);
}

/** Whether points are missing between two; the step is 0 while it is not known. */
export function hasGap(last, point, step) {
  return step > 0 && last !== undefined && new Date(point.at) - new Date(last.at) > 3 * step;
}

export async function show(main) {
  const picture = await charts(pictures);
  const tables = h('div', {});
  const overview = h('div', { class: 'card' });
  main.append(h('h1', {}, 'Now'), overview, h('div', { class: 'charts' }, picture.elements), tables);
  let points = [];
  let drawn = '';

  function drawTables(current) {
    // Kept while nothing changes, so that somebody can read and select.
    const text = JSON.stringify({ ...current, at: null });
    if (text === drawn) return;
    drawn = text;
    const focused = tables.contains(document.activeElement) ? document.activeElement.getAttribute('aria-label') : null;
    const sections = [['Workers', workers], ['Waiting for a retry', backlog], ['Partitions', partitions], ['Limits', limits]];
    replace(tables, sections.map(([title, make]) => h('section', { class: 'card', 'aria-label': title }, h('h2', {}, title), make(current))));
    if (focused) tables.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  function draw(current) {
    if (!current) return;
    replace(overview, summary(current, points.at(-1)));
    picture.draw({
      times: points.map(({ at }) => at), faults: points.map(({ outages }) => outages.length > 0),
      lines: pictures.map((each) => each.lines(points)),
    });
    drawTables(current);
  }

  function add(more) {
    points = merged(points, more);
  }

  async function load() {
    const whole = await get('/api/now');
    add(whole.points);
    draw(whole.current);
    return whole.stepMilliseconds;
  }

  let step = 0;
  let isLoading = false;
  const endNews = onNews('now', ({ point, current }) => {
    if (!point) return;
    const last = points.at(-1);
    add([point]);
    draw(current);
    // After a pause of the connection the points between are missing here, not there.
    if (!isLoading && hasGap(last, point, step)) {
      isLoading = true;
      load().catch(() => {}).finally(() => { isLoading = false; });
    }
  });
  const end = () => {
    endNews();
    picture.end();
  };
  try {
    step = await load();
  } catch (error) {
    end();
    throw error;
  }
  return end;
}
