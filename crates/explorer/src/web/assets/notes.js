// Notes and saved scans: a text file beside the plan.
import { h, fill, dialog, say, problem } from './dom.js';
import { act, address, ask, query, state, without } from './api.js';

/** Shows what is kept, and where. */
export async function show(main, now, signal) {
  const notes = await ask('notes', {}, signal);
  fill(main, h('div', { class: 'head' }, h('h1', {}, 'Notes and saved scans'), h('span', { class: 'faint' }, notes.file ?? 'no file: start with --notes FILE')),
    notes.why && h('p', { class: 'problem' }, notes.why),
    h('h2', {}, 'Saved scans'),
    notes.scan.length === 0 ? h('p', { class: 'empty' }, 'None yet. Open a scan and press o to save it.')
      : h('ul', { class: 'saved' }, notes.scan.map((scan) => h('li', {}, h('a', { href: `?${scan.at}` }, h('bdi', {}, scan.name)), h('code', { class: 'faint' }, ` ${scan.at}`)))),
    h('h2', {}, 'Notes'),
    h('ul', { class: 'saved' }, notes.note.map((note) => h('li', {}, h('a', { href: /^[0-9a-f]+$/.test(note.on) ? address({ v: 'rows', key: note.on }) : address({ family: note.on }) }, h('bdi', {}, note.on)),
      ': ', h('bdi', {}, note.text)))));
}

/** Saves the scan that is shown, or gives the text to put into the file. */
export function save() {
  const now = without(state(), 'after', 'before');
  const name = h('input', { id: 'note-name', 'aria-label': 'Name', value: now.family ?? '', size: '40' });
  const out = h('div', {});
  const keep = async (event) => {
    event.preventDefault();
    const button = event.submitter ?? event.target.querySelector('button');
    if (button.disabled) return;
    button.disabled = true;
    try {
      const kept = await act('write-note', { name: name.value, at: query(now) });
      if (kept.written) { document.getElementById('dialog').close(); say(`saved in ${kept.written}`); }
      else fill(out, h('p', {}, 'Nothing is written by this page. Put this into the file:'), h('pre', { tabindex: '0', 'aria-label': 'Text of the note' }, kept.text));
    } catch (error) { fill(out, problem(error)); } finally { button.disabled = false; }
  };
  dialog('Save this scan', h('form', { onsubmit: keep }, h('label', { for: 'note-name' }, 'Name '), name, h('button', { type: 'submit' }, 'Save')),
    h('p', {}, h('a', { href: '?v=notes', onclick: () => document.getElementById('dialog').close() }, 'All notes and saved scans')), out);
  name.select();
}
