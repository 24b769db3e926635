// Findings and keys as nodes of the page. Every text is a text node: nothing of a plan is ever markup.

function node(name, { text, ...properties } = {}, children = []) {
  const made = Object.assign(document.createElement(name), properties);
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

/** From offsets in bytes to offsets in a text. */
export function bytesOf(text) {
  const places = [];
  const encoder = new TextEncoder();
  let place = 0;
  for (const letter of text) {
    const length = letter.charCodeAt(0) < 128 ? 1 : encoder.encode(letter).length;
    for (let byte = 0; byte < length; byte += 1) places.push(place);
    place += letter.length;
  }
  return (offset) => places[offset] ?? text.length;
}

/** The colour of an argument: that of its name, so that it is the same everywhere. */
export function lane(piece) {
  if (piece.kind !== 'argument') return 'lane-lit';
  let sum = 0;
  for (const letter of piece.name) sum = (sum * 31 + letter.charCodeAt(0)) % 600;
  return `lane-${sum % 6}`;
}

/** A row of bytes, each in the colour of what it is. */
function byteRow(title, hex, segments, broken) {
  const row = node('tr', {}, [node('th', { scope: 'row', text: title })]);
  const bytes = hex.match(/../g) ?? [];
  bytes.forEach((byte, index) => {
    const piece = segments?.find((one) => one.start <= index && index < one.end);
    const cell = node('td', { text: byte, className: piece === undefined ? '' : lane(piece), title: piece?.label ?? piece?.name ?? '' });
    if (piece !== undefined && piece.start === index) cell.classList.add('begin');
    if (index === broken) cell.classList.add('break');
    row.append(cell);
  });
  return row;
}

function table(caption, rows) {
  return node('div', { className: 'bytes', tabIndex: 0, role: 'group', ariaLabel: caption }, [node('table', {}, [node('tbody', {}, rows)])]);
}

const argument = (value) => (typeof value === 'string' ? JSON.stringify(value) : typeof value === 'object' ? JSON.stringify(value) : String(value));
const list = (args) => Object.entries(args ?? {}).map(([name, value]) => `${name} = ${argument(value)}`).join(', ');

/** What is called what in a witness. */
const TITLES = { first: 'one key', second: 'another', scan: 'the scan', row: 'a row', start: 'from', end: 'to', key: 'the key' };

function witnessView(witness) {
  const sides = Object.entries(TITLES).filter(([name]) => typeof witness[name]?.hex === 'string').map(([name, title]) => [title, witness[name]]);
  if (sides.length === 0) return [];
  const rows = sides.map(([title, side]) => byteRow(title, side.hex, side.segments));
  const meanings = sides.filter(([, side]) => side.family !== undefined).map(([title, side]) =>
    node('p', { className: 'args', text: `${title}: ${side.family} ${list(side.args)}` }));
  return [table('The keys that show it, one above the other', rows), ...meanings];
}

/** A finding with its keys and repairs. */
export function findingView(finding, { goTo, apply }) {
  const title = node('button', { type: 'button' }, [node('span', { className: 'code', text: finding.code }), finding.message]);
  if (finding.labels.length > 0) title.addEventListener('click', () => goTo(finding.labels[0]));
  const said = finding.labels.filter((label) => label.text !== '').map((label) => node('p', { text: `line ${label.start.line}: ${label.text}` }));
  const help = finding.notes.filter((note) => note.kind === 'help' || note.kind === 'note').map((note) => node('p', { className: 'args', text: note.text }));
  const repairs = finding.repairs.map((repair) => {
    const cost = repair.needs_migration ? 'keys change' : 'no key changes';
    const button = node('button', { type: 'button', text: `${repair.title} (proved; ${cost})` });
    button.addEventListener('click', () => apply(repair.edit));
    return button;
  });
  return node('li', { className: `finding ${finding.severity}` }, [
    node('h3', {}, [title]), ...said, ...(finding.witness ? witnessView(finding.witness) : []), ...help,
    ...(repairs.length > 0 ? [node('div', { className: 'repairs' }, repairs)] : []),
  ]);
}

/** What a key means, or why it means nothing. */
export function keyView(explained, error) {
  if (error !== undefined) return node('p', { className: 'wrong', text: error });
  if (explained.readings.length > 0) {
    return node('div', {}, explained.readings.flatMap((reading) => [
      node('p', {}, [node('strong', { text: reading.family }), reading.doc.length > 0 ? ` — ${reading.doc.join(' ')}` : '']),
      table(`The bytes of ${reading.family}`, [byteRow('bytes', explained.hex, reading.pieces)]),
      node('ul', { className: 'legend' }, reading.pieces.filter((piece) => piece.label !== '').map((piece) =>
        node('li', { className: lane(piece), text: `${piece.label} (bytes ${piece.start}–${piece.end - 1})` }))),
    ]));
  }
  return node('div', {}, [
    node('p', { className: 'wrong', text: 'No family makes this key.' }),
    ...explained.nearest.flatMap((one) => [
      node('p', {}, [node('strong', { text: one.family }), one.prefix === null ? ` gets furthest: ${one.why}` : ` begins so: ${one.prefix}`]),
      table(`How far ${one.family} gets`, [byteRow('bytes', explained.hex, one.sound.map(([start, end]) => ({ start, end, kind: 'literal', label: 'read' })), one.offset)]),
    ]),
  ]);
}
