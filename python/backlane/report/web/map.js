// A network as a map: the load of its links and, with samples of queues, a replay of a run.
import { draw, make, save } from './dom.js';

const LEVELS = ['#c3c9d1', '#eebb4d', '#ee8432', '#cc3f3a', '#7c1650'];
const WIDTH = Math.max(320, Math.min(900, document.documentElement.clientWidth - 60));
const [LOWEST, HIGHEST] = [240, 640];
const MARGIN = 34;
const CORE_HEIGHT = 62;
/** Names that are drawn at most. */
const MOST_NAMES = 140;
/** Links of the table below a map. */
const MOST_ROWS = 10;
const DEGREE_STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

/**
 * A map of a model `{nodes, links, ues}`: nodes `{id, kind, x, y, isApart, latitude, longitude, ues}` in
 * metres, links `{a, b, rateMbps, channel}` by the indices of their nodes, and UEs as `[x, y]`.
 *
 * `show(loads, label)` colours the links by the share of their capacity in use, given for each link as
 * `[forth, back, busiest forth, busiest back]` from 0 to 1; `replay(samples)` adds the controls of a replay.
 */
export function createMap(model) {
  const at = places(model);
  const core = model.nodes.some((node) => node.isApart && isCore(node));
  const height = at.height;
  const svg = draw('svg', { class: 'map', viewBox: `0 0 ${WIDTH} ${height}`, role: 'img' });
  svg.append(graticule(model, at));
  if (core) {
    svg.append(draw('rect', { class: 'core', x: 6, y: 6, width: WIDTH - 12, height: CORE_HEIGHT - 12, rx: 6 }));
    svg.append(draw('text', { x: 14, y: 20 }, 'core network'));
  }
  if (model.nodes.some((node) => node.isApart && !isCore(node))) {
    svg.append(draw('text', { x: 8, y: height - 8 }, 'A scheme: the nodes have no positions.'));
  }
  const lines = model.links.map(({ a, b }) => {
    const line = draw('line', { class: 'link', x1: at[a][0], y1: at[a][1], x2: at[b][0], y2: at[b][1] });
    svg.append(line);
    return line;
  });
  for (const [x, y] of model.ues ?? []) {
    const [left, top] = at.of(x, y);
    svg.append(draw('circle', { class: 'ue', cx: left, cy: top, r: 1.8 }));
  }
  const areNamed = model.nodes.length <= MOST_NAMES;
  model.nodes.forEach((node, index) => {
    const [x, y] = at[index];
    const dot = draw('circle', { class: `node ${node.kind}`, cx: x, cy: y, r: isCore(node) ? 5 : 3.6, 'data-tip': about(node) });
    svg.append(dot);
    if (areNamed || isCore(node)) svg.append(draw('text', { x: x + 5, y: y - 4 }, node.id));
  });

  const shown = make('p', { class: 'mute' });
  const table = make('div', { class: 'scroll', tabindex: 0 });
  const element = make('div', { class: 'map-view' }, svg, legend(), shown, table);
  const paint = (index, load, width, dashes) => {
    lines[index].setAttribute('stroke', LEVELS[level(load)]);
    lines[index].style.stroke = shade(level(load));
    lines[index].style.strokeWidth = width;
    lines[index].style.strokeDasharray = dashes ?? 'none';
  };
  const name = ({ a, b }, back) => (back ? `${model.nodes[b].id} → ${model.nodes[a].id}` : `${model.nodes[a].id} → ${model.nodes[b].id}`);

  /** Colours the links by the mean (`part` 0) or the busiest second (`part` 2). */
  const show = (loads, part, label) => {
    const rows = [];
    model.links.forEach((link, index) => {
      const load = loads[index] ?? [0, 0, null, null];
      const most = Math.max(load[part] ?? 0, load[part + 1] ?? 0);
      paint(index, most, 1.2 + 4 * most);
      lines[index].dataset.tip = [false, true].map((back) => {
        const [mean, busiest] = [load[back ? 1 : 0], load[back ? 3 : 2]];
        rows.push({ link: name(link, back), mean, busiest, rate: link.rateMbps, by: load[part + (back ? 1 : 0)] ?? 0 });
        return `${name(link, back)}: ${percent(mean)}${busiest === null ? '' : `, busiest second ${percent(busiest)}`}`;
      }).join('\n') + aboutLink(link);
    });
    rows.sort((a, b) => b.by - a.by);
    const busiest = rows[0];
    shown.textContent = busiest ? `${label}: the busiest link is ${busiest.link} at ${percent(busiest.by)}.` : '';
    svg.setAttribute('aria-label', `Network of ${model.nodes.length} nodes and ${model.links.length} links. ${shown.textContent}`);
    table.replaceChildren(busiestTable(rows.slice(0, MOST_ROWS)));
  };

  let controls = null;
  /** Adds, or with null removes, the controls of a replay; `stop()` restores the map. */
  const replay = (samples, stop) => {
    controls?.remove();
    controls = samples ? player(samples, { paint, model, name, stop }) : null;
    if (controls) svg.after(controls);
  };
  const keep = () => save('map.svg', 'image/svg+xml', source(svg));
  element.append(make('button', { type: 'button', onclick: keep }, 'Save as SVG'));
  return { element, show, replay };
}

