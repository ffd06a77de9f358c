// Series of a run over time.
import uPlot from './uplot.js';
import { make } from './dom.js';

export const PALETTE = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#7f6bb0'];

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
      element.append(make('h3', {}, `${title} (${unit})`), place);
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

function plot(place, lines, unit) {
  const tables = lines.map(({ points }) => [points.map(([at]) => at), points.map(([, value]) => value)]);
  const data = uPlot.join(tables.map(([at, values]) => [at, values]));
  const ink = getComputedStyle(document.body).color;
  const faint = getComputedStyle(document.documentElement).getPropertyValue('--line').trim();
  const axis = { stroke: ink, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint, width: 1 } };
  const options = {
    width: place.clientWidth || 480,
    height: 220,
    scales: { x: { time: false } },
    axes: [{ ...axis, label: 'time in s', labelSize: 20 }, { ...axis, size: 60 }],
    series: [
      { label: 's', value: (_, value) => (value === null ? '–' : value.toFixed(2)) },
      ...lines.map(({ name }, index) => ({
        label: name,
        stroke: PALETTE[index % PALETTE.length],
        width: 1.4,
        spanGaps: true,
        points: { show: false },
        value: (_, value) => (value === null || value === undefined ? '–' : `${value.toPrecision(4)} ${unit}`),
      })),
    ],
  };
  const chart = new uPlot(options, data, place);
  new ResizeObserver(() => chart.setSize({ width: place.clientWidth || 480, height: 220 })).observe(place);
}
