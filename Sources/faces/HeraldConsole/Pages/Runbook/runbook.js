// The runbook of this version, from docs/RUNBOOK.md; a section is part of the address.

import { text } from '../../Frame/lib/api.js';
import { h, replace } from '../../Frame/lib/dom.js';
import { markdown } from '../../Frame/lib/markdown.js';

/** The console address of a runbook link; null when its target is not served here. */
export function address(target) {
  if (target.startsWith('#')) return `/runbook/${target.slice(1)}`;
  return target.startsWith('https://') ? target : null;
}

/** The address of a section. */
export const section = (name) => `/runbook/${name}`;

export async function show(main, { rest }) {
  const body = h('div', { class: 'card prose' }, h('h1', {}, 'Runbook'));
  main.append(body);
  replace(body, markdown(await text('/runbook.md'), address));
  const heading = rest[0] ? document.getElementById(rest[0]) : null;
  if (!heading) return;
  heading.classList.add('wanted');
  heading.scrollIntoView();
}
