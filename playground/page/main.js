// The page: a scenario is edited and checked, run on all cores, and its results are shown.
import { charts } from './series.js';
import { $, make, save, short } from './dom.js';
import { Editor } from './editor.js';
import { map } from './network.js';
import { measured, ranking } from './measures.js';
import { Crew, Desk } from './pool.js';
import { questionOf } from './questions.js';
import { MOST_CHARACTERS, packed, unpacked } from './share.js';
import { tips } from './tables.js';

/** The name of the scenario in diagnostics and commands. */
const FILE = 'scenario.toml';
/** Milliseconds after the last key until the text is checked. */
const PAUSE = 300;
/** Events of a run from which the page says that it takes long. */
const MANY_EVENTS = 50e6;

const state = { files: new Map(), examples: [], answers: [], plan: null, crew: null, recorder: null, shown: false };
let module;
let desk;
let about;

const editor = new Editor($('editor'), () => changed());

start();

async function start() {
  if (typeof WebAssembly !== 'object') return tell('This browser has no WebAssembly: update it, or install Backlane.');
  if (typeof CompressionStream !== 'function') tell('This browser cannot make or open links to experiments: update it.');
  try {
    const [bytes, examples] = await Promise.all([fetch('engine.wasm'), fetch('examples.json')]);
    if (!bytes.ok || !examples.ok) throw new Error(`HTTP status ${bytes.status} and ${examples.status}`);
    module = await WebAssembly.compile(await bytes.arrayBuffer());
    state.examples = await examples.json();
  } catch (error) {
    $('state').textContent = '';
    return tell(`The simulator could not be loaded: ${error.message}. A page opened from a file cannot load it: serve the folder, for instance with "python -m http.server".`);
  }
  desk = new Desk(module);
  about = (await desk.ask({ do: 'about' })).ok;
  editor.schema = (await desk.ask({ do: 'schema' })).ok;
  $('versions').textContent = `Backlane ${about.version}, model version ${about.model_version}; ${navigator.hardwareConcurrency || 2} runs at once`;
  for (const { name, title } of state.examples) $('example').append(make('option', { value: name }, title));
  $('example').append(make('option', { value: '' }, 'my own'));
  await open(location.hash);
  $('run').disabled = false;
  $('state').textContent = '';
}

/** Shows the experiment of a link, or the first example. Nothing runs before a click. */
async function open(fragment) {
  try {
    const linked = await unpacked(fragment);
    if (!linked) return choose(state.examples[0].name);
    if (linked.example) return choose(linked.example);
    show(linked.text, Object.entries(linked.files));
    $('example').value = '';
    if (linked.version !== about.model_version) {
      tell(`This link was made with model version ${linked.version}; this page has ${about.model_version}. A run here may give other results.`);
    }
  } catch (error) {
    tell(`The link cannot be opened: ${error.message}. Ask its sender for the scenario file.`);
    choose(state.examples[0].name);
  }
}

function choose(name) {
  const example = state.examples.find((one) => one.name === name);
  if (!example) {
    tell(`There is no example "${name}".`);
    return choose(state.examples[0].name);
  }
  $('example').value = name;
  show(example.text, Object.entries(example.files));
  $('about-example').textContent = example.about;
}

function show(text, files) {
  state.files = new Map(files);
  $('about-example').textContent = '';
  editor.text = text;
  listFiles();
}

$('example').addEventListener('change', () => {
  if ($('example').value) choose($('example').value);
});

// Checks ---------------------------------------------------------------------------------------

let pause;
let asked = 0;

function changed() {
  clearTimeout(pause);
  pause = setTimeout(check, PAUSE);
}

function request(verb) {
  return { do: verb, text: editor.text, name: FILE, files: Object.fromEntries(state.files) };
}

async function check() {
  if (!desk) return;
  const mine = ++asked;
  const answer = await desk.ask(request('check'));
  if (mine === asked) problems(answer.ok ? answer.ok.warnings : answer.diagnostics, answer.error);
}

