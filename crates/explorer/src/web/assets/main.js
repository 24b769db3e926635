// The page: which view the address asks for.
import { h, fill, $, problem, tail } from './dom.js';
import { address, changed, go, onstate, state, without } from './api.js';
import { bindHover } from './lanes.js';
import * as compare from './compare.js';
import * as facets from './facets.js';
import * as groups from './groups.js';
import * as keys from './keys.js';
import * as notes from './notes.js';
import * as plan from './plan.js';
import * as rows from './rows.js';
import * as search from './search.js';
import * as side from './side.js';
import * as tree from './tree.js';

const VIEWS = { unread: groups, several: groups, facets, diff: compare, plan, notes, rows, space: rows };

let showing = '';
let latest;
let loaded = null;
let running = new AbortController();
let sideRunning = new AbortController();

/** What of a state changes the middle of the page. */
const middle = (now) => JSON.stringify(without(now, 'key', 'as', 'history'));

async function show(now) {
  latest = now;
  if (now.height !== loaded) {
    // Whoever goes back before the answer asks again.
    loaded = null;
    let overview;
    try { overview = await tree.load(now.height); } catch (error) {
      if (now !== latest) return;
      // Nothing of what was shown is of this height.
      running.abort();
      showing = '';
      fill($('main'), problem(error));
      return;
    }
    if (now !== latest) return;
    loaded = now.height;
    where(overview);
  }
  tree.draw();
  views(now);
  sideRunning.abort();
  sideRunning = new AbortController();
  side.show(now, sideRunning.signal);
  document.body.classList.remove('menu-open');
  // The space of a key that is shown is not a question for rows.
  const asked = now.family ? middle(without(now, 'space')) : middle(now);
  if (asked === showing) { rows.mark_chosen(); return; }
  showing = asked;
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const main = $('main');
  const name = now.v && VIEWS[now.v] ? now.v : now.family ? 'rows' : 'start';
  document.body.dataset.view = name;
  document.title = `${now.family ?? now.v ?? 'Keyplan'} · ${tail(tree.now().overview.name)}`;
  main.setAttribute('aria-busy', 'true');
  try {
    const asks = now.family ? without(now, 'space') : now;
    if (name === 'rows' && !now.family && !now.space) fill(main, h('p', { class: 'empty' }, 'The key is on the right.'));
    else await (name === 'start' ? facets.start : VIEWS[name].show)(main, asks, signal);
  } catch (error) {
    if (error.name === 'AbortError') return;
    fill(main, h('div', { class: 'head' }, h('h1', {}, now.family ?? '')), problem(error),
      now.family && h('p', {}, h('a', { href: address({ family: now.family, height: now.height }) }, 'All rows of the family')));
  } finally {
    if (!signal.aborted) main.removeAttribute('aria-busy');
  }
}

function where(overview) {
  const heights = overview.heights;
  const now = state();
  fill($('where'), h('b', { title: overview.name }, h('bdi', {}, tail(overview.name))), h('span', { class: 'chip' }, overview.kind),
    heights && h('label', { class: 'height' }, 'height ', h('select', { id: 'height', 'aria-label': 'Height',
      onchange: (event) => go({ ...without(state(), 'after', 'before'), height: event.target.value }) },
    [...heights.all].reverse().slice(0, 500).map((one) => h('option', { value: one, selected: String(one) === String(now.height ?? heights.at) }, one)))),
    h('a', { class: 'chip', href: '?v=plan', title: `fingerprint ${overview.plan.fingerprint}` }, `plan ${overview.plan.name}${overview.plan.draft ? ', a draft' : ''}`));
}

function views(now) {
  const one = (v, name) => h('a', { href: address({ v, height: now.height }), 'aria-current': (now.v ?? (now.family ? 'rows' : '')) === v ? 'page' : null }, name);
  fill($('views'), one('', 'map'), one('unread', 'unread'), one('diff', 'compare'), one('plan', 'plan'), one('notes', 'notes'));
}

bindHover(document.body);
search.begin();
keys.begin();
onstate(show);
changed();
