/** Where bytes are written: grows as needed. */
class Writer {
  bytes: Bytes = new Uint8Array(256);
  view: DataView = new DataView(this.bytes.buffer);
  at = 0;
  family = '';

  /** Makes room for more bytes and returns where they begin. */
  room(size: number): number {
    const at = this.at;
    this.at = at + size;
    if (this.at > this.bytes.length) this.grow();
    return at;
  }

  grow(): void {
    const bytes = new Uint8Array(2 * this.at);
    bytes.set(this.bytes);
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }

  refuse(label: string, reason: string): never {
    throw new KeyError('refused', this.family, label, -1, reason);
  }
}

const spare: { writer: Writer | null } = { writer: null };

/** Takes the writer that is kept for reuse; one that is in use, or was left by an error, is replaced. */
function opened(family: string): Writer {
  const w = spare.writer ?? new Writer();
  spare.writer = null;
  w.at = 0;
  w.family = family;
  return w;
}

function closed(w: Writer): Bytes {
  const out = w.bytes.slice(0, w.at);
  if (w.bytes.length <= 65536) spare.writer = w;
  return out;
}

const OUT_OF_RANGE = 'the number is out of its range';

function checkNumber(w: Writer, v: number, least: number, most: number, label: string): void {
  if (!Number.isInteger(v) || v < least || v > most) w.refuse(label, OUT_OF_RANGE);
}

function checkBig(w: Writer, v: bigint, least: bigint, most: bigint, label: string): void {
  if (typeof v !== 'bigint' || v < least || v > most) w.refuse(label, OUT_OF_RANGE);
}

function checkU64(w: Writer, v: bigint, label: string): void {
  if (typeof v !== 'bigint' || BigInt.asUintN(64, v) !== v) w.refuse(label, OUT_OF_RANGE);
}

function checkI64(w: Writer, v: bigint, label: string): void {
  if (typeof v !== 'bigint' || BigInt.asIntN(64, v) !== v) w.refuse(label, OUT_OF_RANGE);
}

function checkLength(w: Writer, size: number, lens: Lengths, label: string): void {
  if (!admits(lens, size)) w.refuse(label, `a length of ${size} is not allowed`);
}

function checkCount(w: Writer, size: number, lens: Lengths, label: string): void {
  if (!admits(lens, size)) w.refuse(label, `${size} elements are not allowed`);
}

function checkBytes(w: Writer, v: Uint8Array, label: string): void {
  if (!isBytes(v)) w.refuse(label, 'not a Uint8Array');
}

function checkList<T>(w: Writer, v: readonly T[], label: string): readonly T[] {
  if (!Array.isArray(v)) w.refuse(label, 'not an array');
  return v;
}

function noAlternative(w: Writer, label: string): never {
  return w.refuse(label, 'no alternative begins like this');
}

function putByte(w: Writer, byte: number): void {
  const at = w.room(1);
  w.bytes[at] = byte;
}

function putBytes(w: Writer, bytes: Uint8Array): void {
  const at = w.room(bytes.length);
  w.bytes.set(bytes, at);
}

/** Puts a text of one byte for each character. */
function putAscii(w: Writer, text: string): void {
  const at = w.room(text.length);
  for (let i = 0; i < text.length; i++) w.bytes[at + i] = text.charCodeAt(i);
}

function putBE16(w: Writer, v: number): void {
  const at = w.room(2);
  w.view.setUint16(at, v);
}

function putBE32(w: Writer, v: number): void {
  const at = w.room(4);
  w.view.setUint32(at, v);
}

function putBE64(w: Writer, v: bigint): void {
  const at = w.room(8);
  w.view.setBigUint64(at, v);
}

function putBE128(w: Writer, v: bigint): void {
  const at = w.room(16);
  w.view.setBigUint64(at, v >> 64n);
  w.view.setBigUint64(at + 8, v);
}

function putLE16(w: Writer, v: number): void {
  const at = w.room(2);
  w.view.setUint16(at, v, true);
}

function putLE32(w: Writer, v: number): void {
  const at = w.room(4);
  w.view.setUint32(at, v, true);
}

function putLE64(w: Writer, v: bigint): void {
  const at = w.room(8);
  w.view.setBigUint64(at, v, true);
}

