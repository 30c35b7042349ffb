// What phones show of a notification, drawn: nothing of it is loaded, a picture is a box with its host.

import { h, replace } from '../../Frame/lib/dom.js';
import { plural } from '../../Frame/lib/format.js';

const devices = new Map([['apns', 'iPhone'], ['wns', 'Windows']]);
const deviceOf = (service) => devices.get(service) ?? 'Android';

/** The parts that do not reach a phone: those that one of its push services does not get. */
export function missing({ pns, omitted = {} }, phone) {
  const own = pns.filter((name) => deviceOf(name) === phone);
  return new Set((own.length > 0 ? own : pns).flatMap((name) => omitted[name] ?? []));
}

/** What each phone writes: the heading, the text, and the host of the picture, without what does not reach it. */
export function shown(sample, phone, omitted = new Set()) {
  const [title, image] = ['title', 'image'].map((part) => (omitted.has(part) ? undefined : sample[part]));
  const { message } = sample;
  return { heading: title ?? (phone === 'iPhone' ? 'Your app' : ''), text: message.replaceAll('⏎', '\n'), host: image ? hostOf(image) : '' };
}

function hostOf(address) {
  try {
    return new URL(address).host;
  } catch {
    return '';
  }
}

function drawn(sample, phone, found) {
  const { heading, text, host } = shown(sample, phone, missing(found, phone));
  const picture = host && h('span', { class: 'picture' }, host);
  return h('figure', { class: `phone ${phone.toLowerCase()}` }, h('figcaption', {}, phone),
    h('div', { class: 'notification' },
      h('span', { class: 'icon', 'aria-hidden': 'true' }),
      h('div', { class: 'words' },
        phone === 'Android' && h('p', { class: 'app' }, 'Your app · now'),
        heading && h('p', { class: 'heading' }, h('span', { class: 'cut' }, heading), phone === 'iPhone' && h('span', { class: 'when' }, 'now')),
        h('p', { class: 'text' }, text)),
      picture));
}

/** Whose notifications are worth a look, each with why: the first one, that which shows most, that whose fields have least. */
export function views({ samples, longest, emptiest }) {
  const [first] = samples;
  const others = [
    longest && [longest, `the longest, with ${plural(longest.characters, 'character')}`],
    emptiest && [emptiest, `the emptiest, without ${emptiest.emptyFields.join(', ')}`],
  ];
  return [[first, 'the first'], ...others.filter((other) => other && other[0].user !== first.user)];
}

/** The phones with what one of the recipients gets; which one is chosen. */
export function phones(found) {
  const all = views(found);
  const shownOne = h('div', {}, sideBySide(all[0][0], found));
  return h('section', { class: 'phones', 'aria-labelledby': 'phones' },
    h('h3', { id: 'phones' }, 'As phones show it'),
    all.length > 1 && h('fieldset', {}, h('legend', {}, 'To'), all.map(([sample, why], index) => h('label', { class: 'check' },
      h('input', { type: 'radio', name: 'view', checked: index === 0, onchange: () => replace(shownOne, sideBySide(sample, found)) }),
      ` ${sample.user}, ${why}`))),
    shownOne);
}

function sideBySide(sample, found) {
  const isLinked = sample.link && found.pns.some((name) => !found.omitted?.[name]?.includes('link'));
  const kinds = ['iPhone', 'Android', ...(found.pns.includes('wns') ? ['Windows'] : [])];
  return [
    h('p', {}, `As phones show it to ${sample.user}`),
    h('div', { class: 'pair' }, kinds.map((phone) => drawn(sample, phone, found))),
    h('p', { class: 'muted hint' }, 'A drawing: title and message are cut about as a locked phone cuts them. Apps and settings decide the rest, such as the picture’s place.'),
    isLinked && h('p', { class: 'hint' }, 'A tap leads to ', h('code', {}, sample.link), '.'),
  ];
}
