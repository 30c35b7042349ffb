// The equivalent command, ready to copy.

import { say } from './dialog.js';
import { h } from './dom.js';
import { visible } from './format.js';

/** A word, quoted for a POSIX shell. */
export function quoted(word) {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The command with a copy button, null without a command; words are quoted, because groups can have any name. */
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