function putLE128(w: Writer, v: bigint): void {
  const at = w.room(16);
  w.view.setBigUint64(at, v, true);
  w.view.setBigUint64(at + 8, v >> 64n, true);
}

/** Turns the sign of the number that was put last, so that negative numbers come first. */
function flipSign(w: Writer, size: number): void {
  w.bytes[w.at - size]! ^= 0x80;
}

function putTick9(w: Writer, tick: bigint): void {
  const at = w.room(9);
  w.bytes[at] = tick < 0n ? 5 : 6;
  w.view.setBigInt64(at + 1, tick);
}

/** Puts the lowest bytes of a number that is not negative, the greatest first. */
function putBig(w: Writer, v: bigint, size: number): void {
  const at = w.room(size);
  for (let i = size - 1; i >= 0; i--) {
    w.bytes[at + i] = Number(v & 0xffn);
    v >>= 8n;
  }
}

/** Puts the lowest bytes of a number that is not negative, the least first. */
function putLittle(w: Writer, v: bigint, size: number): void {
  for (let i = 0; i < size; i++) {
    putByte(w, Number(v & 0xffn));
    v >>= 8n;
  }
}

function bigSize(v: bigint): number {
  return v === 0n ? 0 : Math.ceil(v.toString(16).length / 2);
}

function putLEB128(w: Writer, v: bigint): void {
  for (; v > 0x7fn; v >>= 7n) putByte(w, Number(v & 0x7fn) | 0x80);
  putByte(w, Number(v));
}

function putBitcoinVarint(w: Writer, v: bigint): void {
  const groups = [Number(v & 0x7fn)];
  while (v > 0x7fn) {
    v = (v >> 7n) - 1n;
    groups.push(Number(v & 0x7fn) | 0x80);
  }
  for (let i = groups.length - 1; i >= 0; i--) putByte(w, groups[i]!);
}

function putOrdVar(w: Writer, v: bigint, label: string): void {
  if (v > 0xffffffffffffffffn) w.refuse(label, OUT_OF_RANGE);
  if (v <= 109n) return putByte(w, 0x88 + Number(v));
  const size = bigSize(v);
  putByte(w, 0xf5 + size);
  return putBig(w, v, size);
}

function putCompactSize(w: Writer, v: bigint): void {
  if (v < 0xfdn) return putByte(w, Number(v));
  if (v <= 0xffffn) {
    putByte(w, 0xfd);
    return putLE16(w, Number(v));
  }
  if (v <= 0xffffffffn) {
    putByte(w, 0xfe);
    return putLE32(w, Number(v));
  }
  putByte(w, 0xff);
  return putLE64(w, v);
}

function putScaleCompact(w: Writer, v: bigint): void {
  if (v < 0x40n) return putByte(w, Number(v << 2n));
  if (v < 0x4000n) return putLE16(w, Number((v << 2n) | 1n));
  if (v < 0x40000000n) return putLE32(w, Number((v << 2n) | 2n));
  const size = bigSize(v);
  putByte(w, ((size - 4) << 2) | 3);
  return putLittle(w, v, size);
}

function putOrderedUint(w: Writer, v: bigint): void {
  const size = bigSize(v);
  putByte(w, size);
  putBig(w, v, size);
}

/** How many bytes a signed number takes: seven bits in each, of which one marks the end of the count. */
function orderedSize(rest: bigint): number {
  return Math.floor(((rest === 0n ? 0 : rest.toString(2).length) + 7) / 7);
}

/** Puts as many bits as there are bytes, then the number; that of a negative one is complemented. */
function putOrderedInt(w: Writer, v: bigint): void {
  const rest = v < 0n ? -1n - v : v;
  const size = orderedSize(rest);
  const marks = ((1n << BigInt(size)) - 1n) << BigInt(7 * size);
  const at = w.at;
  putBig(w, marks | rest, size);
  if (v < 0n) complementTail(w, at);
}

function putTupleInt(w: Writer, v: bigint): void {
  const negative = v < 0n;
  const magnitude = negative ? -v : v;
  const size = bigSize(magnitude);
  if (size > 8) putByte(w, negative ? 0x0b : 0x1d);
  putByte(w, size > 8 ? (negative ? 0xff - size : size) : negative ? 0x14 - size : 0x14 + size);
  const at = w.at;
  putBig(w, magnitude, size);
  if (negative) complementTail(w, at);
}

