// One key: what it means, which bytes are what, its value beside its raw bytes, its history, what a structure holds.
import { h, fill, $, number, bytes, colour, top, problem, say } from './dom.js';
import { address, ask, go, state, without } from './api.js';
import { anatomy, declaration } from './lanes.js';
import { copyKey } from './copy.js';

/** Shows the key of a state, or hides the pane. */
export async function show(now, signal) {
  const side = $('side');
  document.body.classList.toggle('has-key', now.key !== undefined);
  if (now.key === undefined) { side.hidden = true; fill(side); return; }
  side.hidden = false;
  try {
    const page = await ask('key', { key: now.key, space: now.space, height: now.height, as: now.as }, signal);
    fill(side, head(now, page), page.spaces.map((one) => spaceOf(now, page, one)));
    if (now.history) await history(now, page, signal);
  } catch (error) {
    if (error.name !== 'AbortError') fill(side, head(now, { key: now.key, length: now.key.length / 2 }), problem(error));
  }
}

function head(now, page) {
  return h('div', { class: 'side-head' },
    h('h2', {}, 'Key'), h('span', { class: 'faint' }, `${number(page.length)} bytes`),
    copyKey(page.key, now.space),
    page.heights && h('a', { class: 'button quiet', href: address({ ...now, history: now.history ? '' : '1' }) }, 'history'),
    h('button', { type: 'button', class: 'icon', 'aria-label': 'Close', onclick: close }, '×'));
}

export function close() {
  go(without(state(), 'key', 'as', 'history'));
}

function spaceOf(now, page, one) {
  return h('section', { class: 'in-space' },
    one.readings.length === 0 && unread(page, one),
    one.readings.length > 1 && h('p', { class: 'warn' }, `⚠ ${one.readings.length}${one.more ? ' or more' : ''} readings of these bytes`),
    one.readings.map((reading) => readingOf(now, page, one, reading)),
    !one.found && h('p', { class: 'faint' }, `There is no such row in ${one.space}.`),
    one.structure && h('div', { class: 'structure', data: { structure: '1' } }, structureOf(now, page, one)),
    one.value && valueOf(now, page, one));
}

function readingOf(now, page, one, reading) {
  return h('div', { class: 'reading' },
    h('h3', {}, h('a', { href: address({ family: reading.family, height: now.height }) }, reading.family),
      reading.doc && h('span', { class: 'faint' }, ` ${reading.doc}`)),
    anatomy(page.key, reading.lanes),
    reading.cells.length > 0 && h('dl', { class: 'args-list' }, reading.columns.filter((column) => column.of === 'key')
      .map((column, at) => [h('dt', { class: colour(column.name), data: { arg: top(column.name) } }, column.name),
        h('dd', { data: { arg: top(column.name) } }, h('bdi', {}, reading.cells[at] ?? ''), h('small', {}, ` ${column.type}`))])),
    declaration(reading.plan));
}

function unread(page, one) {
  return h('div', { class: 'unread-key' },
    h('p', { class: 'warn' }, '⚠ No family of ', h('b', {}, one.space), ' makes this key.'),
    one.nearest.map((near) => h('div', { class: 'near' },
      h('h3', {}, near.family, h('span', { class: 'faint' }, ' gets furthest')),
      anatomy(page.key, near.sound.map(([start, end]) => ({ start, end, kind: 'sound', name: '', label: '' })), { broken: near.offset }),
      h('p', {}, `byte ${near.offset}, `, h('code', {}, near.segment), `: ${near.message}`),
      near.front_of && h('p', {}, 'It is the front of its keys: ', h('code', {}, near.front_of.args)),
      declaration(near.plan))));
}

const FORMS = ['', 'json', 'cbor', 'proto', 'rlp', 'bytes'];

