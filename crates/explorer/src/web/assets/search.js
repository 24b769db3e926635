// Whatever is typed or pasted: a family, a key in any notation, a family with arguments, a note.
import { h, fill, $, say } from './dom.js';
import { address, ask, go, state } from './api.js';

let found = [];
let chosen = 0;
/** The text that `found` answers. */
let answered = null;
let running = new AbortController();

export function begin() {
  const input = $('q');
  input.addEventListener('input', () => look(input.value));
  input.addEventListener('focus', () => { if (input.value) look(input.value); });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      choose(chosen + (event.key === 'ArrowDown' ? 1 : -1));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      open();
    } else if (event.key === 'Escape') {
      hide();
      input.blur();
    }
  });
  document.addEventListener('click', (event) => { if (!event.target.closest('#find')) hide(); });
}

/** Looks for a text; false if something else was wanted before the answer came. */
async function look(text) {
  cancel();
  if (text.trim() === '') { hide(); return false; }
  const { signal } = running;
  const now = state();
  let answer;
  try { answer = await ask('search', { q: text, height: now.height }, signal); } catch (error) { answer = { families: [], keys: [], notes: [], why: error.message }; }
  if (signal.aborted) return false;
  found = [
    ...answer.keys.map((key) => ({ to: { v: 'rows', ...home(key), key: key.key, space: key.space, height: now.height }, kind: `key in ${key.notation}`,
      text: key.families?.[0] ?? key.text ?? `${key.key.slice(0, 40)}`, note: key.found === false ? 'not in the database' : key.found ? 'found' : '' })),
    ...answer.families.map((family) => ({ to: { family: family.family, height: now.height }, kind: 'family', text: family.family, note: family.doc ?? '' })),
    ...answer.notes.map((note) => ({ to: note.at ? Object.fromEntries(new URLSearchParams(note.at)) : { v: 'notes' }, kind: 'note', text: note.name ?? note.text, note: note.on ?? '' })),
  ];
  draw(answer.why);
  answered = text;
  return true;
}

const home = (key) => {
  const family = key.families?.[0]?.split(' ')[0];
  return family ? { family, v: '' } : {};
};

function draw(why) {
  const list = $('found');
  list.hidden = false;
  $('q').setAttribute('aria-expanded', 'true');
  fill(list, found.map((one, at) => h('a', { class: 'hit', role: 'option', id: `hit-${at}`, href: address(one.to), onclick: hide, tabindex: '-1' },
    h('span', { class: 'hit-kind' }, one.kind), h('bdi', {}, one.text), h('span', { class: 'faint' }, ` ${one.note}`))),
  found.length === 0 && h('div', { class: 'hit', role: 'option', 'aria-disabled': 'true' }, why ? `nothing found: ${why}` : 'nothing found'));
  choose(0);
  say(`${found.length} found`);
}

function choose(at) {
  chosen = Math.max(0, Math.min(found.length - 1, at));
  $('found').querySelectorAll('[role=option]').forEach((one, index) => one.setAttribute('aria-selected', String(index === chosen)));
  if (found.length > 0) $('q').setAttribute('aria-activedescendant', `hit-${chosen}`);
}

async function open() {
  const input = $('q');
  // What was pasted this moment may not have been looked for yet; what is shown keeps the hit that was chosen.
  if (input.value !== answered && !await look(input.value)) return;
  const one = found[chosen];
  if (!one) return;
  hide();
  input.blur();
  go(one.to);
}

/** No answer that is still on its way counts any more. */
function cancel() {
  running.abort();
  running = new AbortController();
  answered = null;
}

function hide() {
  cancel();
  $('found').hidden = true;
  $('q').setAttribute('aria-expanded', 'false');
  $('q').removeAttribute('aria-activedescendant');
}