function putBool(w: Writer, v: boolean, label: string): void {
  if (typeof v !== 'boolean') w.refuse(label, 'not a truth value');
  putByte(w, v ? 1 : 0);
}

function putBoolTuple(w: Writer, v: boolean, label: string): void {
  if (typeof v !== 'boolean') w.refuse(label, 'not a truth value');
  putByte(w, v ? 0x27 : 0x26);
}

function checkFloat(w: Writer, v: number, label: string): number {
  if (typeof v !== 'number' || Number.isNaN(v)) w.refuse(label, 'not a number');
  return v === 0 ? 0 : v;
}

function putFloatBits(w: Writer, v: number, label: string): void {
  const float = checkFloat(w, v, label);
  const at = w.room(8);
  w.view.setFloat64(at, float);
}

function putIntFloat(w: Writer, v: number): void {
  const at = w.room(8);
  w.view.setFloat64(at, v);
}

function putFloatOrdered(w: Writer, v: number, label: string): void {
  putBE64(w, ordered(bitsOf(checkFloat(w, v, label))));
}

function putFloatTuple(w: Writer, v: number, label: string): void {
  putByte(w, 0x21);
  putFloatOrdered(w, v, label);
}

function putFloatBadger(w: Writer, v: number | NanBits, label: string): void {
  const nan = typeof v === 'object' && v !== null && typeof v.nanBits === 'bigint' && isNanBits(v.nanBits);
  if (typeof v !== 'number' && !nan) w.refuse(label, 'not a number');
  putBE64(w, badgerBits(v));
}

function putFloatFixed(w: Writer, v: number, decimals: number, label: string): void {
  const found = fixedUnits(checkFloat(w, v, label), decimals);
  if (typeof found === 'string') return w.refuse(label, found);
  putBE64(w, found);
  return flipSign(w, 8);
}

function putTimeText9(w: Writer, v: bigint, label: string): void {
  checkBig(w, v, -62167219200000000000n, 253402300799999999999n, label);
  const seconds = floorSeconds(v);
  const date = new Date(Number(seconds) * 1000).toISOString();
  putAscii(w, `${date.slice(0, 19)}.${(v - seconds * 1000000000n).toString().padStart(9, '0')}`);
}

function putTimeNanos(w: Writer, v: bigint, label: string): void {
  checkI64(w, v, label);
  putBE64(w, v);
  flipSign(w, 8);
}

function putScoreExact(w: Writer, v: Score, label: string): void {
  if (v.kind === 'confirmed') {
    checkNumber(w, v.height, 0, 4294967295, label);
    checkU64(w, v.index, label);
    putByte(w, 0);
    putBE32(w, v.height);
    putBE64(w, v.index);
  } else if (v.kind === 'unconfirmed') {
    checkU64(w, v.seconds, label);
    checkNumber(w, v.nanos, 0, 999999999, label);
    putByte(w, 1);
    putBE64(w, v.seconds);
    putBE32(w, v.nanos);
  } else {
    noAlternative(w, label);
  }
}

function checkPlace(w: Writer, v: Score, least: number, most: number, label: string): void {
  const within = v.kind === 'confirmed' && v.height >= least && v.height <= most && v.index < 1000000000n;
  if (!within) w.refuse(label, OUT_OF_RANGE);
}

function checkHeight(w: Writer, v: number, least: number, most: number, label: string): void {
  if (v < least || v > most) w.refuse(label, OUT_OF_RANGE);
}

function putHeightScore(w: Writer, v: number, label: string): void {
  const float = checkFloat(w, v, label);
  if (float < 0 || !Number.isFinite(float)) w.refuse(label, OUT_OF_RANGE);
  const at = w.room(8);
  w.view.setFloat64(at, float);
}

function putHex(w: Writer, bytes: Uint8Array, upper: boolean): void {
  const at = w.room(2 * bytes.length);
  const letter = upper ? 55 : 87;
  for (let i = 0; i < bytes.length; i++) {
    const high = bytes[i]! >> 4;
    const low = bytes[i]! & 15;
    w.bytes[at + 2 * i] = high < 10 ? 48 + high : letter + high;
    w.bytes[at + 2 * i + 1] = low < 10 ? 48 + low : letter + low;
  }
}

