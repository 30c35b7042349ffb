// A chart's computations: axes, nearest points and words. No elements, and no library.

import { moment } from '../format.js';

/** Round time spans in seconds; shorter steps are decimal. */
const roundSpans = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];
/** The maximum number of intervals on a value axis. */
const mostIntervals = 5;
/** The maximum number of a table's rows, so that it stays readable. */
const tableRows = 20;
/** The length of a time axis with a single point. */
const shortestSpan = 60_000;

/** The smallest round number that is not smaller; 1 without data. */
export function decimalStep(least) {
  if (!(least > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((step) => Number((step * unit).toPrecision(1))).find((step) => step >= least);
}

// Two labels of an axis must differ, so a step is never smaller than the precision of its labels.

/** Rounds a step of counts: whole steps. */
export function wholeStep(least) {
  return Math.max(1, decimalStep(least));
}

/** Rounds a step of rates, which are written with one decimal. */
export function rateStep(least) {
  return Math.max(0.1, decimalStep(least));
}

/** Rounds a step of seconds, which are whole from 1 on; clocks have no decimal steps. */
export function spanStep(least) {
  if (least * mostIntervals <= 1) return Math.max(0.001, decimalStep(least));
  return roundSpans.find((step) => step >= least) ?? decimalStep(least / 86_400) * 86_400;
}

/** A value axis from 0: its top, and the step between its labels. */
export function valueAxis(most, step) {
  const size = step(most / mostIntervals);
  return { top: Math.max(1, Math.ceil(most / size - 1e-9)) * size, step: size };
}

/** The ends of a time axis; `times` are milliseconds in ascending order. */
export function timeRange(times) {
  const last = times.at(-1) ?? 0;
  return { min: Math.min(times[0] ?? 0, last - shortestSpan), max: last };
}

/** The round times of a time axis, in the reader's zone, at most so many intervals, and the step between them. */
export function timeTicks({ min, max }, intervals, zoneMinutes = new Date(max).getTimezoneOffset()) {
  const step = spanStep((max - min) / 1000 / intervals) * 1000;
  const zone = zoneMinutes * 60_000;
  const first = Math.ceil((min - zone) / step) * step + zone;
  const count = Math.max(0, Math.floor((max - first) / step) + 1);
  return { step, moments: Array.from({ length: count }, (_, index) => first + index * step) };
}

/** A time label; with seconds only for steps that have some. */
export function tickLabel(milliseconds, step) {
  const date = new Date(milliseconds);
  const parts = [date.getHours(), date.getMinutes(), ...(step % 60_000 === 0 ? [] : [date.getSeconds()])];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

/** The index of the time nearest to a given one; null without times. */
export function nearest(times, at) {
  let best = null;
  times.forEach((time, index) => {
    if (best === null || Math.abs(time - at) < Math.abs(times[best] - at)) best = index;
  });
  return best;
}

/** The index that a key moves to, Escape to the newest; null for other keys. */
export function moved(key, place, length) {
  const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -length, End: length, Escape: length };
  return Object.hasOwn(steps, key) && length > 0 ? Math.max(0, Math.min(length - 1, place + steps[key])) : null;
}

/** Whether neither neighbour has a value: the line is a dot there. */
export function isAlone(values, index) {
  return !Number.isFinite(values[index - 1]) && !Number.isFinite(values[index + 1]);
}

/** The time spans with flags set, each reaching halfway to the neighbouring times: [[from, to], …]. */
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

/** The newest value, null when unknown, and the highest and lowest known ones. */
export function extent(values) {
  const known = values.filter(Number.isFinite);
  return known.length === 0 ? null : { last: Number.isFinite(values.at(-1)) ? values.at(-1) : null, most: Math.max(...known), least: Math.min(...known) };
}

/** The accessible description of the picture. */
export function describe(lines, format) {
  const sentences = lines.map(({ name, values }) => {
    const found = extent(values);
    return found ? `${name}: now ${format(found.last)}, between ${format(found.least)} and ${format(found.most)}.` : `${name}: not known.`;
  });
  return sentences.join(' ') || 'There is nothing to show.';
}

/** All values of one time in a sentence. */
export function reading(lines, format, place, at) {
  return `${moment(at)}: ${lines.map(({ name, values }) => `${name} ${format(values[place] ?? null)}`).join(', ')}`;
}

/** The indices of the table's rows: the newest first, in equal steps. */
export function tableIndices(length) {
  const step = Math.max(1, Math.ceil(length / tableRows));
  return Array.from({ length: Math.ceil(length / step) }, (_, row) => length - 1 - row * step);
}
