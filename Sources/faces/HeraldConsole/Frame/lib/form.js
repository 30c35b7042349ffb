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

/** Marks the field that a refusal names, says it with its label, and goes there; false when the form has no such field. */
export function mark(form, error) {
  unmark(form);
  const input = error.field && form.querySelector(`#${CSS.escape(error.field)}, [name="${CSS.escape(error.field)}"]`);
  if (!input) return false;
  const label = input.closest('fieldset')?.querySelector('legend') ?? form.querySelector(`label[for="${CSS.escape(input.id)}"]`);
  const id = `${error.field}-mistake`;
  input.setAttribute('aria-invalid', 'true');
  input.setAttribute('aria-errormessage', id);
  (input.closest('fieldset') ?? input.parentElement).append(
    h('p', { id, class: 'error mistake', role: 'alert' }, `${label?.textContent ?? error.field}: ${error.reason}`));
  input.focus();
  return true;
}

/** Takes the marks back. */
export function unmark(form) {
  for (const said of form.querySelectorAll('.mistake')) said.remove();
  for (const input of form.querySelectorAll('[aria-invalid]')) {
    input.removeAttribute('aria-invalid');
    input.removeAttribute('aria-errormessage');
  }
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
      const answer = await post(address, body);
      show(answer.message, answer);
      say(revealed);
    }),
  }, 'Reveal (goes into the audit)');
}