function valueOf(now, page, one) {
  const value = one.value;
  const how = value.read_as ?? {};
  const why = { guess: 'a guess: the plan says nothing', plan: 'as the plan says', asked: 'as you asked' }[how.why] ?? how.why;
  const tabs = h('select', { 'aria-label': 'Read the value as', onchange: () => go({ ...now, as: tabs.value }, { replace: true }) },
    FORMS.map((form) => h('option', { value: form, selected: (now.as ?? '') === form }, form || 'as the plan says')));
  const raw = h('div', { class: 'raw' }, hexdump(value.hex));
  return h('section', { class: 'value-pane' },
    h('div', { class: 'value-head' }, h('h3', {}, 'Value'), h('span', { class: 'faint' }, `${number(value.length)} bytes`),
      value.layout && h('code', {}, value.layout), tabs),
    h('p', { class: 'faint' }, `${how.how ?? ''}, ${why ?? ''}`),
    how.fault && h('p', { class: 'problem' }, how.fault),
    value.tree && h('ul', { class: 'values' }, treeOf(value.tree, true)),
    h('details', { open: !value.tree }, h('summary', {}, 'raw bytes'), raw,
      value.length * 2 > value.hex.length && more(now, page, one, raw, value)));
}

function more(now, page, one, raw, value) {
  let from = value.hex.length / 2;
  const button = h('button', { type: 'button', class: 'small', onclick: async () => {
    // A second click must not bring the same bytes again.
    button.disabled = true;
    try {
      const part = await ask('bytes', { key: page.key, space: one.space, from, height: now.height });
      raw.append(hexdump(part.hex, part.from));
      from = part.to;
      button.hidden = from >= part.length;
      say(`${number(from)} of ${number(part.length)} bytes`);
    } catch (error) { raw.append(problem(error)); } finally { button.disabled = false; }
  } }, `show more of ${bytes(value.length)}`);
  return button;
}

/** As many bytes per line as can be read without scrolling: beside the rows, or on a narrow screen, half as many. */
const perLine = () => (document.querySelector('#side').clientWidth >= 580 ? 16 : 8);

function hexdump(hex, from = 0) {
  const pre = h('pre', { tabindex: '0', 'aria-label': 'Raw bytes' });
  const count = perLine();
  for (let at = 0; at < hex.length; at += 2 * count) {
    const line = hex.slice(at, at + 2 * count);
    const offset = (from + at / 2).toString(16).padStart(6, '0');
    let text = '';
    const digits = [];
    for (let byte = 0; byte < count; byte += 1) {
      const gap = byte === 7 && count > 8 ? '  ' : ' ';
      const two = line.slice(2 * byte, 2 * byte + 2);
      if (two === '') { digits.push(`  ${gap}`); continue; }
      const code = Number.parseInt(two, 16);
      text += code >= 32 && code < 127 ? String.fromCharCode(code) : '·';
      digits.push(h('span', { data: { at: from + at / 2 + byte } }, two), gap);
    }
    pre.append(h('span', { class: 'offset' }, `${offset}  `), ...digits, ` ${text}\n`);
  }
  return pre;
}

/** A part of a value; pointing at it shows its bytes. */
function treeOf(node, root = false) {
  const children = node.children ?? [];
  const point = (on) => (event) => {
    event.stopPropagation();
    for (const byte of document.querySelectorAll('#side .raw [data-at]')) {
      const at = Number(byte.dataset.at);
      byte.classList.toggle('hot', on && at >= node.start && at < node.end);
    }
  };
  const line = [node.name !== '' && h('span', { class: 'field-name' }, h('bdi', {}, node.name)),
    node.text !== '' && h('span', { class: 'field-text' }, h('bdi', {}, node.text)),
    h('span', { class: 'faint span' }, `${node.start}–${node.end}`)];
  if (root && children.length > 0) return children.map((child) => treeOf(child));
  if (children.length === 0) return h('li', { onmouseover: point(true), onmouseout: point(false) }, line);
  return h('li', { onmouseover: point(true), onmouseout: point(false) }, h('details', { open: true }, h('summary', {}, line),
    h('ul', {}, children.map((child) => treeOf(child)),
      node.parts > children.length && h('li', { class: 'faint' }, `${number(node.parts - children.length)} more`))));
}

