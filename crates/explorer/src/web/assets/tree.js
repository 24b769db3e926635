// The families with how much there is of each, and what no family makes.
import { h, both, fill, $, number, short, bytes, percent, mark, say } from './dom.js';
import { act, address, ask, go, state } from './api.js';

let overview = null;
let walk = null;
let timer = 0;
let wanted = '';
let loading = null;
let counting = 0;

export const now = () => ({ overview, walk });

const listeners = [];
/** Told when counts have changed. */
export const oncounts = (listener) => listeners.push(listener);

/** Loads the database at a height and begins to count; whoever asks for it meanwhile gets the same. */
export function load(height = '') {
  if (loading?.height !== height) {
    const found = begin(height);
    loading = { height, found };
    // What failed is asked for again when it is next wanted.
    found.catch(() => { if (loading?.found === found) loading = null; });
  }
  return loading.found;
}

async function begin(height) {
  wanted = height;
  const found = await ask('overview', { height });
  // Another height may be wanted by now: its answer is the one to keep.
  if (height !== wanted) return found;
  overview = found;
  await count();
  return found;
}

async function count(again) {
  clearTimeout(timer);
  const mine = ++counting;
  let found;
  try {
    found = await ask('walk', { height: wanted, again });
  } catch (error) {
    found = { state: 'failed', why: error.message, families: [], total: { rows: 0, bytes: 0 }, unread: { counts: { rows: 0 } }, several: { counts: { rows: 0 } } };
  }
  // Only the last question is answered: an older answer would take the counts back.
  if (mine !== counting) return;
  walk = found;
  draw();
  for (const listener of listeners) listener(walk);
  if (walk.state === 'walking') timer = setTimeout(() => count(), 500);
}

export const counts = (path) => walk?.families.find((one) => one.path === path);

/** `1 204`, or `≥ 1 204` while it is counted. */
export function rowsText(one, exact = one?.exact) {
  if (!one) return '–';
  const n = one.keys ?? one.rows;
  return exact ? number(n) : `≥ ${number(n)}`;
}

export function draw() {
  const nav = $('nav');
  const at = state();
  const scroll = nav.scrollTop;
  const held = nav.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
  const total = walk?.total.bytes ?? 0;
  fill(nav,
    h('div', { class: 'summary' }, walkLine()),
    overview.spaces.map((space) => spaceOf(space, at, total)),
    h('ul', { class: 'odd' },
      odd('unread', 'Unread', walk?.unread, at, 'Keys that no family makes'),
      odd('several', 'Two readings', walk?.several, at, 'Keys that read in two ways')),
    overview.unread_spaces.length > 0 && h('p', { class: 'faint' },
      'Not in the plan: ', overview.unread_spaces.slice(0, 20).join(', ')));
  nav.scrollTop = scroll;
  // Whoever goes through the families by keyboard stays where they are while it counts.
  if (held !== null) [...nav.querySelectorAll('a')].find((one) => one.getAttribute('href') === held)?.focus({ preventScroll: true });
}

function walkLine() {
  if (!walk) return '';
  const line = `${number(walk.total.rows)} rows, ${bytes(walk.total.bytes)}`;
  if (walk.state === 'walking') {
    return [h('span', { class: 'spin', 'aria-hidden': 'true' }), h('span', {}, `≥ ${line}, walking`),
      h('button', { type: 'button', class: 'small', onclick: stop }, 'Stop')];
  }
  if (walk.state === 'done') return h('span', { title: `counted in ${(walk.took_ms / 1000).toFixed(1)} s` }, line);
  return [h('span', { class: 'problem' }, walk.state === 'stopped' ? `≥ ${line}, stopped` : `counting failed: ${walk.why}`),
    h('button', { type: 'button', class: 'small', onclick: () => count(true) }, 'Count again')];
}

/** Stops the count. */
export async function stop() {
  try { await act('stop', { height: wanted }); } catch (error) { say(error.message); }
  await count();
}

function spaceOf(space, at, total) {
  const bound = space.source_space !== null;
  const modules = new Map(space.modules.map((module) => [module.path, []]));
  const own = [];
  for (const family of space.families) (modules.get(family.module) ?? own).push(family);
  const named = space.source_space && space.source_space !== space.name ? ` = ${space.source_space}` : '';
  return h('section', { class: bound ? 'space' : 'space unbound' },
    h('h2', { title: space.doc ?? '' }, h('a', { href: address({ v: 'space', space: space.name, height: at.height }) }, space.name),
      h('span', { class: 'faint' }, bound ? named : ' not in the database')),
    bound && h('ul', {}, own.map((family) => familyOf(family, at, total)),
      [...modules].filter(([, list]) => list.length > 0).map(([path, list]) => h('li', { class: 'module' },
        h('span', { class: 'module-name' }, path.slice(space.name.length + 1)),
        h('ul', {}, list.map((family) => familyOf(family, at, total)))))),
    space.more > 0 && h('p', { class: 'faint' }, `and ${number(space.more)} more families: find them by name`));
}

function familyOf(family, at, total) {
  const one = counts(family.path);
  const share = one && total > 0 ? one.bytes / total : 0;
  const current = at.family === family.path;
  return h('li', {}, h('a', {
    href: address({ family: family.path, height: at.height }), class: `family ${one?.rows ? '' : 'none'}`,
    'aria-current': current ? 'page' : null, title: `${family.path}: ${family.doc ?? family.layout}`, data: { family: family.path },
  }, both(family.name),
  ['refuted', 'accepted', 'unknown'].includes(family.mark) && mark(family.mark, false),
  h('span', { class: 'count' }, one ? `${one.exact ? '' : '≥ '}${short(one.keys ?? one.rows)}` : ''),
  h('span', { class: 'share' }, share >= 0.001 ? percent(one.bytes, total) : ''),
  h('span', { class: 'bar', 'aria-hidden': 'true', style: { '--share': share.toFixed(4) } })));
}

function odd(view, name, found, at, title) {
  const rows = found?.counts.rows ?? 0;
  const exact = walk?.state === 'done' ? '' : '≥ ';
  return h('li', {}, h('a', {
    href: address({ v: view, height: at.height }), class: rows > 0 ? 'family warn' : 'family none', title,
    'aria-current': at.v === view ? 'page' : null,
  }, h('span', { class: 'name' }, rows > 0 ? '⚠ ' : '', name), h('span', { class: 'count' }, `${exact}${short(rows)}`)));
}

/** The next family, or the one before. */
export function step(by) {
  const all = overview.spaces.filter((space) => space.source_space !== null).flatMap((space) => space.families);
  const at = state();
  const index = all.findIndex((family) => family.path === at.family);
  const next = all[(index + by + all.length) % all.length];
  if (next) go({ family: next.path, height: at.height });
}
