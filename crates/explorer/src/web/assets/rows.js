// Rows as a table with one column per argument, and the scan that asks for them.
import { h, fill, $, number, bytes, mark, colour, top, say } from './dom.js';
import { address, ask, go, rowsOf, state, without } from './api.js';
import { overlay, strip } from './lanes.js';
import { counts, rowsText } from './tree.js';
import { copyMenu } from './copy.js';

/** Shows the rows of a state. */
export async function show(main, now, signal) {
  const [page, family] = await Promise.all([
    ask('rows', rowsOf(now), signal),
    now.family ? ask('family', { family: now.family }, signal) : null,
  ]);
  signal.throwIfAborted();
  const one = now.family ? counts(now.family) : null;
  fill(main,
    h('div', { class: 'head' },
      h('h1', {}, now.family ?? (now.only ? title(now) : `All rows of ${now.space}`)),
      family && h('span', { class: 'faint' }, family.doc.join(' ').split('. ')[0])),
    family && h('div', { class: 'layout' }, h('code', {}, family.layout), family.value && h('span', { class: 'faint' }, ` → ${family.value}`)),
    family && builder(now, page, family),
    table(now, page),
    foot(now, page, one));
  mark_chosen();
}

const title = (now) => now.only === 'unread' ? `Unread keys of ${now.space}` : `Keys of ${now.space} with two readings`;

/** Only scans that the plan declares, each with its proof. */
function builder(now, page, family) {
  const called = family.scans.filter((scan) => scan.called);
  const chosen = called.find((scan) => scan.id === (now.scan ?? page.scan)) ?? called[0];
  const pick = h('select', { id: 'scan', 'aria-label': 'Scan', onchange: () => {
    const scan = family.scans.find((one) => one.id === pick.value);
    const kept = Object.fromEntries((scan?.bound ?? []).map((name) => [`a.${name}`, now[`a.${name}`]]));
    const next = { ...without(now, 'a.', 'scan', 'from', 'to', 'after', 'before', 'key'), scan: scan?.id, ...kept };
    if (scan && scan.bound.some((name) => !kept[`a.${name}`])) draft(next, scan);
    else go(next);
  } },
  called.length === 0 && h('option', { value: '' }, 'no scan is declared'),
  called.map((scan) =>
    h('option', { value: scan.id, selected: scan.id === chosen?.id }, `${scan.words}`)));
  const inputs = h('span', { class: 'inputs' });
  const box = h('form', { class: 'scan', onsubmit: (event) => { event.preventDefault(); submit(now, box); } },
    h('label', { for: 'scan' }, 'scan'), pick, inputs, h('button', { type: 'submit' }, 'Go'),
    h('button', { type: 'button', class: 'quiet', 'aria-pressed': now.rev ? 'true' : 'false', title: 'Turn the order around (r)',
      onclick: turn }, now.rev ? '↑ from the last' : '↓ from the first'),
    h('a', { class: 'button quiet', href: address({ v: 'facets', family: now.family, height: now.height }) }, 'values'),
    copyMenu(now));
  const put = (scan) => fill(inputs, arguments_(now, family, scan));
  const draft = (next, scan) => { put(scan); inputs.querySelector('input')?.focus(); };
  put(chosen);
  return h('div', { class: 'builder' }, box, chosen && proofs(chosen));
}

function arguments_(now, family, scan) {
  if (!scan) return [];
  const field = (name, of, label, value) => h('label', { class: `field ${colour(of)}` }, h('span', {}, label),
    h('input', { name, value: value ?? '', size: '10', autocomplete: 'off', spellcheck: 'false' }));
  const all = scan.bound.map((name) => field(`a.${name}`, name, name, now[`a.${name}`]));
  const columns = family.columns.filter((column) => column.of === 'key');
  const next = columns[scan.bound.length];
  if (scan.in_order && next) {
    all.push(field('from', next.name, `${next.name} ≥`, now.from), field('to', next.name, `${next.name} <`, now.to));
  }
  return all;
}

function submit(now, box) {
  const next = without(now, 'a.', 'from', 'to', 'after', 'before', 'key', 'scan');
  const scan = box.querySelector('select').value;
  for (const input of box.querySelectorAll('input')) if (input.value.trim() !== '') next[input.name] = input.value.trim();
  go({ ...next, scan });
}

function proofs(scan) {
  const bad = scan.claims.filter((claim) => claim.verdict !== 'proved');
  return h('div', { class: 'proofs' }, mark(scan.mark),
    h('span', { class: 'faint' }, ` ${scan.place.file}:${scan.place.line}`),
    bad.map((claim) => h('details', { class: `claim ${claim.verdict}` },
      h('summary', {}, `${claim.code}: ${claim.guarantee} `, claim.why ? `(${claim.why})` : ''),
      claim.witness && [h('p', { class: 'faint' }, 'These keys were really encoded:'), overlay(claim.witness)])));
}

export function turn() {
  const now = state();
  if (!now.family) return;
  go({ ...without(now, 'after', 'before', 'rev'), rev: now.rev ? '' : '1' });
}