/** The key over all heights. */
async function history(now, page, signal) {
  const space = now.space ?? page.spaces[0]?.space;
  const found = await ask('history', { key: now.key, space }, signal);
  const box = h('section', { class: 'history' }, h('h3', {}, 'History'),
    h('p', { class: 'faint' }, `heights ${found.first ?? '–'} to ${found.last ?? '–'} are kept`),
    h('ol', {}, found.changes.map((change) => h('li', {},
      h('a', { href: address({ ...now, height: change.seen }) }, `height ${number(change.version)}`), ' ',
      change.value === null ? h('i', { class: 'faint' }, 'not there') : h('bdi', {}, change.value)))),
    found.changes.length > 1 && h('p', { class: 'faint' }, `${found.changes.length} states`));
  $('side').querySelector('.side-head').after(box);
}

function structureOf(now, page, one) {
  const reading = one.readings[0];
  if (!reading) return '';
  const box = h('div', {}, 'reading…');
  let asked = 0;
  const load = async (skip) => {
    const mine = ++asked;
    try {
      const found = await ask('structure', { family: reading.family, key: page.key, rev: now.srev, skip });
      if (mine !== asked) return;
      fill(box, h('h3', {}, `${found.holds} of ${number(found.count)}`), found.queue ? queueOf(found.queue) : partsOf(found),
        !found.queue && h('div', { class: 'foot' },
          h('button', { type: 'button', disabled: skip === 0, onclick: () => load(Math.max(0, skip - 200)) }, '‹ Before'),
          h('span', {}, `${number(skip + 1)}–${number(skip + found.parts.length)} of ${number(found.count)}`),
          h('button', { type: 'button', disabled: skip + found.parts.length >= found.count, onclick: () => load(skip + 200) }, 'Next ›')));
    } catch (error) { if (mine === asked) fill(box, problem(error)); }
  };
  load(0);
  return box;
}

function partsOf(found) {
  const scored = found.parts.some((part) => part.score !== undefined);
  const field = found.parts.some((part) => part.field !== undefined);
  return h('div', { class: 'table', tabindex: '0', role: 'region', 'aria-label': 'Parts' }, h('table', {}, h('thead', {}, h('tr', {},
    scored && h('th', { scope: 'col', class: 'n' }, 'score'), h('th', { scope: 'col' }, field ? 'field' : 'member'), field && h('th', { scope: 'col' }, 'value'))),
  h('tbody', {}, found.parts.map((part) => h('tr', {}, scored && h('td', { class: 'n' }, part.score),
    h('td', {}, h('bdi', {}, part.field ?? part.member)), field && h('td', {}, h('bdi', {}, part.value)))))));
}

function queueOf(queue) {
  const part = (name, words, list) => h('section', { class: 'queue' }, h('h4', {}, `${words} `, h('b', {}, number(list.count))),
    list.items.length > 0 && h('table', {}, h('thead', {}, h('tr', {}, h('th', { scope: 'col', class: 'n' }, 'score'), h('th', { scope: 'col' }, 'item'),
      name !== 'waiting' && h('th', { scope: 'col', class: 'n' }, 'attempts'), name === 'held' && h('th', { scope: 'col' }, 'until'))),
    h('tbody', {}, list.items.map((item) => h('tr', {}, h('td', { class: 'n' }, item.score), h('td', {}, h('bdi', {}, item.member)),
      name !== 'waiting' && h('td', { class: 'n' }, item.attempts), name === 'held' && h('td', {}, new Date(item.until).toISOString()))))));
  return [part('waiting', 'Waits', queue.waiting), part('held', 'Is held', queue.held), part('failed', 'Has failed', queue.failed)];
}
