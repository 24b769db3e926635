// Two databases, or two heights of one: what is not the same, by family and by field.
import { h, fill, number, progress, problem, say } from './dom.js';
import { act, address, go, job } from './api.js';
import { now as counted } from './tree.js';

/** Paths without the folders that all of them are in. */
export function apart(paths) {
  const all = paths.map((path) => path.split('/'));
  let same = 0;
  while (all.every((names) => names.length > same + 1 && names[same] === all[0][same])) same += 1;
  return all.map((names) => names.slice(same).join('/'));
}

/** Shows what differs. */
export async function show(main, now, signal) {
  const { overview } = counted();
  const heights = overview.heights?.all ?? [];
  // What tells two sides apart comes first, and paths are cut where they are the same.
  const names = apart([overview.name, ...overview.others.map((other) => other.name)]);
  const sides = names.map((name, at) => [String(at), name]);
  for (const height of [...heights].reverse().slice(0, 200)) sides.push([`0@${height}`, `height ${height} of ${names[0]}`]);
  overview.others.forEach((other, at) => {
    for (const height of [...(other.heights ?? [])].reverse().slice(0, 100)) sides.push([`${at + 1}@${height}`, `height ${height} of ${names[at + 1]}`]);
  });
  const pick = (name, value) => h('select', { name, 'aria-label': name === 'a' ? 'What was' : 'What is' },
    sides.map(([id, text]) => h('option', { value: id, selected: id === value }, text)));
  const standard = heights.length > 1 && overview.others.length === 0 ? [`0@${heights[heights.length - 2]}`, `0@${heights[heights.length - 1]}`] : ['0', overview.others.length > 0 ? '1' : ''];
  const form = h('form', { class: 'scan', onsubmit: (event) => {
    event.preventDefault();
    go({ v: 'diff', a: form.elements.a.value, b: form.elements.b.value });
  } }, h('label', {}, 'a ', pick('a', now.a ?? standard[0])), h('label', {}, 'b ', pick('b', now.b ?? standard[1])), h('button', { type: 'submit' }, 'Compare'));
  const out = h('div', {});
  const only = sides.length < 2;
  fill(main, h('div', { class: 'head' }, h('h1', {}, 'Compare')),
    only ? h('p', { class: 'empty' }, 'There is one state here. Start with another: ', h('code', {}, `keyplan explore ${overview.name} --with OTHER`)) : form, out);
  if (!now.b) return;
  fill(out, progress('reading'));
  const found = await job('diff', { a: now.a ?? '0', b: now.b }, (told) =>
    fill(out, progress(`read ${number(told.looked)} rows of both`, () => act('stop', { job: told.job }))), signal);
  const many = found.families.reduce((sum, family) => sum + family.added + family.removed + family.changed, 0);
  say(`${number(many)} rows differ`);
  fill(out, h('p', {}, h('b', {}, number(many)), ` of ${number(found.rows_a)} and ${number(found.rows_b)} rows differ, ${number(found.same)} are the same`),
    found.families.length === 0 && h('p', { class: 'empty' }, 'Both have the same rows.'),
    found.families.map((family) => familyOf(family)), sums(now, signal));
}

function familyOf(family) {
  const all = family.added + family.removed + family.changed;
  return h('details', { class: 'diff-family', open: all <= 50 }, h('summary', {}, h('b', {}, family.family),
    h('span', { class: 'added' }, ` +${number(family.added)}`), h('span', { class: 'removed' }, ` −${number(family.removed)}`),
    h('span', { class: 'changed' }, ` ≠${number(family.changed)}`)),
  h('div', { class: 'table', tabindex: '0', role: 'region', 'aria-label': `Changes of ${family.family}` }, h('table', {}, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'change'),
    (family.columns ?? []).filter((column) => column.of === 'key').map((column) => h('th', { scope: 'col' }, column.name)), !family.columns && h('th', { scope: 'col' }, 'key'), h('th', { scope: 'col' }, 'a → b'))),
  h('tbody', {}, (family.rows ?? []).map((row) => h('tr', { class: row.kind },
    h('td', {}, h('a', { href: address({ family: family.columns ? family.family : '', v: family.columns ? '' : 'rows', space: row.space, key: row.key }) }, { added: '+ added', removed: '− removed', changed: '≠ changed' }[row.kind])),
    row.cells ? row.cells.map((cell) => h('td', {}, h('bdi', {}, cell))) : h('td', {}, h('code', {}, row.key.slice(0, 64))),
    h('td', { class: 'wide' }, row.fields.length > 0
      ? row.fields.map((field) => h('div', {}, `${field.field}: `, h('del', {}, text(field.before)), ' → ', h('ins', {}, text(field.after))))
      : [row.before !== null && h('del', {}, h('bdi', {}, row.before)), row.kind === 'changed' && ' → ', row.after !== null && h('ins', {}, h('bdi', {}, row.after))])))))),
  all > (family.rows ?? []).length && h('p', { class: 'faint' }, `the first ${number((family.rows ?? []).length)} of ${number(all)}`));
}

const text = (value) => typeof value === 'string' ? value : JSON.stringify(value);

/** One number for each family, on either side. */
function sums(now, signal) {
  const out = h('div', {});
  const of = (side) => {
    const [which, height] = side.split('@');
    return { of: which, height };
  };
  return h('section', {}, h('h2', {}, 'Checksums'), h('button', { type: 'button', onclick: async () => {
    try {
      fill(out, progress('summing'));
      const [a, b] = [await job('checksum', of(now.a ?? '0'), () => {}, signal), await job('checksum', of(now.b), () => {}, signal)];
      const families = new Map();
      for (const [side, spaces] of [['a', a], ['b', b]]) {
        for (const space of spaces) for (const [name, sum] of Object.entries(space.families)) {
          const key = name || `${space.space}, unread`;
          families.set(key, { ...families.get(key), [side]: sum.checksum });
        }
      }
      fill(out, h('div', { class: 'table', tabindex: '0', role: 'region', 'aria-label': 'Checksums' }, h('table', {}, h('thead', {}, h('tr', {}, ['family', 'a', 'b', 'both'].map((name) => h('th', { scope: 'col' }, name)))),
        h('tbody', {}, [...families].map(([name, sum]) => h('tr', { class: sum.a === sum.b ? '' : 'changed' }, h('td', {}, name),
          h('td', {}, h('code', {}, (sum.a ?? '–').slice(0, 16))), h('td', {}, h('code', {}, (sum.b ?? '–').slice(0, 16))), h('td', {}, sum.a === sum.b ? 'same' : 'not the same')))))));
    } catch (error) { if (error.name !== 'AbortError') fill(out, problem(error)); }
  } }, 'Sum every family'), out);
}
