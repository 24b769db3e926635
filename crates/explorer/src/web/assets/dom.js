// Elements, numbers and bytes. Whatever comes from a database becomes a text node and nothing else.

/** An element with attributes, listeners (`onclick`) and children; strings become text nodes. */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'class') element.className = value;
    else if (name === 'data') Object.assign(element.dataset, value);
    else if (name === 'style') for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

export const $ = (id) => document.getElementById(id);

const grouped = new Intl.NumberFormat('en-US');
export const number = (n) => grouped.format(n).replaceAll(',', '\u202f');

export function bytes(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let at = 0;
  while (n >= 1024 && at < units.length - 1) { n /= 1024; at += 1; }
  return `${at === 0 ? n : n.toFixed(n < 10 ? 2 : n < 100 ? 1 : 0)}\u00a0${units[at]}`;
}

export function short(n) {
  if (n < 10_000) return number(n);
  if (n < 1_000_000) return `${(n / 1000).toFixed(n < 100_000 ? 1 : 0)} k`;
  return `${(n / 1_000_000).toFixed(n < 10_000_000 ? 2 : 1)} M`;
}

/** The end of a path, which is what tells one database from another. */
export function tail(path, names = 2) {
  const all = path.split('/');
  return all.length > names + 1 ? `…/${all.slice(-names).join('/')}` : path;
}

/** A name of which both ends are seen where there is no room for all of it. */
export function both(name) {
  const end = name.length > 22 ? 9 : 0;
  return end === 0 ? h('span', { class: 'name' }, name)
    : h('span', { class: 'name long' }, h('span', {}, name.slice(0, -end)), h('span', {}, name.slice(-end)));
}

/** A share; only what is everything is 100 %, and only nothing is 0. */
export function percent(part, whole) {
  if (whole <= 0) return '';
  if (part === 0 || part === whole) return part === 0 ? '0 %' : '100 %';
  const share = 100 * part / whole;
  if (share < 0.1) return '< 0.1 %';
  return share > 99.9 ? '> 99.9 %' : `${share.toFixed(share < 10 || share > 99 ? 1 : 0)} %`;
}

/** The colour of an argument is a function of its name: one name, one colour, everywhere. */
export function colour(name) {
  let hash = 7;
  for (const c of top(name)) hash = (hash * 31 + c.codePointAt(0)) >>> 0;
  return `c${hash % 8}`;
}

/** `pairs[1].denom` belongs to `pairs`. */
export const top = (name) => name.split(/[.[]/, 1)[0];

/** How a claim stands: a sign, a word and a colour. */
export const SIGNS = {
  proved: ['✓', 'proved'], assumed: ['✓', 'proved unless a hash collides'], accepted: ['~', 'refuted, and accepted'],
  endless: ['∞', 'there is no longest key'], refuted: ['✗', 'refuted'], unknown: ['?', 'neither proved nor refuted'],
};

export function mark(verdict, words = true) {
  const [sign, text] = SIGNS[verdict] ?? ['·', verdict];
  return h('span', { class: `mark ${verdict}`, title: text, role: 'img', 'aria-label': text },
    h('span', { 'aria-hidden': 'true' }, sign, words ? ` ${verdict}` : ''));
}

export function problem(error) {
  return h('p', { class: 'problem', role: 'alert' }, error.message ?? String(error));
}

export function say(text) {
  fill($('status'), text);
}

/** A bar that says how far something is, and ends it. */
export function progress(text, stop) {
  return h('div', { class: 'progress', role: 'status' }, h('span', { class: 'spin', 'aria-hidden': 'true' }), text,
    stop && h('button', { type: 'button', class: 'small', onclick: stop }, 'Stop'));
}

/** A dialog with a title; it closes with Escape, and gives the focus back. */
export function dialog(title, ...children) {
  const box = $('dialog');
  fill(box, h('div', { class: 'dialog-head' }, h('h2', { id: 'dialog-title' }, title),
    h('button', { type: 'button', class: 'icon', 'aria-label': 'Close', onclick: () => box.close() }, '×')),
  h('div', { class: 'dialog-body' }, children));
  if (!box.open) box.showModal();
  return box;
}