function problems(diagnostics, error) {
  editor.mark(diagnostics, FILE);
  const rows = diagnostics.map((one) => {
    const place = one.line ? ` line ${one.line}` : '';
    const line = make('button', { type: 'button', onclick: () => one.line && editor.go(one.line, one.column) }, `${one.code}${place}`);
    const help = [one.label, one.help].filter(Boolean).join('. ');
    return make('li', { class: one.severity }, line, `: ${one.message}`, make('pre', {}, help), explanation(one.code));
  });
  if (!rows.length && error) rows.push(make('li', {}, `${error.code}: ${error.message}`, make('pre', {}, error.help ?? ''), explanation(error.code)));
  $('problems').replaceChildren(...rows);
}

/** What `backlane explain` says of a code, when it is opened. */
function explanation(code) {
  const text = make('pre');
  const show = async () => {
    text.textContent ||= (await desk.ask({ do: 'explain', code })).ok ?? '';
  };
  return make('details', { ontoggle: show }, make('summary', {}, `What ${code} means`), text);
}

// Files ----------------------------------------------------------------------------------------

async function attach(list) {
  for (const file of list) {
    if (file.size > about.most_files_bytes) {
      tell(`"${file.name}" has ${(file.size / 2 ** 20).toFixed(0)} MiB; ${about.most_files_bytes / 2 ** 20} MiB are possible here.`);
      continue;
    }
    const text = await file.text();
    if (file.name.endsWith('.toml')) {
      editor.text = text;
      $('example').value = '';
    } else {
      state.files.set(file.name, text);
      const question = questionOf(file.name, text);
      if (question && !editor.text.includes(`"${file.name}"`)) {
        editor.text = question;
        $('example').value = '';
        tell(`The scenario asks a first question about ${file.name}. Choose "my own" or an example to replace it.`);
      }
    }
  }
  listFiles();
  changed();
}

function listFiles() {
  const rows = [...state.files].map(([name, text]) => {
    const remove = () => {
      state.files.delete(name);
      listFiles();
      changed();
    };
    const button = make('button', { type: 'button', onclick: remove, 'aria-label': `Remove ${name}` }, 'remove');
    return make('li', {}, `${name}, ${short(text.length / 1024)} kB `, button);
  });
  $('attached').replaceChildren(...rows);
}

$('attach').addEventListener('change', (event) => attach(event.target.files));
document.addEventListener('dragover', (event) => {
  event.preventDefault();
  document.body.classList.add('drop');
});
document.addEventListener('dragleave', () => document.body.classList.remove('drop'));
document.addEventListener('drop', (event) => {
  event.preventDefault();
  document.body.classList.remove('drop');
  attach(event.dataTransfer.files);
});

// Runs -----------------------------------------------------------------------------------------

$('run').addEventListener('click', run);
$('stop').addEventListener('click', () => {
  state.crew?.stop();
  state.recorder?.close();
  ended('Stopped');
});