const isCore = (node) => node.kind === 'epc' || node.kind === 'server';
const percent = (share) => (share === null || share === undefined ? '–' : `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`);

function about(node) {
  const degrees = node.latitude === null || node.latitude === undefined ? '' : `\n${node.latitude.toFixed(5)}°, ${node.longitude.toFixed(5)}°`;
  const ues = node.ues ? `\n${node.ues} ${node.ues === 1 ? 'UE' : 'UEs'}` : '';
  return `${node.id} (${node.kind})${degrees}${ues}`;
}

function aboutLink({ rateMbps, channel }) {
  const rate = rateMbps ? `\n${Number(rateMbps.toPrecision(4))} Mbit/s` : '';
  return rate + (channel === null || channel === undefined ? '' : `\nchannel ${channel}`);
}

/** Where the nodes are drawn. The core network is in a row above. */
function places(model) {
  const placed = model.nodes.filter((node) => !(node.isApart && isCore(node)));
  const ues = model.ues ?? [];
  const xs = [...placed.map((node) => node.x), ...ues.map(([x]) => x)];
  const ys = [...placed.map((node) => node.y), ...ues.map(([, y]) => y)];
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const core = model.nodes.filter((node) => node.isApart && isCore(node));
  const top = (core.length ? CORE_HEIGHT : 0) + MARGIN;
  const wide = (WIDTH - 2 * MARGIN) / (right - left || 1);
  const scale = Math.min(wide, (HIGHEST - top - MARGIN) / (high - low || 1));
  const height = Math.max(LOWEST, top + MARGIN + scale * (high - low));
  const indent = (WIDTH - scale * (right - left)) / 2;
  const of = (x, y) => [indent + scale * (x - left), top + scale * (high - y)];
  let next = 0;
  const at = model.nodes.map((node) => {
    if (!core.includes(node)) return of(node.x, node.y);
    next += 1;
    return [(WIDTH * next) / (core.length + 1), CORE_HEIGHT / 2 + 4];
  });
  return Object.assign(at, { height, of, left, right, low, high });
}

/** Lines of latitude and longitude at round degrees, for nodes on the earth. */
function graticule(model, at) {
  const group = draw('g', { class: 'graticule' });
  const known = model.nodes.filter((node) => !node.isApart && node.latitude !== null && node.latitude !== undefined);
  for (const [degrees, metres, from, to, line] of [
    ['latitude', 'y', at.low, at.high, (y) => [at.of(at.left, y), at.of(at.right, y)]],
    ['longitude', 'x', at.left, at.right, (x) => [at.of(x, at.low), at.of(x, at.high)]],
  ]) {
    const sorted = [...known].sort((a, b) => a[degrees] - b[degrees]);
    const [first, last] = [sorted[0], sorted.at(-1)];
    if (!first || last[degrees] === first[degrees] || last[metres] === first[metres]) continue;
    const perDegree = (last[metres] - first[metres]) / (last[degrees] - first[degrees]);
    const span = Math.abs((to - from) / perDegree);
    const step = DEGREE_STEPS.find((one) => span / one <= 6) ?? 20;
    const begin = first[degrees] + (from - first[metres]) / perDegree;
    for (let value = Math.ceil(begin / step) * step; value <= begin + span + 1e-9; value += step) {
      const [[x1, y1], [x2, y2]] = line(first[metres] + (value - first[degrees]) * perDegree);
      const side = degrees === 'latitude' ? 'NS' : 'EW';
      const text = `${Number(Math.abs(value).toFixed(2))}° ${side[value < 0 ? 1 : 0]}`;
      const place = degrees === 'latitude' ? { x: 2, y: y1 - 2 } : { x: x1 + 2, y: at.height - 4 };
      const whole = degrees === 'latitude' ? { x1: 0, x2: WIDTH, y1, y2 } : { x1, x2, y1: at.height, y2: y2 - MARGIN / 2 };
      group.append(draw('line', whole), draw('text', place, text));
    }
  }
  return group;
}

