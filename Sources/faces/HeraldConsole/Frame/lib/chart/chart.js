// One chart: a canvas navigated by pointer and keys, with names, values, and a table as elements.

import { describe, extent, reading, runs, tableIndices, timeRange, valueAxis } from './axes.js';
import { dashes, dataset, scheme, series, settings } from './drawing.js';
import { h, replace, svg } from '../dom.js';
import { time } from '../format.js';

let count = 0;

function legend(lines, format, place) {
  return lines.map((line, index) => h('li', {},
    svg('svg', { viewBox: '0 0 24 8', width: 24, height: 8, 'aria-hidden': 'true', focusable: 'false' },
      svg('line', { x1: 0, y1: 4, x2: 24, y2: 4, class: `line line-${series(line, index)}`, 'stroke-dasharray': dashes[index % dashes.length].join(' ') })),
    h('span', {}, `${line.name} `), h('strong', {}, format(line.values[place] ?? null))));
}

/** A chart's numbers as a table, for screen readers and for copying; filled while it is open. */
function tableOf(title, format) {
  const head = h('thead', {});
  const body = h('tbody', {});
  let latest = null;
  const fill = () => {
    if (!latest || !details.open) return;
    const { times, lines } = latest;
    replace(head, h('tr', {}, h('th', { scope: 'col' }, 'Time'), lines.map(({ name }) => h('th', { scope: 'col', class: 'number' }, name))));
    replace(body, tableIndices(times.length).map((index) => h('tr', {}, h('th', { scope: 'row' }, time(times[index])),
      lines.map(({ values }) => h('td', { class: 'number' }, format(values[index] ?? null))))));
  };
  const details = h('details', { ontoggle: fill },
    h('summary', {}, h('span', {}, 'As a table'), h('span', { class: 'unseen' }, `: ${title}`)),
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${title}, as a table` },
      h('table', {}, h('caption', {}, title), head, body)));
  return { details, draw(times, lines) { latest = { times, lines }; fill(); } };
}

/** One chart of a set: `point` marks an index of its times, and `pointer` receives the reader's position. */
export function chart(Chart, { title, format, step, empty }, pointer) {
  count += 1;
  const id = `chart-${count}`;
  const view = { colours: scheme(), range: timeRange([]), step: 1000, faults: [], cursor: null };
  const canvas = h('canvas', { 'aria-hidden': 'true' });
  const plot = h('div', {
    class: 'plot', role: 'slider', tabindex: 0, 'aria-label': `${title}: a moment of the last ten minutes`, 'aria-describedby': `${id}-description`, 'aria-valuemin': 0,
    onpointermove: (event) => pointer.over(self, event.clientX - plot.getBoundingClientRect().left),
    onpointerleave: pointer.away,
    onblur: pointer.away,
    onkeydown: (event) => {
      if (!event.ctrlKey && !event.altKey && !event.metaKey && pointer.key(self, event.key)) event.preventDefault();
    },
  }, canvas);
  const nothing = h('p', { class: 'muted' }, empty);
  const description = h('p', { id: `${id}-description`, class: 'unseen' });
  const readout = h('p', { class: 'readout muted' });
  const names = h('ul', { class: 'legend' });
  const numbers = tableOf(title, format);
  const picture = new Chart(canvas, settings(view, format));
  let latest = { times: [], moments: [], faults: [], lines: [] };

  function mark(points, isHere) {
    picture.setActiveElements(points);
    picture.tooltip.setActiveElements(isHere ? points : [], { x: 0, y: 0 });
  }

  const self = {
    element: h('section', { class: 'card chart', 'aria-labelledby': `${id}-heading` },
      h('h2', { id: `${id}-heading` }, title), plot, nothing, description, readout, names, numbers.details),
    momentAt: (pixel) => picture.scales.x.getValueForPixel(pixel),
    end: () => picture.destroy(),

    draw(next) {
      // Chart.js compares only indices, and the points at them are new.
      mark([], false);
      latest = next;
      const { times, moments, faults, lines } = latest;
      const found = lines.map(({ values }) => extent(values)).filter(Boolean);
      const axis = valueAxis(Math.max(0, ...found.map(({ most }) => most)), step);
      Object.assign(view, { colours: scheme(), range: timeRange(moments), faults: runs(faults, moments) });
      Object.assign(picture.options.scales.x, view.range);
      picture.options.scales.y.max = axis.top;
      picture.options.scales.y.ticks.stepSize = axis.step;
      picture.data.datasets = lines.map((line, index) => dataset(line, index, moments, view.colours));
      plot.hidden = readout.hidden = names.hidden = found.length === 0;
      nothing.hidden = found.length > 0;
      replace(description, describe(lines, format));
      numbers.draw(times, lines);
      picture.update('none');
    },

    /** Shows the values at an index, or the newest; `isHere` when the reader points at this chart. */
    point(place, isHere) {
      const { times, moments, faults, lines } = latest;
      const shown = place ?? times.length - 1;
      if (shown < 0) return;
      view.cursor = place === null ? null : moments[place];
      const marked = place === null ? [] : lines.flatMap(({ values }, datasetIndex) => Number.isFinite(values[place]) ? [{ datasetIndex, index: place }] : []);
      mark(marked, isHere);
      picture.render();
      replace(readout, place === null ? 'Newest, ' : 'At ', time(times[shown]), faults[shown] && ', in an outage',
        place === null && faults.some(Boolean) && '; an outage where the ground is red');
      replace(names, legend(lines, format, shown));
      plot.setAttribute('aria-valuemax', times.length - 1);
      plot.setAttribute('aria-valuenow', shown);
      plot.setAttribute('aria-valuetext', reading(lines, format, shown, times[shown]));
    },
  };
  return self;
}
