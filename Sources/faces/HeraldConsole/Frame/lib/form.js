// Parts of forms: inputs, boxes and buttons.

import { post } from './api.js';
import { fail, say } from './dialog.js';
import { h, replace } from './dom.js';

/** An input with its label, and a hint below it. */
export function field(id, label, attributes, hint) {
  return h('div', {}, h('label', { for: id }, label),
    h('input', { id, autocomplete: 'off', spellcheck: 'false', 'aria-describedby': hint && `${id}-hint`, ...attributes }),
    hint && h('p', { id: `${id}-hint`, class: 'muted hint' }, hint));
}

/** A checkbox. */
export function check(id, label, attributes) {
  return h('p', { class: 'check' }, h('input', { id, type: 'checkbox', ...attributes }), h('label', { for: id }, label));
}

/** A handler that shows an error in an element. */
export function attempt(problem, work) {
  return async (event) => {
    try {
      await work(event);
    } catch (error) {
      replace(problem, fail(error));
    }
  };
}

/** The announcement after a message is shown. */
export const revealed = 'The message is shown; the audit says by whom.';

/** An operators' button that requests a message and shows it. */
export function revealButton(problem, address, body, show) {
  return h('button', {
    type: 'button',
    onclick: attempt(problem, async () => {
      show((await post(address, body)).message);
      say(revealed);
    }),
  }, 'Reveal (goes into the audit)');
}
