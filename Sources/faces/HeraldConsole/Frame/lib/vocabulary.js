// The words and tones of outcomes: HeraldEvents/Vocabulary decides, and a unit test compares.

/** The display of each outcome of a notification. */
const outcomeTones = {
  'delivered': 'good',
  'dead-lettered': 'bad',
  'expired': 'warn',
  'cancelled': 'quiet',
  'duplicate': 'quiet',
  'suppressed': 'quiet',
};

/** The display of each end of a call. */
const callTones = {
  'delivered': 'good',
  'transient': 'bad',
  'throttled': 'warn',
  'credentials': 'bad',
  'rejected': 'bad',
  'refused': 'bad',
  'reset': 'bad',
  'timeout': 'bad',
  'broken-http': 'bad',
  'tls': 'bad',
  'name-not-found': 'bad',
  'proxy-refused': 'bad',
  'oversized': 'bad',
};

/** A campaign's outcomes of people not reached, by their names there; the first is always shown. */
export const unreached = [
  'failed',
  'expired',
  'cancelled',
  'suppressed',
];

/** The parts of a notification beside its message, and their titles. */
export const contentTitles = [
  ['title', 'Title'],
  ['link', 'Link'],
  ['image', 'Picture'],
  ['data', 'Data'],
  ['badge', 'Badge'],
  ['sound', 'Sound'],
  ['category', 'Category'],
];

/** The parts beside a message, as pairs of a title and what `text` makes of the part. */
export function contentFacts(content, text = plain) {
  return contentTitles.filter(([name]) => content?.[name] !== undefined).map(([name, title]) => [title, text(content[name])]);
}

function plain(part) {
  return typeof part === 'object' ? Object.entries(part).map(([name, member]) => `${name}=${member}`).join(', ') : String(part);
}

/** The display of an outcome, or of its absence. */
export function outcomeTone(outcome) {
  return outcomeTones[outcome] ?? 'quiet';
}

/** The display of the end of a notification or call; an unknown one, from a newer worker, is never shown as good. */
export function endTone(end) {
  return outcomeTones[end] ?? callTones[end] ?? 'bad';
}
