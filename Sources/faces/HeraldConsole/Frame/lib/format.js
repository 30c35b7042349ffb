// Numbers, durations and times for people.

import { h } from './dom.js';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** A whole number with separators between thousands. */
export function count(number) {
  return number === null || number === undefined ? '–' : whole.format(number).replaceAll(',', '\u202f');
}

/** A number with its noun: `1 notification`, `420 notifications`. */
export function plural(number, one) {
  return `${count(number)} ${one}${number === 1 ? '' : 's'}`;
}

/** A rate per second. */
export function rate(perSecond) {
  if (perSecond === null || perSecond === undefined) return '–';
  return `${perSecond >= 10 ? count(perSecond) : fine.format(perSecond)}/s`;
}

/** A duration in milliseconds, in its two largest units. */
export function duration(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return '–';
  if (Math.round(milliseconds) < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = Math.round(milliseconds / 1000);
  const units = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]];
  const first = units.findIndex(([, size]) => seconds >= size);
  const [unit, size] = units[first];
  const rest = Math.floor((seconds % size) / (units[first + 1]?.[1] ?? 1));
  return rest > 0 && first + 1 < units.length
    ? `${Math.floor(seconds / size)} ${unit} ${rest} ${units[first + 1][0]}` : `${Math.floor(seconds / size)} ${unit}`;
}

/**
 * The parts of a whole in percent, which add up to 100 %: 0.0 % only for nothing, 100.0 % only for the whole. What
 * rounding leaves, or takes, is the largest part's; commands have the same rule (`CampaignWords.shares`).
 */
export function shares(parts) {
  const sum = parts.reduce((total, part) => total + part, 0);
  if (!(sum > 0)) return parts.map(() => '–');
  const tenths = parts.map((part) => (part > 0 && part < sum ? Math.min(999, Math.max(1, Math.round((part * 1000) / sum))) : part > 0 ? 1000 : 0));
  let left = 1000 - tenths.reduce((total, part) => total + part, 0);
  for (const index of [...parts.keys()].filter((one) => parts[one] > 0).toSorted((one, other) => parts[other] - parts[one])) {
    const change = Math.max(left, 1 - tenths[index]);
    tenths[index] += change;
    left -= change;
  }
  return tenths.map((value) => `${(value / 10).toFixed(1)}%`);
}

/** A share (from 0 to 1) in percent, as written: 0.07 is 7, and not 7.000000000000001. */
export function percent(part) {
  return String(Number((part * 100).toPrecision(12)));
}

/** The reader's zone at a given time, as its offset from UTC: names of zones differ between systems. */
export function zone(date) {
  const minutes = -date.getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? '\u2212' : '+'}${hours}${rest > 0 ? `:${String(rest).padStart(2, '0')}` : ''}`;
}

/** A time (RFC 3339) in local time with its zone, without the date if that is today; null for another text. */
export function moment(text, now = new Date()) {
  const date = new Date(text);
  if (Number.isNaN(date.valueOf())) return null;
  const isToday = date.toDateString() === now.toDateString();
  // Not by locale: the order of its dates depends on the browser's version.
  const digits = (number) => String(number).padStart(2, '0');
  const clock = `${[date.getHours(), date.getMinutes(), date.getSeconds()].map(digits).join(':')} ${zone(date)}`;
  return isToday ? clock : `${[date.getFullYear(), date.getMonth() + 1, date.getDate()].map(digits).join('-')} ${clock}`;
}

/** The same as an element, with UTC in its title. */
export function time(text) {
  if (!text) return '–';
  const shown = moment(text);
  return shown === null ? text : h('time', { datetime: text, title: text }, shown);
}

/** A text of the server with its moments by the reader's clock, and numbers that do not break at a line's end. */
export function prose(text, now = new Date()) {
  const day = now.toISOString().slice(0, 10);
  return text.replace(/(\d) (?=\d{3}(?!\d))/g, '$1\u202f')
    .split(/(\d{4}-\d\d-\d\dT[\d:.]+Z|(?:\d{4}-\d\d-\d\d )?\d\d:\d\d UTC)/)
    .map((part, index) => {
      if (index % 2 === 0) return part;
      if (part.endsWith('Z')) return time(part);
      const [date, clock] = part.length > 9 ? [part.slice(0, 10), part.slice(11, 16)] : [day, part.slice(0, 5)];
      return time(`${date}T${clock}:00Z`);
    });
}

/** The time passed since then. */
export function ago(text, now = Date.now()) {
  return text ? `${duration(Math.max(0, now - new Date(text).valueOf()))} ago` : '–';
}

/** Text with its control characters and writing-direction marks spelled out. */
export function visible(text) {
  // oxlint-disable-next-line no-control-regex -- it replaces exactly these
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (mark) => `\\u{${mark.codePointAt(0).toString(16).toUpperCase()}}`);
}

/** A message's text, or a note that it is masked. */
export function masked(text) {
  return text === null || text === undefined ? h('span', { class: 'muted' }, 'masked') : text;
}

/** A text from the server as a sentence of its own. */
export const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
