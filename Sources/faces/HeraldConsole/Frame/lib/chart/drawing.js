// The configuration of Chart.js: lines, axes and colours on a canvas.

import { isAlone, tickLabel, timeTicks } from './axes.js';

/** The lines differ in their dashes too, not in colour alone. */
export const dashes = [[], [6, 3], [2, 3], [10, 3, 2, 3], [1, 4]];
/** The colours of lines that are neither good nor bad. */
const plain = [1, 5, 4];
/** The labels of an axis are a little smaller than text. */
const labelShare = 0.75;
/** The width of one label of the time axis, in units of its size. */
const labelWidth = 5.3;
/** Equal in all charts, so that times align in charts above each other. */
const axisWidth = 6;

/** A line's colour is its own or its index's, its dashes are its index's. */
export const series = ({ colour }, index) => colour ?? plain[index % plain.length];

/** The colours of the reader's scheme. */
export function scheme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  return Object.fromEntries(['card', 'text', 'muted', 'line', 'bad-ground', 1, 2, 3, 4, 5]
    .map((name) => [name, colour(typeof name === 'number' ? `series-${name}` : name)]));
}

/** The options for Chart.js: axes from `view`, colours from `view.colours`, which are read again at each drawing. */
export function settings(view, format) {
  const of = (name) => () => view.colours[name];
  const size = labelShare * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  const font = { size, family: getComputedStyle(document.body).fontFamily };
  const grid = { color: of('line'), borderColor: of('line'), tickColor: of('line') };
  return {
    type: 'line',
    data: { datasets: [] },
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true, events: [],
      // Room for half of the last label: the axis keeps its length while labels move along it.
      layout: { padding: { right: 2.3 * size, top: size / 2 } },
      elements: { line: { borderWidth: 2, borderJoinStyle: 'round' }, point: { hoverRadius: 4, hitRadius: 0 } },
      scales: {
        x: {
          type: 'linear', grid,
          ticks: { color: of('muted'), font, autoSkip: false, maxRotation: 0, callback: (value) => tickLabel(value, view.step) },
          afterBuildTicks(axis) {
            const { step, moments } = timeTicks(view.range, Math.max(2, Math.floor(axis.width / (labelWidth * size))));
            view.step = step;
            axis.ticks = moments.map((value) => ({ value }));
          },
        },
        y: {
          min: 0, grid, ticks: { color: of('muted'), font, autoSkip: false, callback: (value) => value === 0 ? '0' : format(value) },
          afterFit(axis) { axis.width = Math.max(axis.width, axisWidth * size); },
        },
      },
      plugins: {
        legend: { display: false },
        tooltip: {
          backgroundColor: of('card'), borderColor: of('muted'), borderWidth: 1, titleColor: of('text'), bodyColor: of('text'),
          titleFont: font, bodyFont: font, multiKeyBackground: of('card'), boxWidth: 10, boxHeight: 10, caretSize: 0, caretPadding: 12, padding: 8, boxPadding: 4,
          callbacks: {
            title: ([{ parsed }]) => tickLabel(parsed.x, 1000),
            label: ({ dataset: { label }, parsed }) => ` ${label} ${format(parsed.y)}`,
            labelColor: ({ dataset: { borderColor } }) => ({ borderColor, backgroundColor: borderColor }),
          },
        },
      },
    },
    plugins: [{
      id: 'ground',
      beforeDatasetsDraw({ ctx, chartArea: { top, bottom }, scales: { x } }) {
        ctx.fillStyle = view.colours['bad-ground'];
        for (const [from, to] of view.faults) ctx.fillRect(x.getPixelForValue(from), top, x.getPixelForValue(to) - x.getPixelForValue(from), bottom - top);
        if (view.cursor === null) return;
        ctx.fillStyle = view.colours.muted;
        ctx.fillRect(x.getPixelForValue(view.cursor) - 0.5, top, 1, bottom - top);
      },
    }],
  };
}

/** A line in the form of Chart.js. */
export function dataset(line, index, moments, colours) {
  const colour = colours[series(line, index)];
  return {
    label: line.name, borderColor: colour, borderDash: dashes[index % dashes.length],
    pointBackgroundColor: colour, pointBorderColor: colour, pointHoverBackgroundColor: colour, pointHoverBorderColor: colour,
    pointRadius: ({ dataIndex }) => isAlone(line.values, dataIndex) ? 1.5 : 0,
    data: line.values.map((value, place) => ({ x: moments[place], y: Number.isFinite(value) ? value : NaN })),
  };
}
