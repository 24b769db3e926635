// The plan beside its database: what is proved, findings with both keys, the map of numbers, and what if it were changed.
import { h, fill, number, mark, progress, problem, SIGNS, say } from './dom.js';
import { act, address, ask, job, pause } from './api.js';
import { overlay } from './lanes.js';

let timer = 0;
let tries = 0;

/** Shows the plan. */
export async function show(main, now, signal) {
  const page = await ask('plan', {}, signal);
  const result = h('div', { class: 'trial', 'aria-live': 'polite' });
  const file = page.files[0];
  const area = h('textarea', { id: 'plan-text', class: 'plan-text', spellcheck: 'false', 'aria-label': 'The plan', value: file.text, rows: '24' });
  const gutter = h('div', { class: 'gutter', 'aria-hidden': 'true' });
  const lines = (findings = page.findings) => numbers(gutter, area, findings, file.name);
  const look = () => {
    clearTimeout(timer);
    // What is shown is of another text: it cannot be saved or counted any more.
    tries += 1;
    for (const button of result.querySelectorAll('button')) button.disabled = true;
    timer = setTimeout(() => attempt(page, area, result, lines, signal), 350);
  };
  area.addEventListener('input', () => { lines([]); look(); });
  area.addEventListener('scroll', () => { gutter.scrollTop = area.scrollTop; });
  area.addEventListener('keydown', (event) => {
    // Tab leaves the field, as everywhere on the page; Escape does, too.
    if (event.key === 'Escape') area.blur();
  });
  fill(main, h('div', { class: 'head' }, h('h1', {}, `plan ${page.name}`), h('span', { class: 'faint' }, `fingerprint ${page.fingerprint.slice(0, 16)}`)),
    h('div', { class: 'stats' }, Object.entries({ proved: page.proof.holds, assumed: page.proof.assumed, refuted: page.proof.refuted, accepted: page.proof.accepted, unknown: page.proof.unknown })
      .map(([name, count]) => h('div', { class: `stat ${name === 'refuted' && count > 0 ? 'bad' : ''}` }, h('b', {}, number(count)), h('span', {}, mark(name))))),
    h('section', {}, h('h2', {}, 'What if?'), h('p', { class: 'faint' }, 'Change it: it is proved and read anew as you type. ',
      page.writes ? 'Saving writes the file.' : 'Nothing is written.'),
    h('div', { class: 'editor' }, gutter, area), result),
    findingsOf(page.findings),
    tableOf(page.table),
    h('section', {}, h('h2', {}, 'Allotments'), page.allotments.map((space) => space.maps.map((map) => allotment(map)))));
  lines();
  if (now.draft) await draft(area, look, signal);
}

/** Puts the draft of the unread keys after the plan's own families. */
async function draft(area, look, signal) {
  try {
    const found = await job('infer', {}, () => {}, signal);
    const text = found.draft?.text ?? '';
    const families = text.split('\n').filter((line) => !/^(plan |\/\/!)/.test(line)).join('\n');
    area.value = `${area.value}\n// Drafted from the keys that no family makes. Move these families into their space.\n${families.split('\n').map((line) => `// ${line}`).join('\n')}\n`;
    look();
  } catch (error) { if (error.name !== 'AbortError') say(error.message); }
}

function numbers(gutter, area, findings, name) {
  const marks = new Map();
  for (const finding of findings) for (const label of finding.labels) if (label.file === name) marks.set(label.start.line, finding.severity);
  const count = area.value.split('\n').length;
  fill(gutter, Array.from({ length: count }, (_, at) => h('span', { class: marks.get(at + 1) ?? '' }, `${at + 1}\n`)));
}

async function attempt(page, area, result, lines, signal) {
  const mine = ++tries;
  const text = area.value;
  if (text === page.files[0].text) { fill(result); lines(page.findings); return; }
  try {
    const tried = await act('try', {}, text);
    if (signal.aborted || mine !== tries) return;
    lines(tried.findings);
    if (!tried.meaning) { fill(result, h('p', { class: 'problem' }, 'It does not compile yet.'), findingsOf(tried.findings)); return; }
    const was = tried.proof_now;
    const compare = (name, now, before) => h('div', { class: `stat ${name === 'refuted' && now > before ? 'bad' : ''}` }, h('b', {}, number(now), now === before ? '' : h('small', {}, ` was ${number(before)}`)), h('span', {}, name));
    const reads = tried.reads;
    fill(result, h('p', {}, tried.same_layout ? 'The bytes of all keys stay as they are.' : h('span', { class: 'warn' }, '⚠ Another layout: keys that are already written would be read in another way, or not at all.')),
      h('div', { class: 'stats' }, compare('proved', tried.proof.holds, was.holds), compare('refuted', tried.proof.refuted, was.refuted), compare('unknown', tried.proof.unknown, was.unknown)),
      reads.why ? h('p', { class: 'problem' }, reads.why) : [
        h('ul', { class: 'reads' }, reads.spaces.map((space) => h('li', {}, `${space.space}: reads `, h('b', {}, number(space.read)), ` of ${space.whole ? 'all' : 'the first'} ${number(space.rows)} rows`))),
        reads.unread.length > 0 && h('ul', { class: 'reads' }, reads.unread.map((group) => h('li', { class: group.read > 0 ? 'good' : '' },
          `${number(group.rows)} unread keys of ${group.space} (${group.message}): `, group.read > 0 ? h('b', {}, `${group.read} of ${group.examples} examples are read now, as ${group.first.text}`) : 'still unread')))],
      h('div', {}, h('button', { type: 'button', onclick: () => countAll(tried.trial, result, signal) }, 'Count all rows under it'),
        page.writes && h('button', { type: 'button', onclick: async () => {
          try { const kept = await act('write-plan', {}, text); say(`written: ${kept.written}`); location.reload(); } catch (error) { result.append(problem(error)); }
        } }, 'Save')),
      findingsOf(tried.findings));
  } catch (error) { if (mine === tries) fill(result, problem(error)); }
}

