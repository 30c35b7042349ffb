// Elements without markup in strings: text from a record becomes a text node or an attribute's value.

const svgNamespace = 'http://www.w3.org/2000/svg';

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An HTML element; members that begin with "on" are listeners, null and false are omitted. */
export function h(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes, ...children) {
  return build(document.createElementNS(svgNamespace, tag), attributes, children);
}

/** Replaces an element's content with these nodes. */
export function replace(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/**
 * A table with a caption; the first cell of a row is its header.
 * columns: [{title, number}], rows: [[cell, …]], a cell being a text, a node or a list of them.
 */
export function table({ caption, columns, rows, empty = 'Nothing.' }) {
  if (rows.length === 0) return h('p', { class: 'muted' }, empty);
  const head = h('tr', {}, columns.map((column) => h('th', { scope: 'col', class: column.number && 'number' }, column.title)));
  const body = rows.map((row) => h('tr', {}, row.map((cell, index) => index === 0
    ? h('th', { scope: 'row', class: columns[index].number && 'number' }, cell)
    : h('td', { class: columns[index].number && 'number', 'data-title': columns[index].title }, cell))));
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    h('table', {}, h('caption', {}, caption), h('thead', {}, head), h('tbody', {}, body)));
}

/** A word on a background of its kind: good, warn, bad or quiet. */
export function badge(kind, ...content) {
  return h('span', { class: `badge ${kind}` }, ...content);
}

/** Conditions, each a chip; null without any. */
export function chips(texts, label) {
  return texts?.length > 0 ? h('ul', { class: 'chips', 'aria-label': label }, texts.map((text) => h('li', { class: 'badge quiet' }, text))) : null;
}

/** A list of terms with their facts; terms without facts are omitted. */
export function facts(entries) {
  const known = entries.filter((entry) => entry && ![undefined, null, false, ''].includes(entry[1]));
  return h('dl', {}, known.map(([term, value]) => [h('dt', {}, term), h('dd', {}, value)]));
}
