// The selected dead letters and the requested changes, in the forms of addresses, forms and requests.

import { contentTitles } from '../../Frame/lib/vocabulary.js';

const filterNames = ['group', 'where', 'since', 'until', 'partitions'];

/** The filter of an address, as the body of a request. */
export function filterOf(query) {
  const filter = {};
  for (const name of ['group', 'where', 'since', 'until']) if (query.get(name)) filter[name] = query.get(name);
  const partitions = query.get('partitions');
  if (partitions) filter.partitions = partitions.split(',').filter((part) => part !== '').map(Number);
  return filter;
}

/** The filter of an address, as its parameters. */
export function parametersOf(query) {
  return Object.fromEntries(filterNames.filter((name) => query.get(name)).map((name) => [name, query.get(name)]));
}

/** The filter of a request, as parameters of an address. */
export function addressOf(filter) {
  const { partitions, ids, ...rest } = filter ?? {};
  return { ...rest, partitions: partitions?.join(',') };
}

/** The parameters set by a submitted filter form; null removes one. */
export function changesOf(data) {
  return Object.fromEntries(filterNames.map((name) => [name, (data.get(name) ?? '').trim() || null]));
}

/** The parameters that remove every filter. */
export const noFilter = Object.fromEntries(filterNames.map((name) => [name, null]));

/** The filter of an address as words of a command. */
export function words(query) {
  const list = [];
  for (const [name, option] of [['group', '--group'], ['where', '--where'], ['since', '--since'], ['until', '--until'], ['partitions', '--partition']]) {
    if (query.get(name)) list.push(option, query.get(name));
  }
  return list;
}

/** A typed number; throws for other text, because the server would treat it as missing. */
function number(text, label) {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error(`${label}: “${text}” is no number.`);
  return value;
}

/** The labels of the numbers in the form "Change the plan". */
export const labels = { stop: 'Stop above bad outcomes, %', rate: 'At most a second' };

/** The plan that a submitted form "Change the plan" asks for, with the previous plan's selection. */
export function changedPlan(filter, data) {
  const value = (name) => (data.get(name) ?? '').trim() || undefined;
  const services = (name) => value(name)?.split(/[ ,]+/);
  const stop = number(value('stop'), labels.stop);
  const set = { user: value('user'), message: data.get('message') || undefined, pns: services('pns') };
  for (const [name] of contentTitles) set[name] = data.get(name) || undefined;
  return {
    filter, ramp: value('ramp'), stopIfFailures: stop === undefined ? undefined : stop / 100,
    rate: number(value('rate'), labels.rate), onlyPns: services('only'), freshKey: data.has('fresh') || undefined,
    again: data.has('again') || undefined, set: Object.values(set).some((text) => text !== undefined) ? set : undefined,
  };
}

/** The plan for a job's remainder, from the audit's record: with the same options, which it has as texts. */
export function planOfRest({ kind, filter, selection, options }) {
  if (!filter) throw new Error(`What it was about can no longer be told in full: ${selection}`);
  if (options.correction) throw new Error(`It corrected what it replayed (${options.correction}); choose the group and give the correction again.`);
  return {
    kind, filter, ramp: options.ramp, onlyPns: options['only-pns']?.split(','),
    freshKey: options['fresh-key'] === 'true', again: options.again === 'true',
    stopIfFailures: options['stop-if-failures'] ? parseFloat(options['stop-if-failures']) / 100 : undefined,
    rate: options.rate ? parseFloat(options.rate) : undefined,
  };
}
