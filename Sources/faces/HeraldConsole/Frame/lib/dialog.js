// Questions before a change, and announcements for screen readers.

import { h, replace } from './dom.js';
import { count } from './format.js';

/** How long an announcement stands. */
const sayingTime = 10_000;
let saying;

/** Announces a sentence through the live region. */
export function say(sentence) {
  const said = document.getElementById('said');
  replace(said, sentence);
  clearTimeout(saying);
  saying = setTimeout(() => replace(said), sayingTime);
}

/** An error as an element, also announced. */
export function fail(error) {
  return h('p', { class: 'error', role: 'alert', 'data-status': error.status || undefined }, error.message ?? String(error));
}

/**
 * Asks; returns true when confirmed. `type` is a text to be typed first, `danger` colours the button, and `reason` also
 * asks for a sentence: the result is then that sentence, or false. `keep` is the button that changes nothing.
 */
export function ask({ title, body = [], confirm, keep = 'Back', type, danger = false, reason }) {
  return new Promise((resolve) => {
    const typed = type && h('input', { id: 'ask-typed', autocomplete: 'off', inputmode: 'numeric', required: true });
    const why = reason && h('input', { id: 'ask-reason', autocomplete: 'off', maxlength: 500 });
    const button = h('button', { class: danger ? 'danger' : 'primary', type: 'submit', disabled: Boolean(type) }, confirm);
    typed?.addEventListener('input', () => { button.disabled = typed.value.replaceAll(/[\s.,’']/g, '') !== String(type); });
    let answer = false;
    const dialog = h('dialog', { 'aria-labelledby': 'ask-title' },
      h('form', { method: 'dialog', onsubmit: () => { answer = reason ? (why.value.trim() || true) : true; } },
        h('h2', { id: 'ask-title' }, title),
        body,
        typed && h('p', {}, h('label', { for: 'ask-typed' }, `Type ${count(type)} to go on`), typed),
        why && h('p', {}, h('label', { for: 'ask-reason' }, reason), why),
        h('p', { class: 'toolbar' }, button, h('button', { type: 'button', onclick: () => dialog.close() }, keep))));
    const former = document.activeElement;
    dialog.addEventListener('close', () => {
      dialog.remove();
      former?.focus?.();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
    (typed || why || button).focus();
  });
}
