// Explorable explanations: sliders that run the simulator. A page of this kind has
// <body data-topic="…">; its texts are in the page, its scenario and readings here.
import { charts } from './series.js';
import { $, make, short } from './dom.js';
import { average } from './measures.js';
import { Crew, Desk } from './pool.js';
import { packed } from './share.js';

/** Milliseconds after the last movement of a slider until the simulator runs. */
const PAUSE = 250;
const PACKET_BYTES = 1500;

const column = (run, name) => run.tables.flows.columns[name].values;
const mean = average;

const TOPICS = {
  buffer: {
    controls: [
      { name: 'rtt', label: 'Round-trip time', unit: 'ms', values: [10, 20, 50, 100, 200], start: 2 },
      { name: 'buffer', label: 'Buffer at the link', unit: 'packets', values: [5, 10, 20, 40, 83, 160, 320, 640], start: 4 },
      { name: 'control', label: 'Congestion control', values: ['reno', 'cubic', 'vegas', 'bbr'], start: 1 },
    ],
    scenario: ({ rtt, buffer, control }) => `# One flow over one link of 20 Mbit/s.
duration = "20 s"
topology = { kind = "chain", nodes = 2, link = { rate = "20 Mbit/s", delay = "${rtt / 2} ms", queue = "${buffer} packets" } }
tcp = { congestion_control = "${control}" }
flow = [{ kind = "transfer", from = "enb1", to = "enb2", size = "endless" }]
record = { series = ["cwnd", "queue"], interval = "50 ms" }
`,
    read: ([run], { rtt, buffer }) => {
      const bdp = (20e6 * rtt) / 1000 / 8 / PACKET_BYTES;
      const link = run.tables.links.columns;
      const used = link.utilisation.values[0];
      const measured = mean(column(run, 'rtt_mean_s')) * 1000;
      return [
        ['Bandwidth-delay product', `${short(bdp)} packets; the buffer has ${short(buffer / bdp)} times as many`],
        ['The link is busy', `${short(100 * used)} % of the time`],
        ['Goodput', `${short(mean(column(run, 'goodput_bps')) / 1e6)} Mbit/s`],
        ['Mean RTT', `${short(measured)} ms, ${short(measured - rtt)} ms above that of the empty path`],
        ['Packets dropped', short(link.drops.values[0])],
      ];
    },
  },
  reordering: {
    controls: [
      { name: 'ues', label: 'Downloads at once', unit: '', values: [1, 3, 9, 18, 36], start: 2 },
      { name: 'rate', label: 'Rate of the links', unit: 'Mbit/s', values: [20, 50, 100, 500], start: 2 },
      { name: 'routing', label: 'Decisions', values: ['packet', 'flow'], start: 0 },
    ],
    scenario: ({ ues, rate, routing }) => `# Backpressure over nine cells; TCP with a fixed threshold of duplicate acknowledgments, and with RACK.
duration = "120 s"
topology = { kind = "grid", rows = 3, columns = 3, spacing = "200 m", link = { rate = "${rate} Mbit/s", delay = "4 ms", queue = "1 bdp" } }
gateway = [{ node = "epc", attach = ["enb3", "enb9"], link = { rate = "1 Gbit/s", delay = "0.5 ms", queue = "1 bdp" } }]
server = [{ node = "server", attach = "epc", link = { rate = "10 Gbit/s", delay = "5 ms" } }]
access = { kind = "ideal", rate = "350 Mbit/s", delay = "10 ms", ues = ${ues} }
routing = { protocol = "bp-mr", granularity = "${routing}" }
flow = [{ kind = "download", size = "5 MB" }]
record = { series = ["cwnd"], interval = "50 ms", flows = ["ue1"] }
sweep = { "tcp.reordering" = ["fixed", "rack"] }
`,
    read: (runs) => {
      const [fixed, rack] = runs;
      const each = (name, factor, unit) => runs.map((run) => `${short(mean(column(run, name)) * factor)}${unit && ` ${unit}`}`).join(' and ');
      const finish = (run) => (column(run, 'finish_time_s').includes(null) ? null : mean(column(run, 'finish_time_s')));
      const [slow, fast] = [finish(fixed), finish(rack)];
      return [
        ['With a fixed threshold, and with RACK:', ''],
        ['Packets that arrive reordered', each('reordered_ratio', 100, '%')],
        ['Packets sent again, a flow', each('retransmits', 1, '')],
        ['of these in vain', each('spurious_retransmits', 1, '')],
        ['Mean window', each('cwnd_mean_pkts', 1, 'packets')],
        ['Mean finish time', `${slow === null ? 'not all finish' : `${short(slow)} s`} and ${fast === null ? 'not all finish' : `${short(fast)} s`}`],
      ];
    },
    labels: ['fixed threshold', 'RACK'],
  },
  grid: {
    controls: [
      { name: 'ues', label: 'Users', unit: '', values: [10, 25, 50, 75, 100], start: 1 },
      { name: 'queue', label: 'Buffer of each link', unit: 'packets', values: [34, 85, 170, 340, 680], start: 3 },
      { name: 'control', label: 'Congestion control', values: ['cubic', 'reno', 'vegas', 'bbr'], start: 0 },
    ],
    scenario: ({ ues, queue, control }) => `# The grid of 25 small cells, 10 MB for each user.
duration = "120 s"
topology = { kind = "grid", rows = 5, columns = 5, spacing = "200 m", link = { rate = "500 Mbit/s", delay = "4 ms", queue = "${queue} packets" } }
gateway = [{ node = "epc", attach = ["enb5", "enb15", "enb25"], link = { rate = "1 Gbit/s", delay = "0.5 ms", queue = "1 bdp" } }]
server = [{ node = "server", attach = "epc", link = { rate = "10 Gbit/s", delay = "5 ms" } }]
access = { kind = "ideal", rate = "350 Mbit/s", delay = "10 ms", ues = ${ues} }
tcp = { congestion_control = "${control}" }
flow = [{ kind = "download", size = "10 MB", start = "staggered" }]
[sweep]
"routing" = [
  { label = "OLSR", protocol = "olsr", warm_up = "20 s" },
  { label = "BP-MR per packet", protocol = "bp-mr", granularity = "packet", queue_limit_pkts = ${queue}, gateway_queue_limit_pkts = ${1.5 * queue} },
  { label = "BP-MR per flow", protocol = "bp-mr", granularity = "flow", queue_limit_pkts = ${queue}, gateway_queue_limit_pkts = ${1.5 * queue} },
]
seeds = 2
`,
    read: (runs, _, plan) => {
      const rows = plan.cells.map((cell) => {
        const mine = runs.filter((_run, index) => plan.runs[index].cell === cell.index);
        const finish = mine.flatMap((run) => column(run, 'finish_time_s'));
        const seeds = mine.map((run) => mean(column(run, 'finish_time_s')));
        const all = !finish.includes(null);
        const drops = mine.reduce((sum, run) => sum + run.tables.links.columns.drops.values.reduce((a, b) => a + b, 0), 0) / mine.length;
        const reordered = mean(mine.flatMap((run) => column(run, 'reordered_ratio')));
        const name = Object.values(cell.parameters).join(', ');
        const told = all ? `${short(mean(seeds))} s [${seeds.map(short).sort().join(', ')}]` : 'not all finish';
        return { name, all, finish: mean(seeds), told: `${told}; ${short(drops)} drops, ${short(100 * reordered)} % reordered` };
      });
      const done = rows.filter((row) => row.all).sort((a, b) => a.finish - b.finish);
      const list = rows.map((row) => [row.name, row.told]);
      if (done.length > 1) list.push(['First here', `${done[0].name}, ${short(100 * (done[1].finish / done[0].finish - 1))} % ahead of ${done[1].name}; two seeds decide nothing`]);
      return list;
    },
  },
};

