// A key or the rows of a page in another notation.
import { h, dialog, say, problem } from './dom.js';
import { ask, rowsOf, state } from './api.js';

const OF_KEY = [['hex', 'hex'], ['base64', 'base64'], ['command', 'command'], ['rust', 'Rust'], ['go', 'Go']];
const OF_ROWS = [['csv', 'CSV'], ['json', 'JSON'], ['markdown', 'Markdown'], ['command', 'command']];

function menu(label, list, params) {
  const pick = h('select', { 'aria-label': label, class: 'copy', onchange: async () => {
    const form = pick.value;
    pick.value = '';
    if (form) await copy({ ...params(), as: form });
  } }, h('option', { value: '' }, label), list.map(([form, name]) => h('option', { value: form }, name)),
  h('option', { value: 'link' }, 'link to this page'));
  return pick;
}

async function copy(params) {
  let text;
  if (params.as === 'link') text = location.href;
  else {
    try { text = (await ask('copy', params)).text; } catch (error) { dialog('Copy', problem(error)); return; }
  }
  try {
    await navigator.clipboard.writeText(text);
    say(`copied: ${text.slice(0, 80)}`);
    document.body.dataset.copied = text;
  } catch {
    // Where the browser gives no clipboard, the text is there to be taken.
    const area = h('textarea', { rows: '10', readonly: true, 'aria-label': 'Text to copy', value: text });
    document.body.dataset.copied = text;
    dialog('Copy', area);
    area.select();
  }
}

export const copyKey = (key, space) => menu('copy as', OF_KEY, () => ({ key, space }));
export const copyMenu = (now) => menu('copy rows as', OF_ROWS, () => rowsOf(now));

/** Opens what the keyboard asks for: the key if one is shown, else the rows. */
export function ask_copy() {
  const now = state();
  const list = now.key ? OF_KEY : OF_ROWS;
  dialog('Copy as', h('div', { class: 'choices' }, [...list, ['link', 'link to this page']].map(([form, name]) => h('button', { type: 'button',
    onclick: () => { document.getElementById('dialog').close(); copy(now.key ? { key: now.key, space: now.space, as: form } : { ...rowsOf(now), as: form }); } }, name))));
}
