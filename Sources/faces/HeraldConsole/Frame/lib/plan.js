// From failures to the plan of their replay, and what failures have in common.

import { post } from './api.js';
import { fail } from './dialog.js';
import { h, replace } from './dom.js';
import { count } from './format.js';
import { go } from './place.js';

/** Makes a plan and goes to it. */
export async function plan(request) {
  const made = await post('/api/failures/plans', request);
  go(`/failures/plan/${made.id}`);
}

/** A button that makes a plan; describe is what it is called beside others. */
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

/** Of which dead letters that is true: of those that are open, when others are shown, too. */
export function common(found, shown) {
  return found.count === shown ? 'In common: ' : `In common to the ${count(found.count)} that ${found.count === 1 ? 'is' : 'are'} open: `;
}

/** What failures have in common that deliveries have not, in a sentence; nothing when there is no such thing. */
export function pattern(found, shown) {
  if (!found?.words) return null;
  return h('p', { class: 'pattern' }, h('strong', {}, common(found, shown)), `${found.words}.`);
}
