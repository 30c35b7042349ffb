// Questions before a change, and announcements for screen readers.

import { h, replace } from './dom.js';

/** Announces a sentence through the live region. */
export function say(sentence) {
  replace(document.getElementById('said'), sentence);
}

/** An error as an element, also announced. */
export function fail(error) {
  return h('p', { class: 'error', role: 'alert' }, error.message ?? String(error));
}

/**
 * Asks; returns true when confirmed. `type` is a text to be typed first, `danger` colours the button, and `reason` also
 * asks for a sentence: the result is then that sentence, or false.
 */
export function ask({ title, body = [], confirm, type, danger = false, reason }) {
  return new Promise((resolve) => {
    const typed = type && h('input', { id: 'ask-typed', autocomplete: 'off', inputmode: 'numeric', required: true });
    const why = reason && h('input', { id: 'ask-reason', autocomplete: 'off', maxlength: 500 });
    const button = h('button', { class: danger ? 'danger' : 'primary', type: 'submit', disabled: Boolean(type) }, confirm);
    typed?.addEventListener('input', () => { button.disabled = typed.value.trim() !== String(type); });
    let answer = false;
    const dialog = h('dialog', { 'aria-labelledby': 'ask-title' },
      h('form', { method: 'dialog', onsubmit: () => { answer = reason ? (why.value.trim() || true) : true; } },
        h('h2', { id: 'ask-title' }, title),
        body,
        typed && h('p', {}, h('label', { for: 'ask-typed' }, `Type ${type} to go on`), typed),
        why && h('p', {}, h('label', { for: 'ask-reason' }, reason), why),
        h('p', { class: 'toolbar' }, button, h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'))));
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