async function countAll(trial, result, signal) {
  const out = h('div', {});
  result.append(out);
  for (;;) {
    let walk;
    try { walk = await ask('walk', { trial }, signal); } catch (error) {
      if (error.name !== 'AbortError') fill(out, problem(error));
      return;
    }
    const line = `${number(walk.total.rows)} rows, ${number(walk.unread.counts.rows)} unread, ${number(walk.several.counts.rows)} with two readings`;
    fill(out, walk.state === 'walking' ? progress(`≥ ${line}`) : h('p', { class: 'counted' }, h('b', {}, line)));
    if (walk.state !== 'walking') return;
    await pause(300);
    if (!out.isConnected) return;
  }
}

function findingsOf(findings) {
  return h('section', { class: 'findings' }, h('h2', {}, `Findings (${findings.length})`), findings.length === 0 && h('p', { class: 'empty' }, 'Nothing was found.'),
    findings.slice(0, 100).map((finding) => h('details', { class: `finding ${finding.severity}` },
      h('summary', {}, h('code', {}, finding.code), ' ', h('bdi', {}, finding.message), finding.labels[0] && h('span', { class: 'faint' }, ` ${finding.labels[0].file}:${finding.labels[0].start.line}`)),
      finding.witness && overlay(finding.witness),
      finding.notes.map((note) => h('p', {}, h('span', { class: 'faint' }, `${note.kind}: `), h('bdi', {}, note.text))),
      finding.repairs.map((repair) => h('p', { class: 'repair' }, '✓ ', h('bdi', {}, repair.title), h('span', { class: 'faint' }, repair.needs_migration ? ' (needs a migration)' : ''))))));
}

function tableOf(table) {
  const used = table.guarantees.filter((one) => table.families.some((family) => family.marks[one.code]));
  return h('section', {}, h('h2', {}, 'What is proved'), h('div', { class: 'table', tabindex: '0', role: 'region', 'aria-label': 'What is proved' }, h('table', { class: 'proof' },
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'family'), used.map((one) => h('th', { scope: 'col', title: one.code }, one.words)))),
    h('tbody', {}, table.families.map((family) => h('tr', {}, h('th', { scope: 'row' }, h('a', { href: address({ family: family.family }) }, family.family)),
      used.map((one) => h('td', {}, family.marks[one.code] ? mark(family.marks[one.code], false) : ''))))))),
  h('p', { class: 'faint' }, Object.entries(SIGNS).map(([name, [sign, words]]) => `${sign} ${words}   `)),
  table.claims.filter((claim) => claim.witness).slice(0, 60).map((claim) => h('details', { class: `claim ${claim.verdict}` },
    h('summary', {}, mark(claim.verdict), ` ${claim.family}: ${claim.guarantee}`, claim.other ? ` (${claim.other})` : ''), overlay(claim.witness))));
}

/** The 256 numbers after a prefix, and what each is used for. */
function allotment(map) {
  if (map.numbers.length === 0) return '';
  const used = new Map(map.numbers.map((one) => [one.number, one]));
  return h('figure', { class: 'allotment' }, h('figcaption', {}, h('b', {}, map.path), map.prefix ? ` after ${map.prefix}` : '', `, ${map.free} of 256 numbers are free`),
    h('div', { class: 'numbers', role: 'img', 'aria-label': map.numbers.map((one) => `${one.number.toString(16).padStart(2, '0')} ${one.what}`).join(', ') },
      Array.from({ length: 256 }, (_, n) => {
        const one = used.get(n);
        return h('span', { class: `number ${one?.use.replace(' ', '-') ?? 'free'}`, title: one ? `${n.toString(16).padStart(2, '0')}: ${one.use}, ${one.what}` : `${n.toString(16).padStart(2, '0')}: free` }, n.toString(16).padStart(2, '0'));
      })));
}
