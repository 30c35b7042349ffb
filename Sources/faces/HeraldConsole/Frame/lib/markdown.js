// The runbook's Markdown: headings, paragraphs, code, lists, tables, links. Other markup is not interpreted: every text
// becomes a text node.

import { h } from './dom.js';

const bullet = /^(?:(\d+)\.|-) +/;
const inlines = /`([^`]+)`|\*\*(.+?)\*\*|\*([^*\s](?:[^*]*[^*\s])?)\*|\[((?:[^\]`]|`[^`]*`)+)\]\(([^)\s]+)\)/g;

/** The anchor of a heading, in the form of forges. */
export function anchor(heading) {
  return heading.toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
}

/** A line's parts: texts, and [kind, content, target]; the content of a link is parts again. */
export function inline(text) {
  const parts = [];
  let last = 0;
  for (const match of text.matchAll(inlines)) {
    if (match.index > last) parts.push(text.slice(last, match.index));
    const [whole, code, strong, emphasis, label, target] = match;
    if (code !== undefined) parts.push(['code', code]);
    else if (label !== undefined) parts.push(['link', inline(label), target]);
    else parts.push(strong === undefined ? ['em', inline(emphasis)] : ['strong', inline(strong)]);
    last = match.index + whole.length;
  }
  if (last < text.length) parts.push(text.slice(last));
  return parts;
}

/** A row's cells; a bar within code separates nothing. */
function cells(line) {
  const found = [''];
  let isCode = false;
  for (const mark of line.trim().replace(/^\|/, '').replace(/\|$/, '')) {
    if (mark === '`') isCode = !isCode;
    if (mark === '|' && !isCode) found.push('');
    else found[found.length - 1] += mark;
  }
  return found.map((cell) => cell.trim());
}

/** The lines from a position that are blank or indented this far, without indentation and trailing blank lines. */
function indented(lines, from, depth) {
  let end = from;
  while (end < lines.length && (lines[end].trim() === '' || lines[end].startsWith(' '.repeat(depth)))) end += 1;
  while (end > from && lines[end - 1].trim() === '') end -= 1;
  return { found: lines.slice(from, end).map((line) => line.slice(depth)), end };
}

/** The blocks of a text: {kind: heading, level, text}, paragraph, code, {kind: table, head, rows}, {kind: list, isOrdered, items}. */
export function blocks(lines) {
  const found = [];
  let place = 0;
  while (place < lines.length) {
    const line = lines[place];
    const heading = /^(#+) (.*)$/.exec(line);
    if (line.trim() === '') place += 1;
    else if (heading) {
      found.push({ kind: 'heading', level: heading[1].length, text: heading[2] });
      place += 1;
    } else if (line.startsWith('    ')) {
      const code = indented(lines, place, 4);
      found.push({ kind: 'code', text: code.found.join('\n') });
      place = code.end;
    } else if (line.startsWith('|')) {
      const rows = [];
      while (place < lines.length && lines[place].startsWith('|')) rows.push(cells(lines[place++]));
      found.push({ kind: 'table', head: rows[0], rows: rows.slice(2) });
    } else if (bullet.test(line)) {
      const list = { kind: 'list', isOrdered: bullet.exec(line)[1] !== undefined, items: [] };
      while (place < lines.length && bullet.test(lines[place])) {
        const mark = bullet.exec(lines[place])[0];
        const rest = indented(lines, place + 1, mark.length);
        list.items.push(blocks([lines[place].slice(mark.length), ...rest.found]));
        place = rest.end;
        let next = place;
        while (lines[next]?.trim() === '') next += 1;
        if (bullet.test(lines[next] ?? '')) place = next;
      }
      found.push(list);
    } else {
      const text = [];
      while (place < lines.length && lines[place].trim() !== '' && !/^(#+ |\|)/.test(lines[place])
        && (text.length === 0 || !bullet.test(lines[place]))) text.push(lines[place++].trim());
      found.push({ kind: 'paragraph', text: text.join(' ') });
    }
  }
  return found;
}

function written(parts, address) {
  return parts.map((part) => {
    if (typeof part === 'string') return part;
    const [kind, content, target] = part;
    if (kind === 'code') return h('code', {}, content);
    if (kind !== 'link') return h(kind, {}, written(content, address));
    const href = address(target);
    // Without an address here a link is only its text.
    return href ? h('a', { href }, written(content, address)) : h('span', { title: target }, written(content, address));
  });
}

/** The text of a line's parts. */
function plain(parts) {
  return parts.map((part) => (typeof part === 'string' ? part : plain([part[1]].flat()))).join('');
}

/** The accessible name of each table: its heading, and a number where that has several. */
export function tableNames(found) {
  const names = new Map();
  const counts = new Map();
  let heading = '';
  for (const block of found) {
    if (block.kind === 'heading') heading = plain(inline(block.text));
    if (block.kind === 'table') {
      const count = (counts.get(heading) ?? 0) + 1;
      counts.set(heading, count);
      names.set(block, `Table of “${heading}”${count > 1 ? `, ${count}` : ''}`);
    }
  }
  return names;
}

function element(block, address, names = tableNames([block])) {
  const text = (line) => written(inline(line), address);
  switch (block.kind) {
    case 'heading': return h(`h${Math.min(6, block.level)}`, { id: anchor(block.text), tabindex: -1 }, text(block.text));
    case 'code': return h('pre', {}, h('code', {}, block.text));
    case 'table': return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': names.get(block) }, h('table', {},
      h('thead', {}, h('tr', {}, block.head.map((cell) => h('th', { scope: 'col' }, text(cell))))),
      h('tbody', {}, block.rows.map((row) => h('tr', {}, row.map((cell) => h('td', {}, text(cell))))))));
    case 'list': return h(block.isOrdered ? 'ol' : 'ul', {}, block.items.map((item) => h('li', {}, item.map((each) => element(each, address)))));
    default: return h('p', {}, text(block.text));
  }
}

/** The elements of a text; address returns a link's address here, or null. */
export function markdown(text, address) {
  const found = blocks(text.split('\n'));
  const names = tableNames(found);
  return found.map((block) => element(block, address, names));
}