const topic = TOPICS[document.body.dataset.topic];
const chosen = Object.fromEntries(topic.controls.map(({ name, values, start }) => [name, values[start]]));
let module;
let desk;
let about;
let crew;
let pause;
let turn = 0;

start();

async function start() {
  const place = $('controls');
  for (const control of topic.controls) place.append(widget(control));
  try {
    const answer = await fetch('engine.wasm');
    module = await WebAssembly.compile(await answer.arrayBuffer());
  } catch (error) {
    $('state').textContent = `The simulator could not be loaded: ${error.message}. Serve the folder, for instance with "python -m http.server".`;
    return;
  }
  desk = new Desk(module);
  about = (await desk.ask({ do: 'about' })).ok;
  run();
}

function widget({ name, label, unit, values, start: first }) {
  const shown = make('output', {}, `${values[first]} ${unit ?? ''}`);
  const slider = make('input', { type: 'range', min: 0, max: values.length - 1, value: first, id: name, 'aria-valuetext': `${values[first]} ${unit ?? ''}` });
  slider.addEventListener('input', () => {
    chosen[name] = values[slider.value];
    shown.textContent = `${chosen[name]} ${unit ?? ''}`;
    slider.setAttribute('aria-valuetext', shown.textContent);
    clearTimeout(pause);
    pause = setTimeout(run, PAUSE);
  });
  return make('div', { class: 'bar' }, make('label', { for: name }, label), slider, shown);
}

async function run() {
  const mine = ++turn;
  crew?.stop();
  $('state').textContent = 'Simulating';
  const text = topic.scenario(chosen);
  const planned = await desk.ask({ do: 'plan', text });
  if (mine !== turn) return;
  if (!planned.ok) {
    $('state').textContent = `${planned.error.code}: ${planned.error.message}`;
    return;
  }
  const plan = planned.ok;
  const answers = [];
  const requests = plan.runs.map((one) => ({ do: 'run', resolved: plan.cells[one.cell].resolved, seed: one.seed, series: true }));
  const begun = performance.now();
  crew = new Crew(module, requests, (index, answer) => {
    answers[index] = answer;
  }, () => {});
  await crew.finished;
  if (mine !== turn) return;
  const failed = answers.find((answer) => answer.error);
  if (failed) {
    $('state').textContent = `${failed.error.code}: ${failed.error.message}`;
    return;
  }
  const runs = answers.map((answer) => answer.ok);
  const count = `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}`;
  $('state').textContent = `${count} in ${((performance.now() - begun) / 1000).toFixed(1)} s, model version ${about.model_version}`;
  const rows = topic.read(runs, chosen, plan).map(([name, value]) => make('tr', {}, make('th', { scope: 'row' }, name), make('td', {}, value)));
  $('readings').replaceChildren(make('table', { class: 'readings' }, make('tbody', {}, ...rows)));
  const series = joined(runs);
  const { element, ready } = charts(series);
  $('charts').replaceChildren(element);
  ready();
  $('open').href = `index.html${await packed({ text, files: {} }, about.model_version)}`;
}

/** The series of all runs; with labels, lines are named by them. */
function joined(runs) {
  if (!topic.labels) return runs[0].series;
  const all = {};
  runs.forEach((run, index) => {
    for (const [name, table] of Object.entries(run.series)) {
      const into = (all[name] ??= { rows: 0, columns: {} });
      into.rows += table.rows;
      for (const [key, { values }] of Object.entries(table.columns)) {
        const named = key === 'entity' ? values.map((entity) => `${topic.labels[index]}, ${entity}`) : values;
        (into.columns[key] ??= { values: [] }).values.push(...named);
      }
    }
  });
  return all;
}