async function run() {
  tell('');
  state.recorder?.close();
  $('run').disabled = true;
  $('state').textContent = 'Planning';
  $('cells').replaceChildren();
  $('detail').replaceChildren();
  const answer = await desk.ask(request('plan'));
  if (!answer.ok) {
    problems(answer.diagnostics, answer.error);
    $('state').textContent = `${answer.error.code}: ${answer.error.message}`;
    $('run').disabled = false;
    return;
  }
  const plan = answer.ok;
  problems(plan.warnings);
  state.plan = plan;
  state.shown = false;
  state.text = editor.text;
  state.kept = new Map(state.files);
  state.answers = plan.runs.map(() => null);
  const costs = plan.runs.map((one) => plan.cells[one.cell].estimate.cpu_s);
  const long = plan.cells.some((cell) => Number(cell.estimate.events) > MANY_EVENTS);
  const shares = plan.runs.map(() => 0);
  const begun = performance.now();
  const requests = plan.runs.map((one) => ({ do: 'run', resolved: plan.cells[one.cell].resolved, seed: one.seed }));
  const advance = () => {
    const all = costs.reduce((sum, cost) => sum + cost, 0);
    const done = costs.reduce((sum, cost, index) => sum + cost * shares[index], 0) / (all || 1);
    const passed = (performance.now() - begun) / 1000;
    const left = done > 0.02 ? `, about ${Math.max(1, Math.ceil((passed * (1 - done)) / done))} s left` : '';
    const ready = state.answers.filter(Boolean).length;
    $('progress').value = done;
    $('state').textContent = `${ready} of ${plan.runs.length} runs${left}${long ? '; a run has more than 50 million events and takes long in a browser' : ''}`;
  };
  const crew = new Crew(
    module,
    requests,
    (index, result) => {
      state.answers[index] = result;
      shares[index] = 1;
      advance();
      table();
      if (result.ok && !state.shown) {
        state.shown = true;
        look(index);
      }
    },
    (index, { now, duration }) => {
      shares[index] = duration > 0 ? Math.min(now / duration, 0.99) : 0;
      advance();
    },
  );
  state.crew = crew;
  $('stop').disabled = false;
  advance();
  await crew.finished;
  if (crew.stopped) return;
  const took = ((performance.now() - begun) / 1000).toFixed(1);
  ended(`${plan.runs.length} ${plan.runs.length === 1 ? 'run' : 'runs'} in ${took} s`);
}

function ended(text) {
  $('run').disabled = false;
  $('stop').disabled = true;
  $('progress').value = 0;
  const failed = state.answers.filter((answer) => answer?.error);
  $('state').textContent = failed.length ? `${text}; ${failed.length} failed: ${failed[0].error.code}: ${failed[0].error.message}. ${failed[0].error.help ?? ''}` : text;
}

// Results --------------------------------------------------------------------------------------

/** The runs of a cell, by their index in the plan. */
function runsOf(cell) {
  return state.plan.runs.map((one, index) => ({ ...one, index })).filter((one) => one.cell === cell);
}

function label(cell) {
  return words(cell, () => true) || state.plan.name;
}

/** The labels of the swept keys that are wanted. */
function words(cell, isWanted) {
  const kept = Object.entries(cell.parameters).filter(([key]) => isWanted(key));
  return kept.map(([, value]) => String(value)).join(', ');
}

/** The measure that the table is ordered and judged by; null is the first one there is. */
let chosen = null;
let drawn = 0;

