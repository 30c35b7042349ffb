// Numbers, durations and times as people read them.

import { h } from './dom.js';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** A whole number with separators between thousands. */
export function count(number) {
  return number === null || number === undefined ? '–' : whole.format(number).replaceAll(',', '\u202f');
}

/** So many a second. */
export function rate(perSecond) {
  if (perSecond === null || perSecond === undefined) return '–';
  return `${perSecond >= 10 ? count(perSecond) : fine.format(perSecond)}/s`;
}

/** A duration of milliseconds, with its two largest units. */
export function duration(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return '–';
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = Math.round(milliseconds / 1000);
  const units = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]];
  const first = units.findIndex(([, size]) => seconds >= size);
  const [unit, size] = units[first];
  const rest = Math.floor((seconds % size) / (units[first + 1]?.[1] ?? 1));
  return rest > 0 && first + 1 < units.length
    ? `${Math.floor(seconds / size)} ${unit} ${rest} ${units[first + 1][0]}` : `${Math.floor(seconds / size)} ${unit}`;
}

/** A moment (RFC 3339) in local time, with UTC in its title. */
export function time(text) {
  if (!text) return '–';
  const moment = new Date(text);
  if (Number.isNaN(moment.valueOf())) return text;
  const isToday = moment.toDateString() === new Date().toDateString();
  const shown = isToday ? moment.toLocaleTimeString('en-GB') : `${moment.toLocaleDateString('en-CA')} ${moment.toLocaleTimeString('en-GB')}`;
  return h('time', { datetime: text, title: text }, shown);
}

/** How long ago a moment was. */
export function ago(text) {
  return text ? `${duration(Math.max(0, Date.now() - new Date(text).valueOf()))} ago` : '–';
}

/** A message's text, or that it is masked. */
export function masked(text) {
  return text === null || text === undefined ? h('span', { class: 'muted' }, 'masked') : text;
}
