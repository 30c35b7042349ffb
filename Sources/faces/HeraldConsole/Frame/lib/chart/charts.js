// Line charts over one time span, drawn by Chart.js.

import { moved, nearest } from './axes.js';
import { chart } from './chart.js';

/**
 * The charts of one page, with a common time axis: `draw({times, faults, lines})` takes RFC 3339 times, a flag of
 * trouble for each, and each chart's lines [{name, values, colour}] with numbers or null. A time selected in one chart,
 * by pointer or arrow keys, is marked in all, with its values. `end` releases their resources.
 *
 * Each specification is {title, format, step, empty}: `format` writes a number, `step` rounds a step of the axis.
 */
export async function charts(specifications) {
  await import('./chart.min.js');
  let latest = null;
  let cursor = null;
  const place = () => cursor && latest ? nearest(latest.moments, cursor.at) : null;

  function point(to) {
    const [before, plot] = [place(), cursor?.plot];
    cursor = to;
    if (place() !== before || cursor?.plot !== plot) show();
  }

  const pointer = {
    over(plot, pixel) { point({ plot, pixel, at: plot.momentAt(pixel) }); },
    away() { point(null); },
    /** Whether the chart uses the key. */
    key(plot, key) {
      const moments = latest?.moments ?? [];
      const from = place() ?? moments.length - 1;
      const to = moved(key, from, moments.length);
      if (to !== null) point(key === 'Escape' ? null : { plot, at: moments[to] });
      return to !== null;
    },
  };

  const all = specifications.map((specification) => chart(globalThis.Chart, specification, pointer));

  function show() {
    for (const one of all) one.point(place(), one === cursor?.plot);
  }

  function draw(next) {
    latest = { ...next, moments: next.times.map((at) => new Date(at).valueOf()) };
    all.forEach((one, index) => one.draw({ ...latest, lines: next.lines[index] }));
    // The pointer stays in place while time passes beneath it.
    if (cursor?.pixel !== undefined) cursor.at = cursor.plot.momentAt(cursor.pixel);
    show();
  }

  const dark = matchMedia('(prefers-color-scheme: dark)');
  const again = () => { if (latest) draw(latest); };
  dark.addEventListener('change', again);
  return {
    elements: all.map(({ element }) => element),
    draw,
    end() {
      dark.removeEventListener('change', again);
      // Later draws have no chart any more.
      for (const one of all.splice(0)) one.end();
    },
  };
}
