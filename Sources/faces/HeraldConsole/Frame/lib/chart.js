// Small line charts over the last minutes: an SVG with a title and a description, and the same numbers as a table.

import { h, replace, svg } from './dom.js';
import { time } from './format.js';

const width = 600;
const height = 140;
/** The kinds of lines are told apart by their dashes too, not by colour alone. */
const dashes = ['', '6 3', '2 3', '10 3 2 3', '1 4'];
/** The colours of lines that are neither good nor bad. */
const plain = [1, 5, 4];
/** A table with three hundred rows helps nobody. */
const tableRows = 20;

let count = 0;

/** A round number that is not smaller. */
export function ceiling(value) {
  if (!(value > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * unit).find((step) => step >= value);
}

/** The path of a line; where there is no value it is interrupted, and a value between two such places is a dot. */
export function path(values, top) {
  const x = (index) => values.length < 2 ? width : (index * width) / (values.length - 1);
  let isDrawing = false;
  let text = '';
  values.forEach((value, index) => {
    if (!Number.isFinite(value)) {
      isDrawing = false;
      return;
    }
    const y = height - (Math.min(value, top) / top) * height;
    text += `${isDrawing ? 'L' : 'M'}${x(index).toFixed(1)} ${y.toFixed(1)}`;
    if (!isDrawing && !Number.isFinite(values[index + 1])) text += 'h0';
    isDrawing = true;
  });
  return text;
}

/** The newest value, null when it is not known, and the highest and the lowest of those that are. */
export function extent(values) {
  const known = values.filter(Number.isFinite);
  return known.length === 0 ? null : { last: Number.isFinite(values.at(-1)) ? values.at(-1) : null, most: Math.max(...known), least: Math.min(...known) };
}

/** What a screen reader says instead of the picture. */
export function describe(lines, format) {
  const sentences = lines.map(({ name, values }) => {
    const found = extent(values);
    return found ? `${name}: now ${format(found.last)}, between ${format(found.least)} and ${format(found.most)}.` : `${name}: not known.`;
  });
  return sentences.join(' ') || 'There is nothing to show.';
}

/** The classes of a line: its colour is its own or its place's, its dashes are its place's. */
const classes = ({ colour }, index) => `line line-${colour ?? plain[index % plain.length]}`;

/** The point that lies nearest to a share of the width. */
export function nearest(length, part) {
  return length === 0 ? null : Math.min(length - 1, Math.max(0, Math.round(part * (length - 1))));
}

/** Where flags are set, as runs of places: [[first, last], …]. */
export function runs(flags) {
  const found = [];
  flags.forEach((flag, index) => {
    if (!flag) return;
    if (found.at(-1)?.[1] === index - 1) found.at(-1)[1] = index;
    else found.push([index, index]);
  });
  return found;
}

function legend(lines, format) {
  return h('ul', { class: 'legend' }, lines.map(({ name, values, colour }, index) => h('li', {},
    svg('svg', { viewBox: '0 0 24 8', width: 24, height: 8, 'aria-hidden': 'true', focusable: 'false' },
      svg('line', { x1: 0, y1: 4, x2: 24, y2: 4, class: classes({ colour }, index), 'stroke-dasharray': dashes[index % dashes.length] })),
    h('span', {}, `${name} `), h('strong', {}, format(extent(values)?.last ?? null)))));
}

/** Which of so many points the table has: the newest first, in equal steps. */
export function tableIndices(length) {
  const step = Math.max(1, Math.ceil(length / tableRows));
  return Array.from({ length: Math.ceil(length / step) }, (_, row) => length - 1 - row * step);
}

function rows(times, lines, format) {
  return tableIndices(times.length).map((index) => h('tr', {}, h('th', { scope: 'row' }, time(times[index])),
    lines.map(({ values }) => h('td', { class: 'number' }, format(values[index] ?? null)))));
}

/**
 * A chart that can be drawn again: `element`, and `draw({times, lines, faults})` with RFC 3339 times, lines
 * [{name, values, colour}], a value being a number or null, and whether each moment was one of trouble. `format` writes
 * a number. Where the pointer is, the values of that moment are written below.
 */
export function chart({ title, format, empty = 'Nothing yet.' }) {
  count += 1;
  const id = `chart-${count}`;
  const figure = h('div', {});
  const readout = h('p', { class: 'readout muted' });
  let pointed = null;
  const read = () => {
    const place = pointed === null || !latest ? null : nearest(latest.times.length, pointed);
    replace(readout, place === null ? '\u00a0' : [time(latest.times[place]), ': ',
      latest.lines.map(({ name, values }) => `${name} ${format(values[place] ?? null)}`).join(', '), latest.faults?.[place] && ' – outage']);
  };
  const follow = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    pointed = event.type === 'pointerleave' || box.width === 0 ? null : (event.clientX - box.left) / box.width;
    read();
  };
  const body = h('tbody', {});
  const head = h('thead', {});
  let isOpen = false;
  let latest = null;
  const fillTable = () => {
    if (!latest || !isOpen) return;
    replace(head, h('tr', {}, h('th', { scope: 'col' }, 'Time'), latest.lines.map(({ name }) => h('th', { scope: 'col', class: 'number' }, name))));
    replace(body, rows(latest.times, latest.lines, format));
  };
  const details = h('details', { ontoggle: () => { isOpen = details.open; fillTable(); } },
    h('summary', {}, h('span', {}, 'As a table'), h('span', { class: 'unseen' }, `: ${title}`)),
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${title}, as a table` },
      h('table', {}, h('caption', {}, title), head, body)));
  const element = h('section', { class: 'card chart', 'aria-labelledby': `${id}-heading` },
    h('h2', { id: `${id}-heading` }, title), figure, readout, details);

  function draw({ times, lines, faults = [] }) {
    latest = { times, lines, faults };
    const found = lines.map(({ values }) => extent(values)).filter(Boolean);
    if (found.length === 0) {
      replace(figure, h('p', { class: 'muted' }, empty));
      fillTable();
      return;
    }
    const step = width / Math.max(1, times.length - 1);
    const top = ceiling(Math.max(...found.map(({ most }) => most)));
    replace(figure,
      svg('svg', { onpointermove: follow, onpointerleave: follow, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-labelledby': `${id}-title ${id}-description`, preserveAspectRatio: 'none', class: 'plot' },
        svg('title', { id: `${id}-title` }, `${title}, the last ten minutes`),
        svg('desc', { id: `${id}-description` }, describe(lines, format)),
        [0.25, 0.5, 0.75].map((share) => svg('line', { x1: 0, x2: width, y1: height * share, y2: height * share, class: 'gridline' })),
        runs(faults).map(([first, last]) => svg('rect', {
          x: Math.max(0, first - 0.5) * step, width: (last - first + 1) * step, y: 0, height, class: 'fault',
        })),
        lines.map(({ values, colour }, index) => svg('path', {
          d: path(values, top), class: classes({ colour }, index), 'stroke-dasharray': dashes[index % dashes.length],
        }))),
      h('p', { class: 'scale muted' }, [0, 0.5, 1].map((part) => h('span', {}, time(times[nearest(times.length, part)])))),
      h('p', { class: 'muted' }, `up to ${format(top)}`, faults.some(Boolean) && '; an outage where the ground is red'),
      legend(lines, format));
    fillTable();
    read();
  }

  return { element, draw };
}
