// Tables that sort by a column, and texts under the pointer.
import { make } from './dom.js';

/** Makes the columns of a table sortable by buttons in its header. */
export function sortable(table) {
  const body = table.tBodies[0];
  if (!body || body.rows.length < 2) return;
  const original = [...body.rows];
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = make('button', { type: 'button', title: 'Sort by this column' }, ...cell.childNodes);
    cell.replaceChildren(button);
    button.addEventListener('click', () => {
      const order = { none: 'ascending', ascending: 'descending', descending: 'none' }[cell.getAttribute('aria-sort') ?? 'none'];
      for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
      if (order !== 'none') cell.setAttribute('aria-sort', order);
      const sign = order === 'descending' ? -1 : 1;
      const rows = order === 'none' ? original : [...original].sort((a, b) => sign * compare(a.cells[column], b.cells[column]));
      body.append(...rows);
    });
  });
}

const UNITS = { ns: 1e-9, µs: 1e-6, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, kbit: 1e3, Mbit: 1e6, Gbit: 1e9, bit: 1, '%': 1 };

/** Numbers come before texts; the unit of a number counts. */
export function valueOf(text) {
  const found = /^[≥≤+−-]?\s*(-?[\d\u00a0 ]*\.?\d+(?:e[+-]?\d+)?)\s*([^\s/[]*)/.exec(text.trim().replace('−', '-'));
  if (!found) return null;
  const value = Number(found[1].replace(/[\u00a0 ]/g, ''));
  return Number.isNaN(value) ? null : value * (UNITS[found[2]] ?? 1);
}

function compare(a, b) {
  const [left, right] = [a.textContent, b.textContent];
  const [x, y] = [valueOf(left), valueOf(right)];
  if (x !== null && y !== null) return x - y;
  if (x === null && y === null) return left.localeCompare(right);
  return x === null ? 1 : -1;
}

/** Shows the text of `data-tip` of the element under the pointer. */
export function tips(root) {
  const tip = make('div', { class: 'tip', role: 'status', hidden: true });
  document.body.append(tip);
  const hide = () => { tip.hidden = true; };
  root.addEventListener('pointermove', (event) => {
    const text = event.target.closest?.('[data-tip]')?.dataset.tip;
    if (!text) return hide();
    tip.textContent = text;
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 6))}px`;
    tip.style.top = `${event.clientY + height + 22 > innerHeight ? event.clientY - height - 10 : event.clientY + 16}px`;
  });
  root.addEventListener('pointerleave', hide);
  addEventListener('scroll', hide, { passive: true });
}