/** Puts the first bytes, and zeros where there are not enough. */
function putFit(w: Writer, bytes: Uint8Array, width: number): void {
  const at = w.room(width);
  w.bytes.fill(0, at, w.at);
  w.bytes.set(bytes.subarray(0, width), at);
}

function putTupleBytes(w: Writer, bytes: Uint8Array): void {
  putByte(w, 1);
  const at = w.at;
  putBytes(w, bytes);
  frameEscaped(w, at, 1);
}

/** Puts a text as UTF-8; false if it has half of a surrogate pair, which is no character. */
function putUTF8(w: Writer, text: string): boolean {
  let at = w.room(3 * text.length);
  const bytes = w.bytes;
  for (let i = 0; i < text.length; i++) {
    let c = text.charCodeAt(i);
    if (c < 0x80) {
      bytes[at++] = c;
      continue;
    }
    if (c < 0x800) {
      bytes[at++] = 0xc0 | (c >> 6);
    } else {
      if (c >= 0xd800 && c < 0xe000) {
        const low = text.charCodeAt(++i);
        if (c >= 0xdc00 || !(low >= 0xdc00 && low < 0xe000)) return false;
        c = 0x10000 + ((c & 0x3ff) << 10) + (low & 0x3ff);
        bytes[at++] = 0xf0 | (c >> 18);
        bytes[at++] = 0x80 | ((c >> 12) & 0x3f);
      } else {
        bytes[at++] = 0xe0 | (c >> 12);
      }
      bytes[at++] = 0x80 | ((c >> 6) & 0x3f);
    }
    bytes[at++] = 0x80 | (c & 0x3f);
  }
  w.at = at;
  return true;
}

/** Puts a text of some alphabet; without one, all of UTF-8 is allowed. */
function putText(w: Writer, text: string, alphabet: Alphabet | null, first: Alphabet | null, lens: Lengths, label: string): void {
  if (typeof text !== 'string') w.refuse(label, 'not a text');
  const at = w.at;
  if (!putUTF8(w, text)) w.refuse(label, 'not UTF-8');
  checkLength(w, w.at - at, lens, label);
  if (alphabet === null) return;
  const bytes = w.bytes.subarray(at, w.at);
  const run = textRun(alphabet, first, bytes);
  if (run < bytes.length) w.refuse(label, `byte ${run} is ${hexByte(bytes[run]!)} where ${textWant(first, run)} belongs`);
}

function checkLeftOut(w: Writer, text: string, except: readonly string[], label: string): void {
  if (except.includes(text)) w.refuse(label, 'the text is one that its domain leaves out');
}

function putClass(w: Writer, bytes: Uint8Array, of: Alphabet, label: string): void {
  const run = alphabetRun(of, bytes);
  if (run < bytes.length) w.refuse(label, `byte ${run} is ${hexByte(bytes[run]!)} where a character of its alphabet belongs`);
  putBytes(w, bytes);
}

function putTupleText(w: Writer, text: string, alphabet: Alphabet | null, first: Alphabet | null, lens: Lengths, label: string): void {
  putByte(w, 2);
  const at = w.at;
  putText(w, text, alphabet, first, lens, label);
  frameEscaped(w, at, 1);
}

function checkNibbles(w: Writer, v: Uint8Array, lens: Lengths, label: string): void {
  checkBytes(w, v, label);
  checkLength(w, v.length, lens, label);
  const run = nibbleRun(v);
  if (run < v.length) w.refuse(label, `byte ${run} is ${hexByte(v[run]!)} where 00 to 0f belongs`);
}

function putNibbles(w: Writer, v: Uint8Array, _label: string): void {
  putBytes(w, v);
}

function putNibblesPacked(w: Writer, v: Uint8Array, label: string): void {
  if (v.length % 2 !== 0) w.refuse(label, `a length of ${v.length} is not allowed`);
  for (let i = 0; i < v.length; i += 2) putByte(w, (v[i]! << 4) | v[i + 1]!);
}

function putNibblesHexPrefix(w: Writer, v: Uint8Array, _label: string): void {
  const odd = v.length % 2;
  putByte(w, odd === 1 ? 0x10 | v[0]! : 0);
  for (let i = odd; i < v.length; i += 2) putByte(w, (v[i]! << 4) | v[i + 1]!);
}

