// The bytes of a key with what each is. Hovering a lane, a cell or a word of the plan shows all three.
import { h, colour, top } from './dom.js';

const LONG = 96;

/** What a lane lights up with: a literal may be called like an argument, and is none. */
const bound = (lane) => lane?.name && lane.kind !== 'literal' ? { arg: top(lane.name), kind: lane.kind } : {};

/** Hex digits in lanes, on one line. */
export function strip(hex, lanes, shown = 48) {
  const out = h('code', { class: 'strip' });
  let at = 0;
  const put = (from, to, lane) => {
    const digits = hex.slice(from * 2, Math.min(to, shown) * 2);
    if (!digits) return;
    out.append(lane
      ? h('span', { class: `lane ${lane.kind} ${colour(lane.name)}`, data: bound(lane) }, digits)
      : h('span', { class: 'lane rest' }, digits));
  };
  for (const lane of lanes ?? []) {
    if (lane.start > at) put(at, lane.start);
    put(lane.start, lane.end, lane);
    at = lane.end;
  }
  put(at, hex.length / 2);
  if (hex.length / 2 > shown) out.append(h('span', { class: 'more' }, `… ${hex.length / 2} bytes`));
  return out;
}

/** A key as a drawing: the bytes of each lane, a rule under them, and below it what they are. */
export function anatomy(hex, lanes, { broken = null } = {}) {
  const list = h('ol', { class: 'anatomy', 'aria-label': 'The bytes of the key' });
  const put = (from, to, lane) => {
    const all = hex.slice(from * 2, to * 2);
    const digits = all.length > LONG * 2 ? `${all.slice(0, LONG * 2)}… (${to - from} bytes)` : all;
    const label = lane ? lane.label || lane.name || (lane.kind === 'literal' ? 'literal' : '') : '';
    const bad = broken !== null && from <= broken && broken < Math.max(to, from + 1);
    list.append(h('li', {
      class: `piece ${lane?.kind ?? 'rest'} ${lane ? colour(lane.name) : ''} ${bad ? 'bad' : ''}`,
      data: bound(lane),
      title: `bytes ${from} to ${to - 1}`,
    }, h('code', {}, digits || '–'), h('span', { class: 'what' }, bad ? `byte ${broken}` : label)));
  };
  let at = 0;
  for (const lane of lanes ?? []) {
    if (lane.start > at) put(at, lane.start);
    put(lane.start, lane.end, lane);
    at = lane.end;
  }
  const length = hex.length / 2;
  if (broken !== null && broken > at && broken < length) { put(at, broken); at = broken; }
  if (broken !== null && broken === at && broken + 1 < length) { put(at, at + 1); at += 1; }
  if (at < length || (broken !== null && broken >= length)) put(at, Math.max(length, at));
  return list;
}

/** Two keys over each other, byte under byte, with what each reads them as. */
export function overlay(witness) {
  const sides = ['first', 'second', 'scan', 'row', 'start', 'end', 'key']
    .filter((name) => witness?.[name]?.hex).map((name) => [name, witness[name]]);
  return h('div', { class: 'overlay' }, sides.map(([name, side]) => h('div', { class: 'side-of' },
    h('div', { class: 'side-name' }, h('b', {}, name), ' ', side.family ?? ''),
    strip(side.hex, side.segments ?? [], 64),
    side.args && h('div', { class: 'args' }, Object.entries(side.args).map(([key, value]) =>
      h('span', { class: `arg ${colour(key)}`, data: { arg: key } }, `${key} = ${text(value)}`))))));
}

const text = (value) => typeof value === 'string' ? value : JSON.stringify(value);

/** The declaration of a family, its segments marked. */
export function declaration(plan) {
  const code = h('code', {});
  const points = [...(plan.segments ?? [])].sort((a, b) => a.start - b.start);
  let at = 0;
  for (const one of points) {
    if (one.start < at) continue;
    code.append(plan.text.slice(at, one.start));
    code.append(h('span', { class: `seg ${colour(one.name)}`, data: { arg: one.name } }, plan.text.slice(one.start, one.end)));
    at = one.end;
  }
  code.append(plan.text.slice(at));
  return h('figure', { class: 'declaration' },
    h('figcaption', {}, `${plan.file}:${plan.line}`),
    h('pre', { tabindex: '0', 'aria-label': 'Declaration in the plan' }, code));
}

/** Whatever is pointed at lights up wherever else it is. */
export function bindHover(root) {
  const light = (event) => {
    const found = event.target.closest?.('[data-arg]');
    const name = found?.dataset.arg ?? '';
    if (root.dataset.hot === name) return;
    root.dataset.hot = name;
    for (const old of root.querySelectorAll('.hot')) old.classList.remove('hot');
    if (!name) return;
    const row = found.closest('tr');
    for (const one of root.querySelectorAll(`[data-arg="${CSS.escape(name)}"]`)) {
      const other = one.closest('tr');
      // In the table only the row that is pointed at, and the head of the column.
      if (other && row && other !== row && !other.closest('thead')) continue;
      if (other && !row && !other.matches('.chosen') && !other.closest('thead')) continue;
      one.classList.add('hot');
    }
  };
  root.addEventListener('mouseover', light);
  root.addEventListener('focusin', light);
}