async function table() {
  const mine = ++drawn;
  const plan = state.plan;
  const contenders = plan.cells
    .map((cell) => ({ cell, name: label(cell), runs: runsOf(cell.index) }))
    .filter(({ runs }) => runs.length)
    .map(({ cell, name, runs }) => {
      const done = runs.filter(({ index }) => state.answers[index]?.ok);
      return { cell, name, all: runs.length, runs: done.map(({ seed, index }) => ({ seed, index, run: state.answers[index].ok })) };
    });
  const measures = measured(contenders.flatMap(({ runs }) => runs.map(({ run }) => run)));
  if (!measures.length) return;
  const judged = measures.find(({ name }) => name === chosen) ?? measures[0];
  // Only contenders under the same condition are compared. They are asked for by number, since names
  // may be the same.
  const groups = new Map();
  contenders.forEach(({ cell, runs }, index) => {
    const condition = words(cell, (key) => !plan.choices.includes(key));
    if (!groups.has(condition)) groups.set(condition, []);
    groups.get(condition).push({ name: String(index), runs });
  });
  const margin = plan.equal_within === null ? {} : { equal_within: plan.equal_within };
  const judge = async (measure) => {
    const asked = [...groups.values()].map((group) => desk.ask(ranking(measure, group, margin)));
    const rows = (await Promise.all(asked)).flatMap(({ ok }) => ok);
    return new Map(rows.map((one) => [Number(one.name), one]));
  };
  const standings = await Promise.all(measures.map(judge));
  if (mine !== drawn || plan !== state.plan) return;
  const order = [...standings[measures.indexOf(judged)].keys()];
  contenders.forEach((_, index) => order.includes(index) || order.push(index));
  const head = make('tr', {}, make('th', { scope: 'col' }, Object.keys(plan.cells[0].parameters).join(', ') || 'scenario'), make('th', { scope: 'col' }, 'runs'), make('th', { scope: 'col' }, 'verdict'));
  for (const measure of measures) {
    const pick = () => {
      chosen = measure.name;
      table();
    };
    const unit = measure.unit ? `, ${measure.unit}` : '';
    const sort = measure !== judged ? 'none' : measure.better > 0 ? 'descending' : 'ascending';
    head.append(make('th', { scope: 'col', 'aria-sort': sort }, make('button', { type: 'button', onclick: pick }, `${measure.name}${unit}`)));
  }
  const body = order.map((index) => {
    const { name, runs, all } = contenders[index];
    const button = make('button', { type: 'button', disabled: !runs.length, onclick: () => look(runs[0].index) }, name);
    const row = make('tr', {}, make('td', {}, button), make('td', {}, `${runs.length} of ${all}`));
    row.append(make('td', {}, verdict(standings[measures.indexOf(judged)].get(index))));
    for (const standing of standings) {
      const value = standing.get(index)?.value;
      const range = value && value.low !== null ? ` [${short(value.low)}, ${short(value.high)}]` : '';
      row.append(make('td', {}, value ? `${short(value.mean)}${range}` : '–'));
    }
    return row;
  });
  const note = `Means with 95 % intervals over the seeds; verdicts by "${judged.name}": paired by seed, Holm's correction, under the same condition, equal within ${100 * (plan.equal_within ?? 0.05)} %. A heading judges by its measure, a name opens its first run.`;
  const grid = make('table', { 'aria-label': 'Results' }, make('thead', {}, head), make('tbody', {}, ...body));
  $('cells').replaceChildren(make('p', { class: 'mute' }, note), make('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Results' }, grid));
}

function verdict(standing) {
  if (!standing) return '–';
  if (standing.verdict !== 'undecided') return standing.verdict;
  return standing.seeds_needed ? `undecided, about ${standing.seeds_needed} seeds needed` : 'undecided';
}

/** Shows a run in place of all others. */
function look(index) {
  return present([index]);
}

/** Shows runs side by side: for each its digest, map and series; it runs again to record them. */
async function present(indices) {
  const plan = state.plan;
  const places = indices.map(() => make('div', { class: 'run-view' }, make('p', { class: 'mute' }, 'Recording')));
  $('detail').replaceChildren(make('h2', {}, indices.length > 1 ? 'Two runs' : 'One run'), make('div', { class: indices.length > 1 ? 'pair' : '' }, ...places));
  for (const [position, index] of indices.entries()) {
    const choose = (other) => present(indices.map((one, at) => (at === position ? other : one)));
    await view(places[position], index, choose);
    if (plan !== state.plan || !places[position].isConnected) return;
  }
  if (indices.length === 1 && plan.cells.length > 1) {
    places[0].querySelector('.bar').append(make('button', { type: 'button', onclick: () => beside(indices[0]) }, 'Beside another run'));
  } else if (indices.length > 1) {
    places.forEach((place, at) => place.querySelector('.bar').append(make('button', { type: 'button', onclick: () => look(indices[at]) }, 'This one alone')));
  }
}

/** Shows a run beside the first finished one of another cell. */
function beside(index) {
  const { runs } = state.plan;
  const other = runs.findIndex((one, at) => state.answers[at]?.ok && one.cell !== runs[index].cell);
  if (other < 0) tell('No run of another cell has finished yet.');
  else present([index, other]);
}

