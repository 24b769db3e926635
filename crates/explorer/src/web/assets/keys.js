// The keyboard: everything can be done with it, and `?` lists it.
import { h, $, dialog, problem } from './dom.js';
import { ask, go, state } from './api.js';
import * as rows from './rows.js';
import * as side from './side.js';
import * as tree from './tree.js';
import { ask_copy } from './copy.js';
import { save } from './notes.js';

export async function help() {
  let list;
  try { list = await ask('keys'); } catch (error) { dialog('Keys', problem(error)); return; }
  dialog('Keys', h('dl', { class: 'keys' }, list.map((one) => [h('dt', {}, h('kbd', {}, one.key)), h('dd', {}, one.what)])));
}

export function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  try { localStorage.setItem('keyplan-theme', root.dataset.theme); } catch { /* it is not kept, then */ }
}

const view = (v) => { const now = state(); go({ v, height: now.height }); };

const DOES = {
  '?': help,
  '/': () => { $('q').focus(); $('q').select(); },
  j: () => rows.move(1),
  k: () => rows.move(-1),
  J: () => tree.step(1),
  K: () => tree.step(-1),
  n: () => rows.step(1),
  p: () => rows.step(-1),
  s: () => $('scan')?.focus(),
  r: rows.turn,
  f: () => { const now = state(); if (now.family) go({ v: 'facets', family: now.family, height: now.height }); },
  u: () => view('unread'),
  2: () => view('several'),
  m: () => view(''),
  d: () => view('diff'),
  h: () => { const now = state(); if (now.key) go({ ...now, history: now.history ? '' : '1' }); },
  '@': () => $('height')?.focus(),
  x: tree.stop,
  l: () => view('plan'),
  c: ask_copy,
  o: save,
  t: theme,
  Escape: () => { const now = state(); if (now.key) side.close(); else if (now.v || now.family) history.back(); },
};

export function begin() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.matches?.('input, textarea, select') || $('dialog').open) return;
    const does = DOES[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
  $('help').addEventListener('click', help);
  $('theme').addEventListener('click', theme);
  $('menu').addEventListener('click', () => {
    const open = document.body.classList.toggle('menu-open');
    $('menu').setAttribute('aria-expanded', String(open));
  });
  try { const kept = localStorage.getItem('keyplan-theme'); if (kept) document.documentElement.dataset.theme = kept; } catch { /* the system says */ }
}
