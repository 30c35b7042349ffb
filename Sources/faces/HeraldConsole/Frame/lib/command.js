// The command that does the same, to be copied.

import { say } from './dialog.js';
import { h } from './dom.js';
import { visible } from './format.js';

/** A word as a POSIX shell takes it. */
export function quoted(word) {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The command with a button that copies it, nothing when there is none; a group may be named after anything. */
export function command(words) {
  if (!words?.length) return null;
  const text = words.map((word) => quoted(visible(word))).join(' ');
  return h('p', { class: 'command' },
    h('code', {}, text),
    h('button', {
      type: 'button', 'aria-label': `Copy the command ${text}`,
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(text);
          say('The command is copied.');
        } catch {
          say('The browser does not allow copying here; select the command.');
        }
      },
    }, 'Copy'));
}
