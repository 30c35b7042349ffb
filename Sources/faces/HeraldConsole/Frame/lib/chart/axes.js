// What a chart computes: its axes, what is nearest to a moment, and its words. No elements, and no library.

import { moment } from '../format.js';

/** Round spans of time in seconds; decimal steps are below them. */
const roundSpans = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];
/** An axis of values has as many intervals at most. */
const mostIntervals = 5;
/** A table with three hundred rows helps nobody. */
const tableRows = 20;
/** With one point only, an axis of time still has a length. */
const shortestSpan = 60_000;

/** The smallest round number that is not below; 1 when there is nothing to show. */
export function decimalStep(least) {
  if (!(least > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((step) => Number((step * unit).toPrecision(1))).find((step) => step >= least);
}

// Two numbers of an axis must not read alike, so that a step is never smaller than what is written of its numbers.

/** The same for what is counted: whole steps. */
export function wholeStep(least) {
  return Math.max(1, decimalStep(least));
}

/** The same for rates, which are written with one decimal. */
export function rateStep(least) {
  return Math.max(0.1, decimalStep(least));
}

/** The same for seconds, which are whole ones from the first on; clocks have no decimal steps. */
export function spanStep(least) {
  if (least * mostIntervals <= 1) return Math.max(0.001, decimalStep(least));
  return roundSpans.find((step) => step >= least) ?? decimalStep(least / 86_400) * 86_400;
}

/** An axis of values from 0: its top, and the step between its numbers. */
export function valueAxis(most, step) {
  const size = step(most / mostIntervals);
  return { top: Math.max(1, Math.ceil(most / size - 1e-9)) * size, step: size };
}

/** The ends of an axis of time; `times` are milliseconds in their order. */
export function timeRange(times) {
  const last = times.at(-1) ?? 0;
  return { min: Math.min(times[0] ?? 0, last - shortestSpan), max: last };
}

/** The round moments of an axis of time, in the reader's zone: at most so many intervals, and the step between them. */
export function timeTicks({ min, max }, intervals, zoneMinutes = new Date(max).getTimezoneOffset()) {
  const step = spanStep((max - min) / 1000 / intervals) * 1000;
  const zone = zoneMinutes * 60_000;
  const first = Math.ceil((min - zone) / step) * step + zone;
  const count = Math.max(0, Math.floor((max - first) / step) + 1);
  return { step, moments: Array.from({ length: count }, (_, index) => first + index * step) };
}

/** A moment at an axis: with seconds only where there are some. */
export function tickLabel(milliseconds, step) {
  const date = new Date(milliseconds);
  const parts = [date.getHours(), date.getMinutes(), ...(step % 60_000 === 0 ? [] : [date.getSeconds()])];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

/** The place of the time that is nearest to a moment; null when there is none. */
export function nearest(times, at) {
  let best = null;
  times.forEach((time, index) => {
    if (best === null || Math.abs(time - at) < Math.abs(times[best] - at)) best = index;
  });
  return best;
}

/** The place to which a key leads from a place, Escape to the newest; null when the key means nothing here. */
export function moved(key, place, length) {
  const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -length, End: length, Escape: length };
  return Object.hasOwn(steps, key) && length > 0 ? Math.max(0, Math.min(length - 1, place + steps[key])) : null;
}

/** Whether no neighbour has a value: there a line is a dot. */
export function isAlone(values, index) {
  return !Number.isFinite(values[index - 1]) && !Number.isFinite(values[index + 1]);
}

/** The spans of time where flags are set, each reaching halfway to the moments beside it: [[from, to], …]. */
export function runs(flags, times) {
  const found = [];
  const halfway = (index, other) => (times[index] + (times[other] ?? times[index])) / 2;
  flags.forEach((flag, index) => {
    if (!flag) return;
    if (flags[index - 1]) found.at(-1)[1] = halfway(index, index + 1);
    else found.push([halfway(index, index - 1), halfway(index, index + 1)]);
  });
  return found;
}

/** The newest value, null when it is not known, and the highest and the lowest of those that are. */
export function extent(values) {
  const known = values.filter(Number.isFinite);
  return known.length === 0 ? null : { last: Number.isFinite(values.at(-1)) ? values.at(-1) : null, most: Math.max(...known), least: Math.min(...known) };
}

/** What a screen reader says instead of the picture. */
export function describe(lines, format) {
  const sentences = lines.map(({ name, values }) => {
    const found = extent(values);
    return found ? `${name}: now ${format(found.last)}, between ${format(found.least)} and ${format(found.most)}.` : `${name}: not known.`;
  });
  return sentences.join(' ') || 'There is nothing to show.';
}

/** All values of one moment in a sentence. */
export function reading(lines, format, place, at) {
  return `${moment(at)}: ${lines.map(({ name, values }) => `${name} ${format(values[place] ?? null)}`).join(', ')}`;
}

/** Which of so many points the table has: the newest first, in equal steps. */
export function tableIndices(length) {
  const step = Math.max(1, Math.ceil(length / tableRows));
  return Array.from({ length: Math.ceil(length / step) }, (_, row) => length - 1 - row * step);
}
