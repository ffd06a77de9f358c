// The network as a map, with the load of its links; with a series of queues, a replay.
import { draw, make, save } from './dom.js';

const LEVELS = ['#c3c9d1', '#eebb4d', '#ee8432', '#cc3f3a', '#7c1650'];
const WIDTH = 640;
const HEIGHT = 380;
const MARGIN = 40;
/** Names that are drawn at most. */
const MOST_NAMES = 60;

/** The map of a network with the run's links and, if recorded, queues; null without positions. */
export function map(network, run) {
  const placed = network.nodes.filter((node) => node.position_m);
  if (placed.length < 2) return null;
  const at = places(network, placed);
  const svg = draw('svg', { class: 'map', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': `Network of ${network.nodes.length} nodes and ${network.links.length} links` });
  const loads = utilisation(run);
  const lines = new Map();
  for (const { a, b } of network.links) {
    const [from, to] = [network.nodes[a].id, network.nodes[b].id];
    const load = Math.max(loads.get(`${from}-${to}`) ?? 0, loads.get(`${to}-${from}`) ?? 0);
    const line = draw('line', {
      class: 'link', x1: at[a][0], y1: at[a][1], x2: at[b][0], y2: at[b][1],
      stroke: LEVELS[level(load)], 'stroke-width': 1.5 + 4 * load,
    });
    line.style.stroke = LEVELS[level(load)];
    line.append(draw('title', {}, `${from}–${to}: ${(100 * load).toFixed(1)} % of its rate over the run`));
    svg.append(line);
    lines.set(`${from}-${to}`, line).set(`${to}-${from}`, line);
  }
  network.nodes.forEach((node, index) => {
    const dot = draw('circle', { class: 'node', cx: at[index][0], cy: at[index][1], r: node.position_m ? 4 : 5 });
    dot.append(draw('title', {}, `${node.id} (${node.kind})`));
    svg.append(dot);
    if (network.nodes.length <= MOST_NAMES || !node.position_m) {
      svg.append(draw('text', { x: at[index][0] + 6, y: at[index][1] - 5 }, node.id));
    }
  });
  const element = make('div', {}, svg, legend());
  element.append(make('button', { type: 'button', onclick: () => save('map.svg', 'image/svg+xml', source(svg)) }, 'Save as SVG'));
  const replayed = replay(run.series.queue, lines, loads);
  if (replayed) element.append(replayed);
  return element;
}

/** Places on the drawing. Nodes without a position, those of the core network, are in a row above. */
function places(network, placed) {
  const xs = placed.map((node) => node.position_m[0]);
  const ys = placed.map((node) => node.position_m[1]);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const core = network.nodes.filter((node) => !node.position_m);
  const top = core.length ? 70 : MARGIN;
  const scale = Math.min((WIDTH - 2 * MARGIN) / (right - left || 1), (HEIGHT - top - MARGIN) / (high - low || 1));
  const indent = (WIDTH - scale * (right - left)) / 2;
  let next = 0;
  return network.nodes.map((node) => {
    if (node.position_m) return [indent + scale * (node.position_m[0] - left), top + scale * (high - node.position_m[1])];
    next += 1;
    return [(WIDTH * next) / (core.length + 1), 24];
  });
}

function utilisation(run) {
  const { from, to, utilisation: used } = run.tables.links?.columns ?? {};
  const loads = new Map();
  from?.values.forEach((name, row) => loads.set(`${name}-${to.values[row]}`, Math.min(used.values[row] ?? 0, 1)));
  return loads;
}

function level(load) {
  return Math.min(LEVELS.length - 1, Math.floor(load * LEVELS.length));
}

function legend() {
  const steps = LEVELS.map((colour, index) => {
    const box = draw('svg', { width: 18, height: 10, 'aria-hidden': 'true' }, draw('rect', { width: 18, height: 10, fill: colour }));
    return make('span', {}, box, ` ${index * 20}–${index * 20 + 20} % `);
  });
  return make('p', { class: 'mute' }, 'Utilisation over the run: ', ...steps);
}

/** Play, pause and scrub through the queues of links: the width of a line is its backlog. */
function replay(table, lines, loads) {
  if (!table?.rows) return null;
  const { entity, time_s: time, queue_pkts: queue } = table.columns;
  const times = [...new Set(time.values)].sort((a, b) => a - b);
  const frames = new Map(times.map((instant) => [instant, new Map()]));
  let most = 1;
  for (let row = 0; row < table.rows; row++) {
    frames.get(time.values[row]).set(entity.values[row], queue.values[row]);
    most = Math.max(most, queue.values[row]);
  }
  const shown = make('span', { class: 'mute' });
  const slider = make('input', { type: 'range', min: 0, max: times.length - 1, value: 0, 'aria-label': 'Time of the replay' });
  const show = () => {
    const instant = times[slider.value];
    const deepest = new Map();
    for (const [name, packets] of frames.get(instant)) {
      const line = lines.get(name);
      if (line) deepest.set(line, Math.max(deepest.get(line) ?? 0, packets));
    }
    for (const [line, packets] of deepest) {
      line.style.stroke = LEVELS[level(packets / most)];
      line.style.strokeWidth = 1.5 + (8 * packets) / most;
    }
    shown.textContent = `${instant.toFixed(2)} s; the widest line has ${Math.max(0, ...deepest.values())} packets`;
  };
  let timer = null;
  const button = make('button', { type: 'button', onclick: () => (timer ? pause() : play()) }, 'Play');
  const pause = () => {
    clearInterval(timer);
    timer = null;
    button.textContent = 'Play';
  };
  const play = () => {
    if (Number(slider.value) >= times.length - 1) slider.value = 0;
    button.textContent = 'Pause';
    timer = setInterval(() => {
      if (!slider.isConnected || Number(slider.value) >= times.length - 1) return pause();
      slider.value = Number(slider.value) + 1;
      show();
    }, Math.max(30, 10000 / times.length));
  };
  slider.addEventListener('input', show);
  return make('div', {}, make('h3', {}, 'Replay of the queues'), make('div', { class: 'bar' }, button, slider), shown);
}

function source(svg) {
  const copy = svg.cloneNode(true);
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('font-family', 'sans-serif');
  copy.setAttribute('font-size', '11');
  return new XMLSerializer().serializeToString(copy);
}
