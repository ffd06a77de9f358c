// What is told of a run in one number, from its tables. Intervals and verdicts come from the engine.

const numbers = (run, name) => (run.tables.flows?.columns[name]?.values ?? []).filter((value) => value !== null);
const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);
const total = (values) => values.reduce((sum, value) => sum + value, 0);

function jain(values) {
  const squares = total(values.map((value) => value * value));
  return squares > 0 ? total(values) ** 2 / (values.length * squares) : null;
}

/** The measures, with the better direction (−1 for less, 1 for more) and what they can be. */
export const MEASURES = [
  { name: 'Mean finish time', unit: 's', better: -1, of: (run) => (finished(run) ? mean(numbers(run, 'finish_time_s')) : null) },
  { name: 'Unfinished flows', unit: '', better: -1, of: unfinished },
  { name: 'Total goodput', unit: 'Mbit/s', better: 1, of: (run) => (run.tables.flows ? total(numbers(run, 'goodput_bps')) / 1e6 : null) },
  { name: 'Mean RTT', unit: 'ms', better: -1, of: (run) => scaled(mean(numbers(run, 'rtt_mean_s')), 1e3) },
  { name: "Jain's index", unit: '', better: 1, limits: [0, 1], of: (run) => jain(numbers(run, 'goodput_bps')) },
  { name: 'Reordered', unit: '%', better: -1, limits: [0, 100], of: (run) => scaled(mean(numbers(run, 'reordered_ratio')), 100) },
];

function scaled(value, factor) {
  return value === null ? null : value * factor;
}

function unfinished(run) {
  const flows = run.tables.flows;
  if (!flows || !flows.columns.size_bytes) return null;
  const sizes = flows.columns.size_bytes.values;
  const finite = sizes.filter((size) => size !== null).length;
  if (!finite) return null;
  return flows.columns.finish_s.values.filter((value, flow) => value === null && sizes[flow] !== null).length;
}

function finished(run) {
  return unfinished(run) === 0;
}

/** The measures that any of the runs has. */
export function measured(runs) {
  return MEASURES.filter((measure) => runs.some((run) => measure.of(run) !== null));
}

/** The mean of the values that are there; null without any. */
export function average(values) {
  return mean(values.filter((value) => value !== null));
}

/** The request for the standings of contenders `{name, runs: [{seed, run}]}` by a measure. */
export function ranking(measure, contenders, margin) {
  const listed = contenders.map(({ name, runs }) => {
    const each = runs.map(({ seed, run }) => [seed, measure.of(run)]);
    return { name, values: Object.fromEntries(each.filter(([, value]) => value !== null)) };
  });
  // JSON has no infinity: limits that are none stay away.
  const limits = measure.limits?.every(Number.isFinite) ? { limits: measure.limits } : {};
  return { do: 'rank', contenders: listed, more: measure.better > 0, ...margin, ...limits };
}
