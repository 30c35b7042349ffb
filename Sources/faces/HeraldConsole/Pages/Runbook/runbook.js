// The runbook of this version, as docs/RUNBOOK.md has it; a section is part of the address.

import { text } from '../../Frame/lib/api.js';
import { h, replace } from '../../Frame/lib/dom.js';
import { markdown } from '../../Frame/lib/markdown.js';

/** Where a link of the runbook leads within the console; null when what it names is not served here. */
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
