// Lines over time: a chart with values under the pointer, and the same as an SVG document.
import uPlot from './uplot.js';
import { draw } from './dom.js';

export const PALETTE = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#7f6bb0'];

const HEIGHT = 220;

/** Draws lines `{name, points: [[time, value]]}` in a place; charts with the same `group` share the pointer. */
export function plot(place, lines, unit, group) {
  const tables = lines.map(({ points }) => [points.map(([at]) => at), points.map(([, value]) => value)]);
  const ink = getComputedStyle(document.body).color;
  const faint = getComputedStyle(document.documentElement).getPropertyValue('--line').trim();
  const axis = { stroke: ink, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint, width: 1 } };
  const width = () => place.clientWidth || 480;
  const options = {
    width: width(),
    height: HEIGHT,
    scales: { x: { time: false } },
    cursor: group ? { sync: { key: group } } : {},
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
  const chart = new uPlot(options, uPlot.join(tables), place);
  new ResizeObserver(() => chart.setSize({ width: width(), height: HEIGHT })).observe(place);
  return chart;
}

/** The lines as an SVG document. */
export function svgOf(title, lines) {
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