/** Puts how many nibbles there are, then two in a byte. */
function putNibblesCounted(w: Writer, v: Uint8Array, label: string): void {
  if (v.length > 0xff) w.refuse(label, `a length of ${v.length} is not allowed`);
  putByte(w, v.length);
  for (let i = 0; i < v.length; i += 2) putByte(w, (v[i]! << 4) | (v[i + 1] ?? 0));
}

/** Puts a length or count; false if it does not fit. */
function putCount(w: Writer, size: number, form: number): boolean {
  switch (form) {
    case LEN8:
      putByte(w, size);
      return size <= 0xff;
    case LEN16:
      putBE16(w, size);
      return size <= 0xffff;
    case LEN32:
      putBE32(w, size);
      return size <= 0xffffffff;
    case LEN64:
      putBE64(w, BigInt(size));
      return true;
    case LEN16LE:
      putByte(w, size & 0xff);
      putByte(w, (size >>> 8) & 0xff);
      return size <= 0xffff;
    case LEN32LE:
      putByte(w, size & 0xff);
      putByte(w, (size >>> 8) & 0xff);
      putByte(w, (size >>> 16) & 0xff);
      putByte(w, (size >>> 24) & 0xff);
      return size <= 0xffffffff;
    case LEN64LE:
      putLE64(w, BigInt(size));
      return true;
    case COMPACTLEN:
      putCompactSize(w, BigInt(size));
      return size <= 0xffffffff;
    case SCALELEN:
      putScaleCompact(w, BigInt(size));
      return size <= 0xffffffff;
    default:
      putLEB128(w, BigInt(size));
      return true;
  }
}

function putListCount(w: Writer, size: number, form: number, label: string): void {
  if (!putCount(w, size, form)) w.refuse(label, `${size} elements are not allowed`);
}

/** Puts the length of everything from `at` on before it. */
function frameLen(w: Writer, at: number, form: number, label: string): void {
  const size = w.at - at;
  const content = w.bytes.slice(at, w.at);
  w.at = at;
  if (!putCount(w, size, form)) w.refuse(label, `a length of ${size} is not allowed`);
  putBytes(w, content);
}

/** Escapes the zeros from `at` on and puts the end, one zero or two. */
function frameEscaped(w: Writer, at: number, zeros: number): void {
  const content = w.bytes.slice(at, w.at);
  w.at = at;
  for (let i = 0; i < content.length; i++) {
    putByte(w, content[i]!);
    if (content[i] === 0) putByte(w, 0xff);
  }
  for (let i = 0; i < zeros; i++) putByte(w, 0);
}

/** Escapes 00 and ff from `at` on and puts the end. */
function frameOrdered(w: Writer, at: number): void {
  const content = w.bytes.slice(at, w.at);
  w.at = at;
  for (let i = 0; i < content.length; i++) {
    putByte(w, content[i]!);
    if (content[i] === 0 || content[i] === 0xff) putByte(w, 0xff - content[i]!);
  }
  putByte(w, 0);
  putByte(w, 1);
}

/** Puts everything from `at` on in groups of eight, each with a marker. */
function frameMemcmp(w: Writer, at: number): void {
  const content = w.bytes.slice(at, w.at);
  w.at = at;
  for (let from = 0; from <= content.length; from += 8) {
    const group = content.subarray(from, from + 8);
    putBytes(w, group);
    for (let i = group.length; i < 8; i++) putByte(w, 0);
    putByte(w, 0xf7 + group.length);
  }
}

function complementTail(w: Writer, at: number): void {
  for (let i = at; i < w.at; i++) w.bytes[i]! ^= 0xff;
}

/** Puts a hash in the place of everything from `at` on. */
function hashTail(w: Writer, at: number, hash: (b: Uint8Array) => Bytes, keep: number): void {
  const digest = hash(w.bytes.slice(at, w.at));
  w.at = at;
  putBytes(w, digest.subarray(0, keep));
}

/** Puts the hash of everything from `at` on before it. */
function hashFront(w: Writer, at: number, hash: (b: Uint8Array) => Bytes, keep: number): void {
  const content = w.bytes.slice(at, w.at);
  w.at = at;
  putBytes(w, hash(content).subarray(0, keep));
  putBytes(w, content);
}

/** Takes everything from `at` on away and returns it. */
function cutTail(w: Writer, at: number): Bytes {
  const tail = w.bytes.slice(at, w.at);
  w.at = at;
  return tail;
}
