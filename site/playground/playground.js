// The playground: a plan on the left, what is proved of it on the right.
import { bytesOf, findingView, keyView } from './views.js';
import { tokens } from './highlight.js';
import { pack, unpack } from './link.js';

const at = (id) => document.getElementById(id);
const text = at('text');
const FIRST = `//! Write a plan: it is proved while you type.
plan example;

/// What tokens are called.
type Denom = text("a-z", 3..=128);

space dex {
    /// Pools by their two tokens.
    key pool_by_tokens = 0x03 token_a: Denom token_b: Denom;

    /// Liquidity at every tick of a pool, most negative first.
    key tick = 0x01 pool: u64 tick: i64.tick9
        scan by pool in order;
}
`;

// One question of a kind is on its way at a time; of several that wait, only the last is asked.
const worker = new Worker('worker.js', { type: 'module' });
const waiting = new Map();
let number = 0;
worker.onmessage = ({ data }) => {
  waiting.get(data.id)?.(data);
  waiting.delete(data.id);
};
function ask(call, ...given) {
  number += 1;
  const id = number;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    worker.postMessage({ id, call, given });
  });
}
function lastOnly(work) {
  let busy = false;
  let again = false;
  return async function run() {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      do {
        again = false;
        await work();
      } while (again);
    } finally {
      busy = false;
    }
  };
}

let labels = [];
let firstPrint = null;

function paint() {
  const source = text.value;
  const marks = labels.filter((label) => label.end > label.start).sort((a, b) => a.start - b.start);
  const edges = new Set([0, source.length]);
  for (const token of tokens(source)) edges.add(token.start).add(token.end);
  for (const mark of marks) edges.add(mark.start).add(mark.end);
  const kinds = tokens(source);
  const page = document.createDocumentFragment();
  const cuts = [...edges].filter((edge) => edge <= source.length).sort((a, b) => a - b);
  let kind = 0;
  for (let index = 0; index + 1 < cuts.length; index += 1) {
    const [start, end] = [cuts[index], cuts[index + 1]];
    while (kinds[kind] !== undefined && kinds[kind].end <= start) kind += 1;
    const mark = marks.find((one) => one.start <= start && end <= one.end);
    const piece = document.createElement(mark === undefined ? 'span' : 'mark');
    piece.className = [kinds[kind]?.kind ?? '', mark?.severity ?? ''].join(' ').trim();
    piece.textContent = source.slice(start, end);
    page.append(piece);
  }
  // The last line is as high as the others even if it is empty.
  page.append('\n');
  at('paint').replaceChildren(page);
  at('gutter').textContent = source.split('\n').map((_, index) => index + 1).join('\n');
}

const check = lastOnly(async () => {
  const source = text.value;
  const { answer, error, time } = await ask('check', source, { name: 'plan.keyplan', repairs: true });
  if (source !== text.value) return check();
  show(source, answer, error, time);
});

function show(source, checked, error, time) {
  if (error !== undefined) {
    say('bad', error);
    return;
  }
  const { findings } = checked;
  // How long the last check took, for those who measure it.
  at('verdict').dataset.milliseconds = time.toFixed(2);
  const offsets = bytesOf(source);
  labels = findings.flatMap((finding) =>
    finding.labels.map(({ start, end }) => ({ start: offsets(start.offset), end: offsets(end.offset), severity: finding.severity })));
  paint();
  const errors = findings.filter((finding) => finding.severity === 'error').length;
  const what = `${count(checked.families, 'family', 'families')}, ${count(checked.scans, 'scan', 'scans')}: ${count(checked.proved, 'guarantee', 'guarantees')} proved, ${checked.refuted} refuted, ${checked.unknown} unknown`;
  say(errors > 0 ? 'bad' : findings.length > 0 ? 'warn' : 'good', checked.fingerprint === null ? `${count(findings.length, 'mistake', 'mistakes')} in the text` : `${what}, in ${time.toFixed(1)} ms`);
  at('fingerprint').textContent = checked.fingerprint ?? 'none: the text has mistakes';
  firstPrint ??= checked.fingerprint;
  at('moved').textContent = checked.fingerprint !== null && checked.fingerprint !== firstPrint ? 'moved: keys have other bytes than when you began' : '';
  at('findings').replaceChildren(...findings.map((finding) =>
    findingView(finding, {
      goTo: (label) => select(offsets(label.start.offset), offsets(label.end.offset)),
      // An edit is one of the text that was proved, and of no other.
      apply: (edit) => { if (text.value === source) apply(edit); },
    })));
  if (findings.length === 0) {
    const none = document.createElement('li');
    none.textContent = checked.fingerprint === null ? '' : 'None: every guarantee is proved.';
    at('findings').append(none);
  }
}

