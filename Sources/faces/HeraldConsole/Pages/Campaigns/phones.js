// What phones show of a notification, drawn: nothing of it is loaded, a picture is a box with its host.

import { h } from '../../Frame/lib/dom.js';

/** The parts that do not reach a phone: those that one of its push services does not get. */
export function missing({ pns, omitted = {} }, phone) {
  const own = pns.filter((name) => (name === 'apns') === (phone === 'iPhone'));
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

/** The two phones side by side, and where a tap leads. */
export function phones(sample, found) {
  const isLinked = sample.link && found.pns.some((name) => !found.omitted?.[name]?.includes('link'));
  return h('section', { class: 'phones', 'aria-labelledby': 'phones' },
    h('h3', { id: 'phones' }, `As phones show it to ${sample.user}`),
    h('div', { class: 'pair' }, ['iPhone', 'Android'].map((phone) => drawn(sample, phone, found))),
    h('p', { class: 'muted hint' }, 'A drawing: title and message are cut about as a locked phone cuts them. Apps and settings decide the rest, such as the picture’s place.'),
    isLinked && h('p', { class: 'hint' }, 'A tap leads to ', h('code', {}, sample.link), '.'));
}
