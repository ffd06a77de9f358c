// What a report does in a browser: sorting, filters, highlights, values under the pointer, maps and charts.
import { plot } from './charts.js';
import { make } from './dom.js';
import { createMap } from './map.js';
import { sortable, tips } from './tables.js';

const data = JSON.parse(document.getElementById('data').textContent);

document.documentElement.classList.add('live');
for (const table of document.querySelectorAll('main table')) sortable(table);
tips(document.body);
highlights();
data.networks.forEach(controls);
data.networks.forEach(explorer);
charts();

/** Pointing at a contender fades all others of its network; a click keeps that. */
function highlights() {
  let kept = null;
  const mark = (network, contender) => {
    for (const element of document.querySelectorAll('[data-contender]')) {
      const isOther = contender !== null && element.dataset.network === network && element.dataset.contender !== contender;
      element.classList.toggle('faded', isOther);
    }
  };
  const found = (event) => event.target.closest?.('[data-contender]')?.dataset;
  document.addEventListener('pointerover', (event) => {
    const at = found(event);
    if (at) mark(at.network, at.contender);
    else if (kept) mark(kept.network, kept.contender);
    else mark(null, null);
  });
  document.addEventListener('click', (event) => {
    const at = found(event);
    if (!at) return;
    kept = kept?.network === at.network && kept.contender === at.contender ? null : { ...at };
    mark(kept?.network ?? null, kept?.contender ?? null);
  });
}

/** The filter by condition of a network. */
function controls(network, index) {
  const place = document.querySelector(`.filter[data-network="${index}"]`);
  if (!place || network.conditions.length < 2) return;
  const select = make('select', {}, make('option', { value: '' }, 'all conditions'));
  network.conditions.forEach((condition, number) => select.append(make('option', { value: number }, condition)));
  select.addEventListener('change', () => {
    for (const element of document.querySelectorAll(`[data-condition][data-network="${index}"]`)) {
      const isOther = select.value !== '' && element.dataset.condition !== select.value;
      element.classList.toggle(element.tagName === 'TR' ? 'hidden' : 'faint', isOther);
    }
    place.dispatchEvent(new CustomEvent('chosen', { detail: select.value === '' ? null : Number(select.value) }));
  });
  place.append(make('label', {}, `${network.name}: `, select));
}

/** The map of a network with the load of each contender, and its replay. */
function explorer(network, index) {
  const place = document.querySelector(`.explorer[data-network="${index}"]`);
  if (!place || !network.maps.length) return;
  const contender = make('select', { 'aria-label': 'Contender' });
  const condition = make('select', { 'aria-label': 'Condition' });
  const part = make('select', { 'aria-label': 'Load' });
  part.append(make('option', { value: 0 }, 'mean of the run'), make('option', { value: 2 }, 'busiest second'));
  const numbers = (key) => [...new Set(network.maps.map((one) => one[key]))];
  for (const number of numbers('contender')) contender.append(make('option', { value: number }, network.contenders[number]));
  for (const number of numbers('condition')) condition.append(make('option', { value: number }, network.conditions[number] || 'all runs'));
  condition.value = String(network.maps.at(-1).condition);
  const view = make('div');
  let [drawn, layout] = [null, null];
  const update = () => {
    const one = network.maps.find((entry) => entry.contender === Number(contender.value) && entry.condition === Number(condition.value));
    if (!one) return view.replaceChildren(make('p', {}, 'This contender has no finished run here.'));
    if (layout !== one.layout || !drawn) {
      drawn = createMap(network.layouts[one.layout]);
      layout = one.layout;
      view.replaceChildren(drawn.element);
    }
    const label = `${network.contenders[one.contender]}, ${part.selectedOptions[0].textContent}`;
    const loads = one.loads.map((list) => list.map((value) => (value === null ? null : value / 1000)));
    const show = () => drawn.show(loads, Number(part.value), label);
    show();
    drawn.replay(one.replay, show);
  };
  for (const select of [contender, condition, part]) select.addEventListener('change', update);
  const bar = make('div', { class: 'bar' }, contender, network.conditions.length > 1 ? condition : '', part);
  document.querySelector(`.filter[data-network="${index}"]`)?.addEventListener('chosen', ({ detail }) => {
    if (detail === null) return;
    condition.value = String(detail);
    update();
  });
  place.append(bar, view);
  update();
}

/** Puts charts with values under the pointer in place of the drawings over time. */
function charts() {
  const redraw = () => {
    for (const figure of document.querySelectorAll('figure[data-lines]')) {
      const { lines, unit, group } = data.lines[figure.id];
      const place = figure.querySelector('.live-chart') ?? make('div', { class: 'live-chart' });
      place.replaceChildren();
      figure.querySelector('svg[role=img]')?.replaceWith(place);
      plot(place, lines.map(({ name, times, values }) => ({ name, points: times.map((time, at) => [time, values[at]]) })), unit, group);
    }
  };
  redraw();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
}
