// Bytes by family and by argument as a map of rectangles; the values of an argument.
import { h, fill, number, bytes, percent, colour, progress, problem } from './dom.js';
import { act, address, ask, job } from './api.js';
import { now as counted, oncounts, rowsText } from './tree.js';

/** Rectangles whose areas are the sizes, as square as can be. */
export function squares(items, width, height) {
  const total = items.reduce((sum, item) => sum + item.size, 0);
  const out = [];
  let left = items.filter((item) => item.size > 0).sort((a, b) => b.size - a.size);
  let box = { x: 0, y: 0, w: width, h: height };
  let area = total > 0 ? width * height / total : 0;
  while (left.length > 0) {
    const side = Math.min(box.w, box.h);
    if (side <= 0) break;
    let row = [];
    let sum = 0;
    let worst = Infinity;
    for (const item of left) {
      const next = sum + item.size * area;
      const longest = Math.max(...row.map((one) => one.size), item.size) * area;
      const least = item.size * area;
      const ratio = Math.max(side * side * longest / (next * next), next * next / (side * side * least));
      if (ratio > worst) break;
      row.push(item);
      sum = next;
      worst = ratio;
    }
    const thick = sum / side;
    let at = 0;
    for (const item of row) {
      const long = item.size * area / thick;
      out.push(box.w >= box.h ? { item, x: box.x, y: box.y + at, w: thick, h: long } : { item, x: box.x + at, y: box.y, w: long, h: thick });
      at += long;
    }
    box = box.w >= box.h ? { x: box.x + thick, y: box.y, w: box.w - thick, h: box.h } : { x: box.x, y: box.y + thick, w: box.w, h: box.h - thick };
    left = left.slice(row.length);
  }
  return out;
}

/** A map of rectangles; each is a link with a name and a size. */
export function map(items, label) {
  const box = h('div', { class: 'map', role: 'group', 'aria-label': label });
  const draw = () => {
    const { width, height } = box.getBoundingClientRect();
    if (width === 0) return;
    fill(box, squares(items, width, height).map(({ item, x, y, w, h: tall }) => h('a', {
      href: item.href, class: `tile ${colour(item.name)}`, title: `${item.name}: ${item.text}`,
      // What is too small for a text has its name said.
      'aria-label': w > 56 && tall > 22 ? null : `${item.name}: ${item.text}`,
      style: { left: `${x}px`, top: `${y}px`, width: `${Math.max(w - 2, 1)}px`, height: `${Math.max(tall - 2, 1)}px` },
    }, w > 56 && tall > 22 && h('span', { class: 'tile-name' }, h('bdi', {}, item.name)), w > 56 && tall > 42 && h('span', { class: 'tile-text' }, item.text))));
  };
  new ResizeObserver(draw).observe(box);
  return box;
}

/** The first page: what is in the database, and what takes the space. */
export async function start(main, now, signal) {
  // It stays while the counts around it are drawn again.
  const older = counted().overview?.heights && dead(signal);
  const draw = () => {
    const { overview, walk } = counted();
    if (signal.aborted || !walk) return;
    const families = walk.families.filter((one) => one.rows > 0);
    const total = walk.total.bytes;
    const exact = walk.state === 'done' ? '' : '≥ ';
    const items = families.map((one) => ({ name: one.path, size: one.bytes, text: `${bytes(one.bytes)}, ${percent(one.bytes, total)}`,
      href: address({ family: one.path, height: now.height }) }));
    if (walk.unread.counts.bytes > 0) items.push({ name: 'unread', size: walk.unread.counts.bytes, text: bytes(walk.unread.counts.bytes), href: address({ v: 'unread', height: now.height }) });
    const proof = overview.proof;
    const stat = (name, value, href, bad) => h(href ? 'a' : 'div', { class: `stat ${bad ? 'bad' : ''}`, href }, h('b', {}, value), h('span', {}, name));
    fill(main,
      h('div', { class: 'head' }, h('h1', {}, overview.name), h('span', { class: 'faint' }, overview.plan.doc ?? '')),
      h('div', { class: 'stats' },
        stat('rows', `${exact}${number(walk.total.rows)}`),
        stat('keys and values', `${exact}${bytes(total)}`),
        stat('families with rows', `${families.length} of ${overview.spaces.reduce((sum, space) => sum + space.families.length + space.more, 0)}`),
        stat('unread keys', `${exact}${number(walk.unread.counts.rows)}`, address({ v: 'unread', height: now.height }), walk.unread.counts.rows > 0),
        stat('two readings', `${exact}${number(walk.several.counts.rows)}`, address({ v: 'several', height: now.height }), walk.several.counts.rows > 0),
        stat('proved', number(proof.holds + proof.assumed), address({ v: 'plan' })),
        stat('refuted', `${number(proof.refuted)}${proof.accepted ? ` + ${number(proof.accepted)} accepted` : ''}`, address({ v: 'plan' }), proof.refuted > 0)),
      overview.plan.draft && h('p', { class: 'warn' }, '⚠ There was no plan: this one was drafted from the keys. Read it before you rely on it.'),
      h('h2', {}, 'Bytes by family'),
      map(items, 'Bytes by family'),
      h('div', { class: 'table', tabindex: '0', role: 'region', 'aria-label': 'Families by bytes' }, h('table', {}, h('thead', {}, h('tr', {},
        ['family', 'rows', 'keys', 'values', 'bytes', 'share'].map((name, at) => h('th', { scope: 'col', class: at > 0 ? 'n' : '' }, name)))),
      h('tbody', {}, [...families].sort((a, b) => b.bytes - a.bytes).map((one) => h('tr', {},
        h('td', {}, h('a', { href: address({ family: one.path, height: now.height }) }, one.path)),
        h('td', { class: 'n' }, rowsText(one)), h('td', { class: 'n' }, bytes(one.key_bytes)), h('td', { class: 'n' }, bytes(one.value_bytes)),
        h('td', { class: 'n' }, bytes(one.bytes)), h('td', { class: 'n' }, percent(one.bytes, total))))))),
      older);
  };
  draw();
  update = draw;
}

