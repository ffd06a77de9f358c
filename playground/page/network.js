// The map of a run, from the engine's network and the run's tables.
import { createMap } from './map.js';
import { make } from './dom.js';

/** Samples of a replay at most. */
const MOST_FRAMES = 240;

/** The map of a network with the run's links and, if recorded, its queues; null without positions. */
export function map(network, run) {
  if (network.nodes.filter((node) => node.position_m).length < 2) return null;
  const drawn = createMap({
    nodes: network.nodes.filter((node) => node.kind !== 'ue').map(modelled),
    links: network.links.map(({ a, b }) => ({ a, b, rateMbps: null, channel: null })),
    ues: network.nodes.filter((node) => node.kind === 'ue' && node.position_m).map((node) => node.position_m),
  });
  const loads = loadsOf(network, run);
  const show = () => drawn.show(loads, 0, 'Over the run');
  show();
  const samples = samplesOf(network, run.series.queue);
  if (!samples) return drawn.element;
  drawn.replay(samples, show);
  return make('div', {}, drawn.element);
}

function modelled({ id, kind, position_m: position }) {
  const [x, y] = position ?? [0, 0];
  return { id, kind, x, y, isApart: !position };
}

function indices(network) {
  return new Map(network.links.flatMap(({ a, b }, index) => {
    const [from, to] = [network.nodes[a].id, network.nodes[b].id];
    return [[`${from}-${to}`, 2 * index], [`${to}-${from}`, 2 * index + 1]];
  }));
}

function loadsOf(network, run) {
  const loads = network.links.map(() => [0, 0, null, null]);
  const { from, to, utilisation, busiest_second: busiest } = run.tables.links?.columns ?? {};
  const known = indices(network);
  from?.values.forEach((name, row) => {
    const index = known.get(`${name}-${to.values[row]}`);
    if (index === undefined) return;
    loads[index >> 1][index & 1] = utilisation.values[row] ?? 0;
    loads[index >> 1][2 + (index & 1)] = busiest?.values[row] ?? null;
  });
  return loads;
}

/** The samples of the queues by direction, each frame over the samples since the one before. Parallel links are one. */
function samplesOf(network, table) {
  if (!table?.rows) return null;
  const known = indices(network);
  const { entity, time_s: time, queue_pkts: queue, sent_bytes: sent, capacity_bps: capacity } = table.columns;
  const every = [...new Set(time.values)].sort((a, b) => a - b);
  const stride = Math.ceil(every.length / MOST_FRAMES);
  const frameOf = new Map(every.map((instant, index) => [instant, Math.floor(index / stride)]));
  const times = every.filter((_, index) => index % stride === stride - 1 || index === every.length - 1);
  const sums = new Map();
  for (let row = 0; row < table.rows; row++) {
    const direction = known.get(entity.values[row]);
    if (direction === undefined) continue;
    if (!sums.has(direction)) sums.set(direction, new Map());
    const samples = sums.get(direction);
    const sum = samples.get(time.values[row]) ?? { queue: 0, sent: 0, capacity: 0 };
    sum.queue += queue.values[row];
    sum.sent += sent.values[row];
    sum.capacity += capacity.values[row];
    samples.set(time.values[row], sum);
  }
  const rows = new Map();
  for (const [direction, samples] of sums) {
    const frames = times.map(() => ({ queue: 0, sent: null, bits: 0 }));
    for (const [instant, sum] of samples) {
      const frame = frames[frameOf.get(instant)];
      frame.queue = Math.max(frame.queue, sum.queue);
      frame.sent = sum.sent;
      frame.bits += sum.capacity / stride;
    }
    rows.set(direction, frames);
  }
  const directions = [...rows.keys()].sort((a, b) => a - b);
  const lists = directions.map((direction) => rows.get(direction));
  const span = times.length > 1 ? times[1] - times[0] : 1;
  return {
    times,
    directions,
    queue: lists.map((list) => list.map((frame) => frame.queue)),
    use: lists.map((list) => list.map((frame, index) => {
      const before = list[index - 1]?.sent;
      if (before === undefined || before === null || !frame.bits) return 0;
      return Math.min(100, Math.round((800 * (frame.sent - before)) / (frame.bits * span)));
    })),
    capacity: lists.map((list) => {
      const most = Math.max(...list.map((frame) => frame.bits)) || 1;
      return list.map((frame) => Math.round((100 * frame.bits) / most));
    }),
    active: null,
  };
}