/** The colour of a level in the scheme of the page; a saved drawing has that of `LEVELS`. */
const shade = (level) => `var(--level-${level})`;

function level(load) {
  return Math.min(LEVELS.length - 1, Math.max(0, Math.floor(load * LEVELS.length)));
}

function legend() {
  const steps = LEVELS.map((colour, index) => {
    const box = draw('svg', { width: 18, height: 10, 'aria-hidden': 'true' }, draw('rect', { width: 18, height: 10, fill: colour }));
    box.firstChild.style.fill = shade(index);
    return make('span', {}, box, ` ${index * 20}–${index * 20 + 20} % `);
  });
  return make('p', { class: 'mute' }, 'Share of the capacity in use, of the busier direction: ', ...steps);
}

function busiestTable(rows) {
  const cells = (kind, texts) => texts.map((text, index) => make(kind, { class: index ? undefined : 't', scope: kind === 'th' ? 'col' : undefined }, text));
  const body = rows.map(({ link, mean, busiest, rate }) =>
    make('tr', {}, ...cells('td', [link, percent(mean), percent(busiest), rate ? `${Number(rate.toPrecision(4))} Mbit/s` : '–'])));
  const head = make('thead', {}, make('tr', {}, ...cells('th', ['busiest links', 'mean', 'busiest second', 'rate'])));
  return make('table', {}, head, make('tbody', {}, ...body));
}

/**
 * Play, pause and scrub through samples `{times, directions, use, queue, capacity, active}`: for each direction, the
 * index of its link doubled, plus one for back, and lists over time of the share in use in percent, of the packets
 * in the queue, and of the capacity in percent of the rate.
 */
function player(samples, { paint, model, name, stop }) {
  const { times, directions, use, queue, capacity, active } = samples;
  const most = Math.max(1, ...queue.map((list) => Math.max(...list)));
  const text = make('span', { class: 'mute' });
  const slider = make('input', { type: 'range', min: 0, max: times.length - 1, value: 0, 'aria-label': 'Time of the replay' });
  const show = () => {
    const frame = Number(slider.value);
    const links = new Map();
    directions.forEach((direction, row) => {
      const link = direction >> 1;
      const now = links.get(link) ?? { use: 0, queue: 0, capacity: 100 };
      const full = capacity[row] ? capacity[row][frame] : 100;
      links.set(link, {
        use: Math.max(now.use, use[row][frame]),
        queue: Math.max(now.queue, queue[row][frame]),
        capacity: Math.min(now.capacity, full),
      });
    });
    for (const [link, now] of links) {
      const dashes = now.capacity === 0 ? '2 5' : now.capacity < 97 ? '9 4' : null;
      paint(link, now.use / 100, 1.2 + (10 * now.queue) / most, dashes);
    }
    const states = [...links.values()];
    const down = states.filter((now) => now.capacity === 0).length;
    const slow = states.filter((now) => now.capacity > 0 && now.capacity < 97).length;
    let fullest = 0;
    directions.forEach((_, row) => { if (queue[row][frame] > queue[fullest][frame]) fullest = row; });
    const packets = queue[fullest]?.[frame] ?? 0;
    const parts = [
      `${times[frame].toFixed(2)} s`,
      active ? `${active[frame]} flows under way` : null,
      packets ? `${packets} packets before ${name(model.links[directions[fullest] >> 1], directions[fullest] & 1)}` : 'empty queues',
      slow ? `${slow} links below their rate` : null,
      down ? `${down} links down` : null,
    ];
    text.textContent = parts.filter(Boolean).join('; ');
    slider.setAttribute('aria-valuetext', text.textContent);
  };
  let timer = null;
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
    }, Math.max(40, 12000 / times.length));
  };
  const button = make('button', { type: 'button', onclick: () => (timer ? pause() : play()) }, 'Play');
  const end = () => {
    pause();
    text.textContent = '';
    stop();
  };
  slider.addEventListener('input', show);
  const key = 'Colour: share in use; width: packets that wait; long dashes: below its rate; dots: down.';
  const buttons = [button, slider, make('button', { type: 'button', onclick: end }, 'Whole run')];
  return make('div', { class: 'replay' }, make('div', { class: 'bar' }, ...buttons), text, make('p', { class: 'mute' }, key));
}

function source(svg) {
  const copy = svg.cloneNode(true);
  for (const line of copy.querySelectorAll('.link')) line.style.stroke = line.getAttribute('stroke');
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('font-family', 'sans-serif');
  copy.setAttribute('font-size', '10');
  return new XMLSerializer().serializeToString(copy);
}