function table(now, page) {
  if (page.rows.length === 0) {
    return h('p', { class: 'empty' }, page.cut_short
      ? `none among the ${number(page.looked)} rows that were looked at` : 'There are no such rows.');
  }
  const isOdd = Boolean(now.only);
  const columns = page.columns;
  return h('div', { class: 'table', tabindex: '0', role: 'region', 'aria-label': 'Rows' }, h('table', { id: 'rows' },
    h('thead', {}, h('tr', {},
      columns.map((column) => h('th', { scope: 'col', class: `${column.of === 'value' ? 'of-value' : ''} ${numeric(column) ? 'n' : ''}`,
        title: column.type, data: { arg: top(column.name) } }, column.name, h('small', {}, column.type))),
      !now.family && !isOdd && h('th', { scope: 'col' }, 'reading'),
      isOdd && h('th', { scope: 'col' }, now.only === 'unread' ? 'why' : 'readings'),
      h('th', { scope: 'col' }, 'key'),
      h('th', { scope: 'col' }, 'value'), h('th', { scope: 'col', class: 'n' }, 'bytes'))),
    h('tbody', {}, page.rows.map((row, index) => rowOf(now, page, row, index)))));
}

const numeric = (column) => /^[iu]\d|^f64|^time/.test(column.type);

function rowOf(now, page, row, index) {
  const { columns } = page;
  const isOdd = Boolean(now.only);
  const to = address({ ...now, key: row.key, space: page.space });
  const first = (content) => h('a', { href: to, class: 'open', tabindex: index === 0 ? '0' : '-1' }, content);
  const cells = columns.map((column, at) => h('td', {
    class: `${column.of === 'value' ? 'of-value' : ''} ${numeric(column) ? 'n' : ''}`, data: { arg: top(column.name) },
  }, at === 0 ? first(row.cells?.[at] ?? '') : h('bdi', {}, row.cells?.[at] ?? '')));
  const why = isOdd && (now.only === 'unread'
    ? h('td', { class: 'wide' }, first(h('bdi', {}, row.why)))
    : h('td', { class: 'wide' }, first(row.readings.map((one) => h('div', {}, h('bdi', {}, one.text))))));
  const reading = !now.family && !isOdd && h('td', {}, first(row.text ? h('bdi', {}, row.text) : 'unread'));
  return h('tr', { data: { key: row.key, space: page.space }, class: row.several ? 'several' : '',
    onclick: (event) => { if (!event.target.closest('a') && !getSelection().toString()) go({ ...now, key: row.key, space: page.space }); } },
  cells, reading, why,
  h('td', { class: 'key' }, columns.length === 0 && !isOdd && now.family ? first(strip(row.key, row.lanes, 24)) : strip(row.key, row.lanes, 24),
    row.several && h('span', { class: 'warn', title: 'this key has two readings' }, ' ⚠')),
  h('td', { class: 'value' }, h('bdi', {}, row.value)), h('td', { class: 'n faint' }, number(row.length)));
}

function foot(now, page, one) {
  const turned = now.before ? 'page before' : '';
  const total = one && !hasScan(now) ? `of ${rowsText(one)}${one.exact ? ' exact' : ', walking'}` : '';
  return h('div', { class: 'foot' },
    h('button', { type: 'button', id: 'before', disabled: !page.before, onclick: () => go({ ...without(now, 'after', 'before', 'key'), before: page.before }) }, '‹ Before'),
    h('span', {}, `${number(page.rows.length)} ${page.rows.length === 1 ? 'row' : 'rows'} ${total} ${turned}`,
      page.cut_short ? `, looked at ${number(page.looked)}: Next continues` : ''),
    h('button', { type: 'button', id: 'next', disabled: !page.next, onclick: () => go({ ...without(now, 'after', 'before', 'key'), after: page.next }) }, 'Next ›'),
    h('span', { class: 'hints faint', 'aria-hidden': 'true' }, 'j k rows   n p pages   / find   s scan   d compare   ? keys'),
    one && h('span', { class: 'faint' }, `${bytes(one.bytes)}`));
}

const hasScan = (now) => Object.keys(now).some((name) => name.startsWith('a.')) || now.from || now.to;

/** The next page of the rows that are seen, or the one before. */
export function step(by) {
  $(by > 0 ? 'next' : 'before')?.click();
}

/** Marks the row of the key that is shown. */
export function mark_chosen() {
  const now = state();
  for (const row of document.querySelectorAll('#rows tbody tr')) {
    const is = now.key !== undefined && row.dataset.key === now.key;
    row.classList.toggle('chosen', is);
    row.querySelector('a.open')?.setAttribute('aria-current', is ? 'true' : 'false');
    if (is) row.scrollIntoView({ block: 'nearest' });
  }
}

/** Moves to the next row, or the one before, and opens it. */
export function move(by) {
  const rows = [...document.querySelectorAll('#rows tbody tr')];
  if (rows.length === 0) return;
  const at = rows.findIndex((row) => row.classList.contains('chosen'));
  const next = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by))];
  const now = state();
  go({ ...now, key: next.dataset.key, space: next.dataset.space }, { replace: now.key !== undefined });
  next.querySelector('a.open')?.focus({ preventScroll: true });
  say('');
}
