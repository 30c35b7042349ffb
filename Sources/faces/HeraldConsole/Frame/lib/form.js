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

// MARK: What was typed

const isBox = ({ type }) => type === 'checkbox' || type === 'radio';

/** What was typed in these inputs, by their ids: of files the names alone, and no password or confirmation. */
export function typedIn(inputs) {
  const read = (input) => (isBox(input) ? input.checked : input.type === 'file' ? [...input.files].map(({ name }) => name) : input.value);
  return Object.fromEntries(inputs.filter(({ id, type, dataset }) => id && type !== 'password' && dataset?.confirms === undefined).map((input) => [input.id, read(input)]));
}

/** Types it again; returns the names of the files, which no page can choose, by the ids of their inputs. */
export function typeAgain(inputs, typed) {
  const files = {};
  for (const input of inputs) {
    const value = typed[input.id];
    if (value === undefined) continue;
    if (input.type === 'file') files[input.id] = value;
    else if (isBox(input)) input.checked = value;
    // A choice that is gone stays as it is.
    else if (!input.options || [...input.options].some((option) => option.value === value)) input.value = value;
  }
  return files;
}

/** With this begins the name of all that the tab keeps. */
export const keptPrefix = 'typed ';

/**
 * Keeps what is typed in a form, in this tab and for this person: whoever goes back, or signs in again, finds it.
 * Returns what was typed before, or null, and a function that forgets it.
 */
export function keepTyped(form, viewer) {
  const key = `${keptPrefix}${viewer.name} ${location.pathname}${location.search} ${form.getAttribute('aria-label') ?? form.getAttribute('aria-labelledby')}`;
  const keep = () => sessionStorage.setItem(key, JSON.stringify(typedIn([...form.elements])));
  for (const event of ['input', 'change', 'submit']) form.addEventListener(event, keep);
  const known = sessionStorage.getItem(key);
  const files = known && typeAgain([...form.elements], JSON.parse(known));
  for (const [id, names] of Object.entries(files ?? {})) {
    const hint = names.length > 0 && form.querySelector(`#${id}-hint`);
    if (hint) hint.prepend(h('strong', {}, `${names.join(', ')} was chosen: choose it again, because a page cannot keep a file. `));
  }
  return { files, forget: () => sessionStorage.removeItem(key) };
}

/** Forgets what was typed in all forms: who signs out leaves nothing to the next one. */
export function forgetTyped() {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(keptPrefix)) sessionStorage.removeItem(key);
}

/** A handler that shows an error in an element, in place of an earlier one. */
export function attempt(problem, work) {
  return async (event) => {
    replace(problem);
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
