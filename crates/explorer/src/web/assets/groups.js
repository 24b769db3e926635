// Keys that no family makes, by the byte where they break; keys with two readings.
import { h, fill, number, bytes, progress, problem } from './dom.js';
import { act, address, ask, job, pause } from './api.js';

/** Shows the groups. */
export async function show(main, now, signal) {
  const isUnread = now.v === 'unread';
  // It stays while the groups above it are drawn again.
  const draft = isUnread && drafts(now, signal);
  for (;;) {
    const page = await ask(now.v, { height: now.height }, signal);
    if (signal.aborted) return;
    fill(main, h('div', { class: 'head' },
      h('h1', {}, isUnread ? 'Unread keys' : 'Keys with two readings'),
      h('span', { class: 'faint' }, isUnread ? 'which no family of the plan makes, by the byte where they break' : 'bytes that mean two things')),
    page.state === 'walking' && progress(`≥ ${number(page.rows)}, walking`),
    page.groups.length === 0 && page.state !== 'walking' && h('p', { class: 'empty' }, isUnread
      ? 'Every key is read by a family of the plan.' : 'Every key has one reading.'),
    h('ol', { class: 'groups' }, page.groups.map((group) => groupOf(now, group, isUnread))),
    page.beyond > 0 && h('p', { class: 'faint' }, `${number(page.beyond)} more rows are in no group`),
    page.groups.length > 0 && draft);
    if (page.state !== 'walking') return;
    await pause(700);
    if (signal.aborted) return;
  }
}

function groupOf(now, group, isUnread) {
  const to = address({ v: 'rows', space: group.space, only: isUnread ? 'unread' : 'several', group: group.group, height: now.height });
  return h('li', { class: 'group' },
    h('div', { class: 'group-head' }, h('a', { href: to }, h('b', {}, number(group.rows)), ` ${group.rows === 1 ? 'key' : 'keys'} of ${group.space}`),
      h('span', { class: 'faint' }, `${bytes(group.bytes)}, ${group.shortest === group.longest ? group.shortest : `${group.shortest}–${group.longest}`} bytes long`)),
    isUnread ? h('p', {}, h('span', { class: 'at' }, group.offset === null ? '' : `byte ${group.offset}`), ' ', h('bdi', {}, group.message))
      : h('p', {}, h('bdi', {}, group.message)),
    h('div', { class: 'examples' }, group.examples.map((key) => h('a', {
      href: address({ v: 'rows', space: group.space, only: isUnread ? 'unread' : 'several', group: group.group, height: now.height, key }),
    }, h('code', { class: 'broken' }, isUnread ? broken(key, group.offset) : key)))));
}

function broken(key, offset) {
  if (offset === null || offset * 2 >= key.length) return key.length > 64 ? `${key.slice(0, 64)}…` : key;
  const from = Math.max(0, offset * 2 - 40);
  return [from > 0 ? '…' : '', key.slice(from, offset * 2), h('mark', {}, key.slice(offset * 2, offset * 2 + 2)), key.slice(offset * 2 + 2, offset * 2 + 30),
    key.length > offset * 2 + 30 ? '…' : ''];
}

/** What `infer` makes of them. */
function drafts(now, signal) {
  const box = h('section', { class: 'draft' }, h('h2', {}, 'A draft for these keys'),
    h('button', { type: 'button', onclick: async () => {
      try {
        const found = await job('infer', { height: now.height }, (told) => fill(out, progress(`read ${number(told.looked)} rows`,
          () => act('stop', { job: told.job }))), signal);
        const draft = found.draft;
        fill(out, draft ? [h('p', {}, draft.spaces.map((space) => `${space.source_space}: ${number(space.explained_keys)} of ${number(space.keys)} keys. `)),
          h('pre', { tabindex: '0', 'aria-label': 'Draft' }, draft.text),
          h('p', {}, h('a', { class: 'button', href: address({ v: 'plan', draft: '1' }) }, 'Try it in the plan'))] : 'There is nothing to draft from.');
      } catch (error) { if (error.name !== 'AbortError') fill(out, problem(error)); }
    } }, 'Draft families'));
  const out = h('div', {});
  box.append(out);
  return box;
}
