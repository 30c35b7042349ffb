// The plan to replay failures, and the pattern that failures share.

import { post } from './api.js';
import { fail } from './dialog.js';
import { chips, h, replace } from './dom.js';
import { count } from './format.js';
import { go } from './place.js';

/** Makes a plan and goes to it. */
export async function plan(request) {
  const made = await post('/api/failures/plans', request);
  go(`/failures/plan/${made.id}`);
}

/** A button that makes a plan; describe is its accessible name beside others. */
export function planButton(label, request, describe, attributes = {}) {
  const problem = h('span', {});
  return h('span', {}, h('button', {
    type: 'button', 'aria-label': describe, ...attributes,
    onclick: async (event) => {
      event.target.disabled = true;
      try {
        await plan(request());
      } catch (error) {
        event.target.disabled = false;
        replace(problem, fail(error));
      }
    },
  }, label), problem);
}

/** The dead letters that the pattern holds for: the open ones, when others are shown too. */
export function common(found, shown) {
  return found.count === shown ? 'In common: ' : `In common to the ${count(found.count)} that ${found.count === 1 ? 'is' : 'are'} open: `;
}

/** The pattern that failures share and deliveries do not, in a sentence; null without one. */
export function pattern(found, shown) {
  if (!found?.words) return null;
  return h('div', { class: 'pattern' }, h('strong', {}, common(found, shown)), chips(found.traits, 'What they have in common'));
}
