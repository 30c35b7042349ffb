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

/** The sections' titles by their names, once they are read. */
export const titles = new Map();

/** Reads the sections' titles, once. */
export async function loadTitles() {
  if (titles.size > 0) return;
  const body = h('div', {}, markdown(await text('/runbook.md').catch(() => ''), address));
  for (const heading of body.querySelectorAll('h2[id], h3[id]')) titles.set(heading.id, heading.textContent);
}

export async function show(main, { rest }) {
  const body = h('div', { class: 'card prose' }, h('h1', {}, 'Runbook'));
  main.append(body);
  replace(body, markdown(await text('/runbook.md'), address));
  const heading = rest[0] ? document.getElementById(rest[0]) : null;
  if (!heading) return;
  heading.classList.add('wanted');
  heading.scrollIntoView();
}
