// Series of a run over time.
import uPlot from './uplot.js';
import { draw, make, save } from './dom.js';

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

/** The chart as an SVG document. */
function svgOf(title, lines) {
  const [width, height, left, bottom, top] = [640, 320, 60, 40, 60];
  const points = lines.flatMap((line) => line.points).filter(([, value]) => value !== null);
  const most = Math.max(...points.map(([, value]) => value), 1e-9);
  const [from, to] = [Math.min(...points.map(([at]) => at)), Math.max(...points.map(([at]) => at))];
  const x = (at) => left + ((width - left - 20) * (at - from)) / (to - from || 1);
  const y = (value) => height - bottom - ((height - bottom - top) * value) / most;
  const svg = draw('svg', { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${width} ${height}`, 'font-family': 'sans-serif', 'font-size': 11 });
  svg.append(draw('text', { x: left, y: 18, 'font-size': 14 }, title));
  for (let step = 0; step <= 4; step++) {
    const [value, at] = [(most * step) / 4, from + ((to - from) * step) / 4];
    svg.append(draw('line', { x1: left, x2: width - 20, y1: y(value), y2: y(value), stroke: '#c8ccd1' }));
    svg.append(draw('text', { x: left - 6, y: y(value) + 4, 'text-anchor': 'end' }, Number(value.toPrecision(3))));
    svg.append(draw('text', { x: x(at), y: height - bottom + 16, 'text-anchor': 'middle' }, Number(at.toPrecision(3))));
  }
  svg.append(draw('text', { x: width / 2, y: height - 6, 'text-anchor': 'middle' }, 'time in s'));
  lines.forEach(({ name, points: own }, index) => {
    const stroke = PALETTE[index % PALETTE.length];
    const path = own.filter(([, value]) => value !== null).map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`);
    svg.append(draw('polyline', { points: path.join(' '), fill: 'none', stroke, 'stroke-width': 1.4 }));
    svg.append(draw('text', { x: left + 140 * (index % 4), y: 34 + 14 * Math.floor(index / 4), fill: stroke }, name));
  });
  return new XMLSerializer().serializeToString(svg);
}
