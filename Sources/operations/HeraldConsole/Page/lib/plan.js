// From failures to the plan of their replay, and what failures have in common.

import { post } from './api.js';
import { fail } from './dialog.js';
import { h, replace } from './dom.js';
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

/** What failures have in common that deliveries have not, in a sentence; nothing when there is no such thing. */
export function pattern(found) {
  if (!found?.words) return null;
  return h('p', { class: 'pattern' }, h('strong', {}, 'In common: '), `${found.words}.`);
}
