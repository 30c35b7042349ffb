// What the words mean with which something ends: HeraldEvents/Vocabulary decides, and a unit test compares.

/** How each outcome of a notification is shown. */
const outcomeTones = {
  'delivered': 'good',
  'dead-lettered': 'bad',
  'expired': 'warn',
  'cancelled': 'quiet',
  'duplicate': 'quiet',
};

/** How each end of a call is shown. */
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

/** The outcomes that a campaign counts of whom it did not reach, by their names there; the first is always shown. */
export const unreached = [
  'failed',
  'expired',
  'cancelled',
];

/** How an outcome is shown, or that there is none yet. */
export function outcomeTone(outcome) {
  return outcomeTones[outcome] ?? 'quiet';
}

/** How the end of a notification or of a call is shown; one that only a newer worker knows is none of the good. */
export function endTone(end) {
  return outcomeTones[end] ?? callTones[end] ?? 'bad';
}