async function view(detail, index, choose) {
  const { cell, seed, run_id: runId } = state.plan.runs[index];
  const known = state.answers[index].ok;
  const recorded = await record(index);
  if (state.answers[index]?.ok !== known) return;
  const run = recorded ?? { ...known, series: {} };
  const network = (await desk.ask({ do: 'network', resolved: state.plan.cells[cell].resolved })).ok;
  const picture = network ? map(network, run) : null;
  const { element, ready } = charts(run.series);
  const { digest, events, simulated_s: simulated, ended: end } = known.summary;
  const facts = make('p', {}, 'Digest ', make('code', { class: 'digest' }, digest), `, run ${runId.slice(0, 12)}, ${Number(events).toLocaleString('en')} events, ${short(simulated)} s simulated (${end}). The same natively, with the scenario saved as ${FILE}:`);
  const only = state.plan.runs.length === 1;
  const command = make('pre', { class: 'command' }, only ? `backlane run ${FILE} --seed ${seed}` : `backlane campaign run ${FILE}`);
  const tables = make('div', { class: 'bar' }, 'Tables as CSV:');
  for (const [name, from] of [...Object.entries(run.tables), ...Object.entries(run.series)]) {
    tables.append(make('button', { type: 'button', onclick: () => save(`${name}.csv`, 'text/csv', csv(from)) }, name));
  }
  const others = make('select', { 'aria-label': 'Other run', onchange: (event) => choose(Number(event.target.value)) });
  state.plan.runs.forEach((one, at) => {
    if (state.answers[at]?.ok) others.append(make('option', { value: at, selected: at === index }, `${label(state.plan.cells[one.cell])}, seed ${one.seed}`));
  });
  detail.replaceChildren(make('div', { class: 'bar' }, others), facts, command, tables);
  if (picture) detail.append(make('h3', {}, 'Network'), picture);
  if (recorded && recorded.summary.digest !== digest) detail.append(make('p', { class: 'notice' }, 'The recorded run has another digest: please report this.'));
  detail.append(element);
  ready();
}

/** The run again with all series, some 200 samples each; null where the scenario has none. */
async function record(index) {
  const { cell, seed } = state.plan.runs[index];
  const simulated = state.answers[index].ok.summary.traffic_s ?? 0;
  const step = Math.max(1, Math.round((simulated / 200) * 1000));
  const overrides = [
    ['record.series', '["cwnd", "queue", "goodput"]'],
    ['record.interval', `"${step} ms"`],
    ['record.flows', '[]'],
    ['record.links', '[]'],
  ];
  const ask = { do: 'plan', text: state.text, name: FILE, files: Object.fromEntries(state.kept), overrides };
  // On a desk of its own: checks of the text do not wait for it, and a new run ends it.
  state.recorder?.close();
  const recorder = new Desk(module);
  state.recorder = recorder;
  const answer = await recorder.ask(ask);
  if (!answer.ok) return null;
  const ran = await recorder.ask({ do: 'run', resolved: answer.ok.cells[cell].resolved, seed, series: true });
  recorder.close();
  return ran.ok ?? null;
}

function csv(from) {
  const names = Object.keys(from.columns);
  const cell = (value) => {
    const text = value === null ? '' : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [names.map(cell).join(',')];
  for (let row = 0; row < from.rows; row++) lines.push(names.map((name) => cell(from.columns[name].values[row])).join(','));
  return `${lines.join('\n')}\n`;
}

// Links ----------------------------------------------------------------------------------------

$('save').addEventListener('click', () => save(FILE, 'application/toml', editor.text));
$('link').addEventListener('click', async () => {
  const fragment = await packed({ text: editor.text, files: Object.fromEntries(state.files) }, about.model_version);
  if (fragment.length > MOST_CHARACTERS) {
    return tell('The attached files are too large for a link: send the scenario and the files, and attach them on the page.');
  }
  history.replaceState(null, '', fragment);
  try {
    await navigator.clipboard.writeText(location.href);
    tell('The link is in the clipboard and in the address bar.');
  } catch {
    tell('The link is in the address bar.');
  }
});
tips(document.body);
addEventListener('hashchange', () => open(location.hash));

function tell(text) {
  $('notice').textContent = text;
  $('notice').hidden = !text;
}