let update = () => {};
oncounts(() => { if (document.body.dataset.view === 'start') update(); });

/** Bytes of older versions that the last height does not need. */
function dead(signal) {
  const out = h('div', {});
  return h('section', {}, h('h2', {}, 'Bytes that this height does not need'),
    h('button', { type: 'button', onclick: async () => {
      try {
        const found = await job('dead', {}, () => fill(out, progress('counting')), signal);
        fill(out, h('table', {}, h('thead', {}, h('tr', {}, ['store', 'bytes', 'dead', 'share', 'versions'].map((name, at) => h('th', { scope: 'col', class: at > 0 ? 'n' : '' }, name)))),
          h('tbody', {}, found.stores.map((store) => h('tr', {}, h('td', {}, store.store), h('td', { class: 'n' }, bytes(store.bytes)),
            h('td', { class: 'n' }, bytes(store.dead)), h('td', { class: 'n' }, percent(store.dead, store.bytes)),
            h('td', { class: 'n' }, `${store.first ?? ''}–${store.last ?? ''}`))))));
      } catch (error) { if (error.name !== 'AbortError') fill(out, problem(error)); }
    } }, 'Count them'), out);
}

/** The values of an argument: top, least, greatest, distinct, and the bytes of each. */
export async function show(main, now, signal) {
  const family = await ask('family', { family: now.family }, signal);
  const keys = family.columns.filter((column) => column.of === 'key');
  const chosen = now.argument ?? keys[0]?.name;
  const out = h('div', {});
  fill(main, h('div', { class: 'head' }, h('h1', {}, 'Values of an argument'), h('a', { href: address({ family: now.family, height: now.height }) }, now.family)),
    h('div', { class: 'tabs', role: 'group', 'aria-label': 'Argument' }, keys.map((column) => h('a', {
      class: `button ${column.name === chosen ? '' : 'quiet'} ${colour(column.name)}`, 'aria-current': column.name === chosen ? 'true' : null,
      href: address({ ...now, argument: column.name }),
    }, column.name, h('small', {}, ` ${column.type}`)))), out);
  if (keys.length === 0) { fill(out, h('p', { class: 'empty' }, 'Its key has no arguments.')); return; }
  fill(out, progress('reading'));
  const found = await job('facets', { family: now.family, argument: chosen, height: now.height }, (told) =>
    fill(out, progress(`read ${number(told.looked)} rows`, () => act('stop', { job: told.job }))), signal);
  const scan = family.scans.find((one) => one.called && one.bound.length === 1 && one.bound[0] === chosen);
  const to = (value) => scan ? address({ family: now.family, height: now.height, scan: scan.id, [`a.${chosen}`]: value }) : null;
  const total = found.heaviest.reduce((sum, one) => sum + one.bytes, 0);
  fill(out, h('div', { class: 'stats' },
    [['rows', number(found.rows)], ['distinct', `${found.exact ? '' : '≥ '}${number(found.distinct)}`], ['least', found.least ?? '–'], ['greatest', found.greatest ?? '–']]
      .map(([name, value]) => h('div', { class: 'stat' }, h('b', {}, h('bdi', {}, value)), h('span', {}, name)))),
  !found.exact && h('p', { class: 'warn' }, `⚠ The first ${number(found.distinct)} values were counted one by one; ${number(found.others)} rows have others.`),
  h('h2', {}, `Bytes by ${chosen}`),
  map(found.heaviest.map((one) => ({ name: one.value, size: one.bytes, text: bytes(one.bytes), href: to(one.typed) ?? '#main' })), `Bytes by ${chosen}`),
  found.distinct > found.heaviest.length && h('p', { class: 'faint' }, `the ${found.heaviest.length} heaviest, ${bytes(total)}`),
  h('div', { class: 'table', tabindex: '0', role: 'region', 'aria-label': 'Top values' }, h('table', {}, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, chosen), h('th', { scope: 'col', class: 'n' }, 'rows'), h('th', { scope: 'col', class: 'n' }, 'share'), h('th', { scope: 'col', class: 'n' }, 'bytes'))),
    h('tbody', {}, found.top.map((one) => h('tr', {}, h('td', {}, to(one.typed) ? h('a', { href: to(one.typed) }, h('bdi', {}, one.value)) : h('bdi', {}, one.value)),
      h('td', { class: 'n' }, number(one.rows)), h('td', { class: 'n' }, percent(one.rows, found.rows)), h('td', { class: 'n' }, bytes(one.bytes))))))));
}