const count = (n, one, many) => `${n} ${n === 1 ? one : many}`;

const explainKey = lastOnly(async () => {
  const key = at('key').value.trim();
  if (key === '') return at('explained').replaceChildren();
  const { answer, error } = await ask('explain', text.value, key);
  at('explained').replaceChildren(keyView(answer, error));
});

function select(start, end) {
  text.focus();
  text.setSelectionRange(start, end);
  const line = text.value.slice(0, start).split('\n').length;
  const editor = document.querySelector('.editor');
  const height = at('gutter').clientHeight / text.value.split('\n').length;
  editor.scrollTop = Math.max(0, (line - 4) * height);
}

function apply({ start, end, text: replacement }) {
  const offsets = bytesOf(text.value);
  text.focus();
  text.setSelectionRange(offsets(start.offset), offsets(end.offset));
  // As if it were typed, so that undo takes it back.
  if (!document.execCommand('insertText', false, replacement)) {
    text.setRangeText(replacement);
    changed();
  }
}

function changed() {
  paint();
  check();
  explainKey();
}

async function format() {
  const source = text.value;
  const { answer, error } = await ask('format', source);
  // What was typed meanwhile is not lost.
  if (error !== undefined || answer === source || source !== text.value) return;
  const place = text.selectionStart;
  text.select();
  if (!document.execCommand('insertText', false, answer)) text.value = answer;
  text.setSelectionRange(place, place);
  changed();
}

async function share() {
  const address = new URL(location.href);
  address.hash = `plan=${await pack(text.value)}${at('key').value === '' ? '' : `&key=${encodeURIComponent(at('key').value)}`}`;
  history.replaceState(null, '', address);
  await navigator.clipboard?.writeText(address.href).catch(() => {});
  at('share').textContent = 'Copied';
  setTimeout(() => { at('share').textContent = 'Copy link'; }, 1500);
}

function step(way) {
  const all = [...document.querySelectorAll('.finding h3 button')];
  const now = all.indexOf(document.activeElement);
  all.at((now + way + all.length) % all.length)?.focus();
}

// Of several plans that were asked for, the last is the one that is shown.
let wanted = 0;
async function replaceBy(source) {
  wanted += 1;
  const mine = wanted;
  const found = await source.catch((error) => error);
  if (mine !== wanted) return;
  if (typeof found === 'string') replaceText(found);
  else say('bad', `the plan cannot be read: ${found.message}`);
}

function say(kind, words) {
  at('verdict').className = kind;
  at('verdict').textContent = words;
}

function replaceText(source) {
  text.value = source;
  say('', 'Proving…');
  firstPrint = null;
  labels = [];
  changed();
}

text.addEventListener('input', changed);
text.addEventListener('keydown', (event) => {
  // Tab indents; Escape and then Tab leaves, so that the keyboard is never caught.
  if (event.key === 'Escape') text.dataset.leave = 'yes';
  else if (event.key === 'Tab' && !event.shiftKey && text.dataset.leave !== 'yes') {
    event.preventDefault();
    document.execCommand('insertText', false, '    ');
  } else delete text.dataset.leave;
});
at('key').addEventListener('input', explainKey);
at('format').addEventListener('click', format);
at('share').addEventListener('click', share);
async function fetched(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.text();
}
at('gallery').addEventListener('change', async ({ target }) => {
  await replaceBy(target.value === '' ? Promise.resolve(FIRST) : fetched(`plans/${target.value}`));
});
addEventListener('keydown', (event) => {
  if (!event.ctrlKey && !event.metaKey) return;
  const action = { ArrowDown: () => step(1), ArrowUp: () => step(-1), k: () => at('key').focus(), F: format }[event.key];
  if (action === undefined) return;
  event.preventDefault();
  action();
});

async function start() {
  const given = new URLSearchParams(location.hash.slice(1));
  const plan = given.get('plan');
  text.value = plan === null ? FIRST : await unpack(plan).catch(() => FIRST);
  at('key').value = given.get('key') ?? '';
  changed();
  const gallery = JSON.parse(await fetched('plans/index.json').catch(() => '[]'));
  at('gallery').append(new Option('an example', ''), ...gallery.map(({ file, title }) => new Option(title, file)));
}

addEventListener('hashchange', async () => {
  const plan = new URLSearchParams(location.hash.slice(1)).get('plan');
  if (plan !== null) await replaceBy(unpack(plan).catch(() => FIRST));
});
start();
