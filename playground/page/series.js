// Series of a run over time.
import { plot, svgOf } from './charts.js';
import { make, save } from './dom.js';

/** Lines that a chart has at most. */
const MOST_LINES = 7;

const CHARTS = {
  cwnd: [['cwnd_pkts', 'Congestion window', 'packets', 1], ['srtt_s', 'Smoothed RTT', 'ms', 1e3]],
  queue: [['queue_pkts', 'Queue', 'packets', 1]],
  goodput: [['delivered_bytes', 'Goodput', 'Mbit/s', 8e-6]],
};

/** The charts of a run's series, as an element; `ready()` is to be called when it is on the page. */
export function charts(series) {
  const element = make('div');
  const plots = [];
  for (const [name, lists] of Object.entries(CHARTS)) {
    const table = series[name];
    if (!table?.rows) continue;
    for (const [column, title, unit, factor] of lists) {
      const lines = linesOf(table, column, factor, name === 'goodput');
      const shown = busiest(lines);
      const place = make('div');
      const more = lines.size - shown.length;
      const keep = () => save(`${name}-${column}.svg`, 'image/svg+xml', svgOf(`${title} (${unit})`, shown));
      element.append(make('h3', {}, `${title} (${unit})`), place, make('button', { type: 'button', onclick: keep }, 'Save as SVG'));
      if (more > 0) element.append(make('p', { class: 'mute' }, `${shown.length} of ${lines.size} lines: those with the highest values.`));
      plots.push(() => plot(place, shown, unit));
    }
  }
  return { element, ready: () => plots.forEach((draw) => draw()) };
}

/** Lines by entity: times and values; rates of change where `isCounter`. */
function linesOf(table, column, factor, isCounter) {
  const { entity, time_s: time, [column]: values } = table.columns;
  const lines = new Map();
  for (let row = 0; row < table.rows; row++) {
    const name = entity.values[row];
    if (!lines.has(name)) lines.set(name, []);
    lines.get(name).push([time.values[row], values.values[row]]);
  }
  for (const [name, points] of lines) {
    lines.set(name, isCounter ? rates(points, factor) : points.map(([at, value]) => [at, value === null ? null : value * factor]));
  }
  return lines;
}

function rates(points, factor) {
  return points.slice(1).map(([at, value], index) => {
    const [before, from] = points[index];
    return [at, ((value - from) / (at - before)) * factor];
  });
}

function busiest(lines) {
  const highest = (points) => points.reduce((most, [, value]) => Math.max(most, value ?? 0), 0);
  return [...lines].map(([name, points]) => ({ name, points, most: highest(points) }))
    .sort((a, b) => b.most - a.most || (a.name < b.name ? -1 : 1))
    .slice(0, MOST_LINES)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
