/** A place in chain order: confirmed at a height and index, or not confirmed and seen at a time. */
export type Score =
  | { readonly kind: 'confirmed'; readonly height: number; readonly index: bigint }
  | { readonly kind: 'unconfirmed'; readonly seconds: bigint; readonly nanos: number };

/** A float that is not a number, by its bits, since a `number` does not keep them. */
export interface NanBits {
  readonly nanBits: bigint;
}

/** Rounds a score to the float that stands for it in the bytes of a height score. */
export function heightScore(score: Score): number {
  if (score.kind === 'confirmed' && score.height > 0) return score.height + Number(score.index) / 1e9;
  const nanos = score.kind === 'unconfirmed' ? score.seconds * 1000000000n + BigInt(score.nanos) : -1n;
  const late = score.kind === 'unconfirmed' && score.nanos >= 1000000000;
  if (nanos < 0n || nanos > 0x7fffffffffffffffn || late) {
    throw new KeyError('refused', 'score', '', -1, 'the number is out of its range');
  }
  return Number(nanos) / 1e9;
}

const SIGN = 0x8000000000000000n;

const WORD = 0xffffffffffffffffn;

/** A number in the range of its argument: a `number` up to 32 bits. */
function ranged(n: Node, v: bigint): number | bigint | Fault {
  if (v < n.least! || v > n.most!) return new Fault(0, F_RANGE);
  return n.bits! > 32 ? v : Number(v);
}

function bigEndian(b: Uint8Array): bigint {
  let v = 0n;
  for (let i = 0; i < b.length; i++) v = (v << 8n) | BigInt(b[i]!);
  return v;
}

function reversed(b: Uint8Array): Bytes {
  return b.slice().reverse();
}

function extended(n: Node, v: bigint): bigint {
  return n.signed === true ? BigInt.asIntN(n.bits!, v) : v;
}

function decodeBE(n: Node, b: Uint8Array): unknown {
  if (b.length !== n.bits! / 8) return wrongWidth(b.length, n.bits! / 8);
  return ranged(n, extended(n, bigEndian(b)));
}

function decodeLE(n: Node, b: Uint8Array): unknown {
  if (b.length !== n.bits! / 8) return wrongWidth(b.length, n.bits! / 8);
  return ranged(n, extended(n, bigEndian(reversed(b))));
}

function decodeSignFlip(n: Node, b: Uint8Array): unknown {
  if (b.length !== n.bits! / 8) return wrongWidth(b.length, n.bits! / 8);
  const flipped = b.slice();
  flipped[0]! ^= 0x80;
  return ranged(n, extended(n, bigEndian(flipped)));
}

function decodeSaturating(n: Node, b: Uint8Array): unknown {
  if (b.length !== n.bits! / 8) return wrongWidth(b.length, n.bits! / 8);
  if (b[0]! >= 0x80) return new Fault(0, F_RANGE);
  return ranged(n, bigEndian(b));
}

/** The first number from the least one on that ends with the lowest bytes of another. */
function lowest(n: Node, v: bigint): bigint {
  return n.least! + BigInt.asUintN(8 * n.min, v - n.least!);
}

function decodeLow(n: Node, b: Uint8Array): unknown {
  return b.length === n.min ? ranged(n, lowest(n, bigEndian(b))) : wrongWidth(b.length, n.min);
}

/** The first number from the least one on that begins with the highest bytes of another. */
function highest(n: Node, v: bigint): bigint {
  const cut = BigInt(n.bits! - 8 * n.min);
  const first = (v >> cut) << cut;
  return first < n.least! ? n.least! : first;
}

function decodeHigh(n: Node, b: Uint8Array): unknown {
  if (b.length !== n.min) return wrongWidth(b.length, n.min);
  const cut = BigInt(n.bits! - 8 * n.min);
  const v = highest(n, bigEndian(b) << cut);
  return v >> cut === bigEndian(b) ? ranged(n, v) : new Fault(0, F_RANGE);
}

/** The number that is equal to a float, or the end of the range that is nearest to it. */
function intOfFloat(n: Node, v: number): bigint {
  if (v <= Number(n.least!)) return n.least!;
  if (v >= Number(n.most!)) return n.most!;
  return BigInt(Math.trunc(v));
}

function decodeIntFloat(n: Node, b: Uint8Array): unknown {
  if (b.length !== 8) return wrongWidth(b.length, 8);
  const found = new DataView(b.buffer, b.byteOffset, 8).getFloat64(0);
  if (Number.isNaN(found)) return new Fault(0, F_FLOAT);
  const v = intOfFloat(n, found);
  return Object.is(Number(v), found) ? ranged(n, v) : new Fault(0, F_RANGE);
}

function decodeTick9(n: Node, b: Uint8Array): unknown {
  if (b.length !== 9) return wrongWidth(b.length, 9);
  const v = BigInt.asIntN(64, bigEndian(b.subarray(1)));
  const want = v < 0n ? 5 : 6;
  if (b[0] === want) return ranged(n, v);
  if (b[0] === 5 || b[0] === 6) return new Fault(0, F_SIGN, b[0], want);
  return new Fault(0, F_BYTE, b[0]!, '05 (negative) or 06');
}

function isDigit(c: number): boolean {
  return c >= 0x30 && c <= 0x39;
}

function digitRun(b: Uint8Array): number {
  let i = 0;
  while (i < b.length && isDigit(b[i]!)) i++;
  return i;
}

/** A text of one byte for each character. */
function latin(b: Uint8Array): string {
  let text = '';
  for (let i = 0; i < b.length; i++) text += String.fromCharCode(b[i]!);
  return text;
}

/** Reads base-10 digits; a number beyond 128 bits is out of every range. */
function decimalDigits(b: Uint8Array): bigint | Fault {
  const run = digitRun(b);
  if (run < b.length) return new Fault(run, F_BYTE, b[run]!, 'a digit');
  let from = 0;
  while (from < b.length && b[from] === 0x30) from++;
  return b.length - from > 39 ? new Fault(0, F_RANGE) : BigInt(latin(b));
}

function decodeDec(n: Node, b: Uint8Array): unknown {
  const base = n.signed === true && b[0] === 0x2d ? 1 : 0;
  const text = b.subarray(base);
  if (text.length === 0) return tooShort(b.length, base + 1);
  if (text[0] === 0x30 && (text.length > 1 || base > 0)) return new Fault(base, F_LEADING_ZERO);
  const v = decimalDigits(text);
  if (v instanceof Fault) return v.code === F_RANGE ? v : behind(base, v);
  return ranged(n, base > 0 ? -v : v);
}

function longestDec(n: Node, b: Uint8Array): number {
  const base = n.signed === true && b[0] === 0x2d ? 1 : 0;
  return base + digitRun(b.subarray(base));
}

function decodeDecPadded(n: Node, b: Uint8Array): unknown {
  if (b.length !== n.min) return wrongWidth(b.length, n.min);
  const v = decimalDigits(b);
  return v instanceof Fault ? v : ranged(n, v);
}

function isHex(upper: boolean, c: number): boolean {
  return isDigit(c) || (upper ? c >= 0x41 && c <= 0x46 : c >= 0x61 && c <= 0x66);
}

function hexRun(upper: boolean, b: Uint8Array): number {
  let i = 0;
  while (i < b.length && isHex(upper, b[i]!)) i++;
  return i;
}

function hexFault(upper: boolean, b: Uint8Array): Fault | null {
  const at = hexRun(upper, b);
  if (at === b.length) return null;
  return new Fault(at, F_BYTE, b[at]!, upper ? 'an upper-case hex digit' : 'a lower-case hex digit');
}

function hexValue(c: number): number {
  return (c & 15) + (c >> 6) * 9;
}

function hexNumber(n: Node, b: Uint8Array): unknown {
  let from = 0;
  while (from < b.length && b[from] === 0x30) from++;
  if (b.length - from > 32) return new Fault(0, F_RANGE);
  return ranged(n, BigInt(`0x${latin(b)}`));
}

function decodeHexInt(n: Node, b: Uint8Array): unknown {
  if (b.length === 0) return tooShort(0, 1);
  if (b[0] === 0x30 && b.length > 1) return new Fault(0, F_LEADING_ZERO);
  return hexFault(n.upper === true, b) ?? hexNumber(n, b);
}

function longestHexInt(_: Node, b: Uint8Array): number {
  let i = 0;
  while (i < b.length && (isHex(false, b[i]!) || isHex(true, b[i]!))) i++;
  return i;
}

function decodeHexPadded(n: Node, b: Uint8Array): unknown {
  if (b.length !== n.min) return wrongWidth(b.length, n.min);
  return hexFault(n.upper === true, b) ?? hexNumber(n, b);
}

function septets(bits: number, b: Uint8Array): number | Fault {
  const most = Math.ceil(bits / 7);
  for (let i = 0; i < most && i < b.length; i++) if ((b[i]! & 0x80) === 0) return i + 1;
  return b.length < most ? tooShort(b.length, b.length + 1) : new Fault(0, F_RANGE);
}

function extentSeptets(n: Node, b: Uint8Array): number | Fault {
  return septets(n.bits!, b);
}

/** Whether something is wrong with the end of bytes that mark it themselves. */
function extentFault(extent: number | Fault, b: Uint8Array): Fault | null {
  if (extent instanceof Fault) return extent;
  return b.length > extent ? tooLong(b.length, extent) : null;
}

function leb128(b: Uint8Array): bigint | Fault {
  if (b.length > 1 && b[b.length - 1] === 0) return new Fault(b.length - 1, F_NOT_SHORTEST);
  let v = 0n;
  for (let i = b.length - 1; i >= 0; i--) v = (v << 7n) | BigInt(b[i]! & 0x7f);
  return v;
}

function decodeLEB128(n: Node, b: Uint8Array): unknown {
  const fault = extentFault(extentSeptets(n, b), b);
  if (fault !== null) return fault;
  const v = leb128(b);
  return v instanceof Fault ? v : ranged(n, v);
}

function decodeBitcoinVarint(n: Node, b: Uint8Array): unknown {
  const fault = extentFault(extentSeptets(n, b), b);
  if (fault !== null) return fault;
  let v = 0n;
  for (let i = 0; i < b.length; i++) {
    v = (v << 7n) | BigInt(b[i]! & 0x7f);
    if ((b[i]! & 0x80) !== 0) v += 1n;
  }
  return ranged(n, v);
}

function extentOrdVar(_: Node, b: Uint8Array): number | Fault {
  if (b.length === 0) return tooShort(0, 1);
  const head = b[0]!;
  if (head < 0x88 || head > 0xfd) return new Fault(0, F_BYTE, head, 'the head of a number');
  const width = head > 0xf5 ? head - 0xf5 + 1 : 1;
  return b.length < width ? tooShort(b.length, width) : width;
}

function decodeOrdVar(n: Node, b: Uint8Array): unknown {
  const fault = extentFault(extentOrdVar(n, b), b);
  if (fault !== null) return fault;
  if (b.length === 1) return ranged(n, BigInt(b[0]! - 0x88));
  const v = bigEndian(b.subarray(1));
  return b[1] === 0 || v <= 109n ? new Fault(1, F_NOT_SHORTEST) : ranged(n, v);
}

function extentCompactSize(_: Node, b: Uint8Array): number | Fault {
  if (b.length === 0) return tooShort(0, 1);
  const width = b[0]! < 0xfd ? 1 : 1 + (2 << (b[0]! - 0xfd));
  return b.length < width ? tooShort(b.length, width) : width;
}

function decodeCompactSize(n: Node, b: Uint8Array): unknown {
  const fault = extentFault(extentCompactSize(n, b), b);
  if (fault !== null) return fault;
  if (b[0]! < 0xfd) return ranged(n, BigInt(b[0]!));
  const v = bigEndian(reversed(b.subarray(1)));
  const least = b[0] === 0xfd ? 0xfdn : b[0] === 0xfe ? 0x10000n : 0x100000000n;
  return v < least ? new Fault(1, F_NOT_SHORTEST) : ranged(n, v);
}

function extentScaleCompact(_: Node, b: Uint8Array): number | Fault {
  if (b.length === 0) return tooShort(0, 1);
  const mode = b[0]! & 3;
  const width = mode === 3 ? (b[0]! >> 2) + 5 : 1 << mode;
  if (width > 17) return new Fault(0, F_RANGE);
  return b.length < width ? tooShort(b.length, width) : width;
}

function scaleCompact(b: Uint8Array): bigint | Fault {
  const mode = b[0]! & 3;
  const digits = mode === 3 ? b.subarray(1) : b;
  if (mode === 3 && digits.length > 4 && digits[digits.length - 1] === 0) return new Fault(b.length - 1, F_NOT_SHORTEST);
  const v = bigEndian(reversed(digits)) >> (mode === 3 ? 0n : 2n);
  return v < [0n, 0x40n, 0x4000n, 0x40000000n][mode]! ? new Fault(0, F_NOT_SHORTEST) : v;
}

function decodeScaleCompact(n: Node, b: Uint8Array): unknown {
  const fault = extentFault(extentScaleCompact(n, b), b);
  if (fault !== null) return fault;
  const v = scaleCompact(b);
  return v instanceof Fault ? v : ranged(n, v);
}

function leadingOnes(byte: number): number {
  return Math.clz32(~(byte << 24));
}

function extentOrderedInt(n: Node, b: Uint8Array): number | Fault {
  if (b.length === 0) return tooShort(0, 1);
  let width = b[0]! + 1;
  if (n.signed === true) {
    const flip = b[0]! < 0x80 ? 0xff : 0;
    width = leadingOnes(b[0]! ^ flip);
    if (width === 8) {
      if (b.length < 2) return tooShort(1, 2);
      width = 8 + leadingOnes(b[1]! ^ flip);
    }
  }
  if (width > (n.signed === true ? 10 : 9)) return new Fault(0, F_BYTE, b[0]!, 'the head of a number');
  return b.length < width ? tooShort(b.length, width) : width;
}

function decodeOrderedInt(n: Node, b: Uint8Array): unknown {
  const fault = extentFault(extentOrderedInt(n, b), b);
  if (fault !== null) return fault;
  if (n.signed !== true) return b[1] === 0 ? new Fault(1, F_NOT_SHORTEST) : ranged(n, bigEndian(b.subarray(1)));
  const negative = b[0]! < 0x80;
  const word = negative ? ~bigEndian(b) : bigEndian(b);
  const rest = BigInt.asUintN(7 * b.length - 1, word);
  if (rest >= SIGN) return new Fault(0, F_RANGE);
  if (orderedSize(rest) !== b.length) return new Fault(0, F_NOT_SHORTEST);
  return ranged(n, negative ? -1n - rest : rest);
}

interface TupleHead {
  readonly negative: boolean;
  readonly head: number;
  readonly count: number;
}

function tupleHead(b: Uint8Array): TupleHead | Fault {
  if (b.length === 0) return tooShort(0, 1);
  const c = b[0]!;
  if (c >= 0x14 && c < 0x1d) return { negative: false, head: 1, count: c - 0x14 };
  if (c >= 0x0c && c < 0x14) return { negative: true, head: 1, count: 0x14 - c };
  if (c !== 0x1d && c !== 0x0b) return new Fault(0, F_BYTE, c, 'its type code');
  if (b.length < 2) return tooShort(1, 2);
  return c === 0x0b ? { negative: true, head: 2, count: 0xff - b[1]! } : { negative: false, head: 2, count: b[1]! };
}

function extentTupleInt(_: Node, b: Uint8Array): number | Fault {
  const head = tupleHead(b);
  if (head instanceof Fault) return head;
  const extent = head.head + head.count;
  return b.length < extent ? tooShort(b.length, extent) : extent;
}

function decodeTupleInt(n: Node, b: Uint8Array): unknown {
  const fault = extentFault(extentTupleInt(n, b), b);
  if (fault !== null) return fault;
  const head = tupleHead(b);
  if (head instanceof Fault) return head;
  if (head.head === 2 && head.count <= 8) return new Fault(1, F_NOT_SHORTEST);
  const magnitude = b.slice(head.head);
  if (head.negative) for (let i = 0; i < magnitude.length; i++) magnitude[i]! ^= 0xff;
  if (magnitude[0] === 0) return new Fault(head.head, F_NOT_SHORTEST);
  if (head.count > 16) return new Fault(0, F_RANGE);
  const v = bigEndian(magnitude);
  return ranged(n, head.negative ? -v : v);
}

function decodeBool(_: Node, b: Uint8Array): unknown {
  if (b.length !== 1) return wrongWidth(b.length, 1);
  return b[0]! > 1 ? new Fault(0, F_BYTE, b[0]!, '00 or 01') : b[0] === 1;
}

function decodeBoolTuple(_: Node, b: Uint8Array): unknown {
  if (b.length === 0) return tooShort(0, 1);
  if (b[0] !== 0x26 && b[0] !== 0x27) return new Fault(0, F_BYTE, b[0]!, 'its type code');
  return b.length > 1 ? tooLong(b.length, 1) : b[0] === 0x27;
}

function bitsOf(v: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, v);
  return view.getBigUint64(0);
}

function fromBits(raw: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, raw);
  return view.getFloat64(0);
}

function isNanBits(raw: bigint): boolean {
  return (raw & 0x7fffffffffffffffn) > 0x7ff0000000000000n && raw >= 0n && raw <= WORD;
}

function floatOf(raw: bigint): number | Fault {
  return isNanBits(raw) || raw === SIGN ? new Fault(0, F_FLOAT) : fromBits(raw);
}

function ordered(raw: bigint): bigint {
  return raw >= SIGN ? raw ^ WORD : raw ^ SIGN;
}

function disordered(raw: bigint): bigint {
  return raw >= SIGN ? raw ^ SIGN : raw ^ WORD;
}

function decodeFloatBits(_: Node, b: Uint8Array): unknown {
  return b.length === 8 ? floatOf(bigEndian(b)) : wrongWidth(b.length, 8);
}

function decodeFloatOrdered(_: Node, b: Uint8Array): unknown {
  return b.length === 8 ? floatOf(disordered(bigEndian(b))) : wrongWidth(b.length, 8);
}

/** The sortable bits of a float; those of `NaN` are 7ff8000000000000. */
function badgerBits(v: number | NanBits): bigint {
  if (typeof v !== 'number') return v.nanBits ^ WORD;
  if (Number.isNaN(v)) return 0x7ff8000000000000n ^ WORD;
  if (v === 0) return Object.is(v, -0) ? 0n : SIGN;
  return v > 0 ? bitsOf(v) ^ SIGN : bitsOf(v) ^ WORD;
}

/** The float that sortable bits are read as. */
function badgerFloat(raw: bigint): number | NanBits {
  if (raw === 0n) return -0;
  const bits = disordered(raw);
  return isNanBits(bits) ? { nanBits: bits } : fromBits(bits);
}

function decodeFloatBadger(_: Node, b: Uint8Array): unknown {
  if (b.length !== 8) return wrongWidth(b.length, 8);
  const raw = bigEndian(b);
  const v = badgerFloat(raw);
  return badgerBits(v) === raw ? v : new Fault(0, F_FLOAT);
}

const POWERS_OF_TEN = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

/** The number as a multiple of 10 to the power of minus decimals, or why it is none. */
function fixedUnits(v: number, decimals: number): bigint | string {
  const scale = POWERS_OF_TEN[decimals]!;
  const scaled = v * scale;
  if (!(scaled >= -9223372036854775808 && scaled < 9223372036854775808)) return 'the number is out of its range';
  const whole = Math.trunc(scaled);
  const fraction = scaled - whole;
  let units = BigInt(whole);
  if (fraction >= 0.5) units += 1n;
  else if (fraction <= -0.5) units -= 1n;
  return Number(units) / scale === v ? units : 'the encoding cannot hold this number exactly';
}

function decodeFloatFixed(n: Node, b: Uint8Array): unknown {
  if (b.length !== 8) return wrongWidth(b.length, 8);
  const units = BigInt.asIntN(64, bigEndian(b) ^ SIGN);
  const v = Number(units) / POWERS_OF_TEN[n.keep!]!;
  return fixedUnits(v, n.keep!) === units ? v : new Fault(0, F_FLOAT);
}

function decodeFloatTuple(n: Node, b: Uint8Array): unknown {
  if (b.length === 0) return tooShort(0, 1);
  if (b[0] !== 0x21) return new Fault(0, F_BYTE, b[0]!, 'its type code');
  return behind(1, decodeFloatOrdered(n, b.subarray(1)));
}

function floorSeconds(nanos: bigint): bigint {
  const rest = ((nanos % 1000000000n) + 1000000000n) % 1000000000n;
  return (nanos - rest) / 1000000000n;
}

function daysOf(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
}

function decodeTimeText9(_: Node, b: Uint8Array): unknown {
  const frame = '0000-00-00T00:00:00.000000000';
  if (b.length !== frame.length) return wrongWidth(b.length, frame.length);
  for (let i = 0; i < b.length; i++) {
    const want = frame.charCodeAt(i);
    if (want === 0x30 ? !isDigit(b[i]!) : b[i] !== want) return new Fault(i, F_BYTE, b[i]!, 'a date and time');
  }
  const text = latin(b);
  const field = (at: number): number => Number(text.slice(at, at + 2));
  const year = Number(text.slice(0, 4));
  if (field(5) < 1 || field(5) > 12) return new Fault(5, F_TIME);
  if (field(8) < 1 || field(8) > daysOf(year, field(5))) return new Fault(8, F_TIME);
  if (field(11) > 23) return new Fault(11, F_TIME);
  if (field(14) > 59) return new Fault(14, F_TIME);
  if (field(17) > 59) return new Fault(17, F_TIME);
  return BigInt(Date.parse(`${text.slice(0, 19)}Z`)) * 1000000n + BigInt(text.slice(20));
}

function decodeTimeNanos(_: Node, b: Uint8Array): unknown {
  return b.length === 8 ? BigInt.asIntN(64, bigEndian(b) ^ SIGN) : wrongWidth(b.length, 8);
}

function decodeScoreExact(_: Node, b: Uint8Array): unknown {
  if (b.length !== 13) return wrongWidth(b.length, 13);
  if (b[0] === 0) {
    return { kind: 'confirmed', height: Number(bigEndian(b.subarray(1, 5))), index: bigEndian(b.subarray(5)) };
  }
  if (b[0] !== 1) return new Fault(0, F_BYTE, b[0]!, '00 (confirmed) or 01 (unconfirmed)');
  const nanos = Number(bigEndian(b.subarray(9)));
  if (nanos >= 1000000000) return new Fault(9, F_RANGE);
  return { kind: 'unconfirmed', seconds: bigEndian(b.subarray(1, 9)), nanos };
}

function decodeHeightScore(_: Node, b: Uint8Array): unknown {
  if (b.length !== 8) return wrongWidth(b.length, 8);
  const v = floatOf(bigEndian(b));
  if (v instanceof Fault) return v;
  return v < 0 || !Number.isFinite(v) ? new Fault(0, F_RANGE) : v;
}

/** A place at one of the heights of the node, at an index below 10⁹. */
function decodeScoreWithin(n: Node, b: Uint8Array): unknown {
  const v = decodeScoreExact(n, b);
  if (v instanceof Fault) return v;
  const place = v as Score;
  const within =
    place.kind === 'confirmed' && place.height >= n.least! && place.height <= n.most! && place.index < 1000000000n;
  return within ? place : new Fault(0, F_RANGE);
}

/** A float between two floats, whose bits the node has. Floats from 0 on sort as their bits do. */
function decodeHeightScoreWithin(n: Node, b: Uint8Array): unknown {
  const v = decodeHeightScore(n, b);
  if (v instanceof Fault) return v;
  const bits = bigEndian(b);
  return bits < n.least! || bits > n.most! ? new Fault(0, F_RANGE) : v;
}

function decodeBytes(n: Node, b: Uint8Array): unknown {
  return lengthFault(n.lens!, b.length, 1) ?? b.slice();
}

function longestBytes(n: Node, b: Uint8Array): number {
  return capped(n.lens!, b.length);
}

function decodeClass(n: Node, b: Uint8Array): unknown {
  const run = alphabetRun(n.alphabet!, b);
  if (run < b.length) return new Fault(run, F_BYTE, b[run]!, 'a character of its alphabet');
  return lengthFault(n.lens!, b.length, 1) ?? b.slice();
}

function longestClass(n: Node, b: Uint8Array): number {
  return capped(n.lens!, alphabetRun(n.alphabet!, b));
}

function unhex(b: Uint8Array): Bytes {
  const out = new Uint8Array(b.length >> 1);
  for (let i = 0; i < out.length; i++) out[i] = (hexValue(b[2 * i]!) << 4) | hexValue(b[2 * i + 1]!);
  return out;
}

function decodeHexBytes(n: Node, b: Uint8Array): unknown {
  const fault = hexFault(n.upper === true, b);
  if (fault !== null) return fault;
  if (b.length % 2 !== 0) return tooShort(b.length, b.length + 1);
  return lengthFault(n.lens!, b.length / 2, 2) ?? unhex(b);
}

function longestHexBytes(n: Node, b: Uint8Array): number {
  const max = n.lens!.max;
  return hexRun(n.upper === true, max >= 0 && max < b.length / 2 ? b.subarray(0, 2 * max) : b);
}

function decodeFit(n: Node, b: Uint8Array): unknown {
  return b.length === n.min ? b.slice() : wrongWidth(b.length, n.min);
}

function extentTuple(code: number, b: Uint8Array): number | Fault {
  if (b.length === 0) return tooShort(0, 1);
  if (b[0] !== code) return new Fault(0, F_BYTE, b[0]!, 'its type code');
  const extent = behind(1, escapedExtent(b.subarray(1)));
  return extent instanceof Fault ? extent : extent + 1;
}

function extentTupleBytes(_: Node, b: Uint8Array): number | Fault {
  return extentTuple(1, b);
}

function extentTupleText(_: Node, b: Uint8Array): number | Fault {
  return extentTuple(2, b);
}

function tupleContent(code: number, b: Uint8Array): Bytes | Fault {
  return extentFault(extentTuple(code, b), b) ?? unescaped(b.subarray(1, b.length - 1));
}

function decodeTupleBytes(n: Node, b: Uint8Array): unknown {
  const content = tupleContent(1, b);
  if (content instanceof Fault || admits(n.lens!, content.length)) return content;
  return new Fault(1, F_LENGTH, content.length);
}

/** Which bytes an alphabet has: a bit each, 32 in a number. */
type Alphabet = readonly number[];

function alphabetRun(alphabet: Alphabet, b: Uint8Array): number {
  let i = 0;
  while (i < b.length && ((alphabet[b[i]! >> 5]! >>> (b[i]! & 31)) & 1) === 1) i++;
  return i;
}

function firstCharacter(b: Uint8Array): number {
  if (b.length === 0) return 0;
  const most = b[0]! >= 0xf0 ? 3 : b[0]! >= 0xe0 ? 2 : b[0]! >= 0xc0 ? 1 : 0;
  let size = 1;
  while (size < b.length && size <= most && (b[size]! & 0xc0) === 0x80) size++;
  return size;
}

function textRun(alphabet: Alphabet, first: Alphabet | null, b: Uint8Array): number {
  if (first === null) return alphabetRun(alphabet, b);
  const head = firstCharacter(b);
  const run = alphabetRun(first, b.subarray(0, head));
  return run < head ? run : head + alphabetRun(alphabet, b.subarray(head));
}

function textWant(first: Alphabet | null, at: number): string {
  return at === 0 && first !== null ? 'a character that may come first' : 'a character of its alphabet';
}

/** Reads UTF-8; the fault is at the first character that is none. */
function fromUTF8(b: Uint8Array): string | Fault {
  let text = '';
  for (let i = 0; i < b.length; ) {
    const c = b[i]!;
    if (c < 0x80) {
      text += String.fromCharCode(c);
      i += 1;
      continue;
    }
    const size = c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (size === 0 || i + size > b.length) return new Fault(i, F_UTF8);
    let point = c & (0x7f >> size);
    for (let k = 1; k < size; k++) {
      if ((b[i + k]! & 0xc0) !== 0x80) return new Fault(i, F_UTF8);
      point = (point << 6) | (b[i + k]! & 0x3f);
    }
    const wide = size === 3 ? point < 0x800 || (point >= 0xd800 && point < 0xe000) : size === 4 && (point < 0x10000 || point > 0x10ffff);
    if (wide) return new Fault(i, F_UTF8);
    text += String.fromCodePoint(point);
    i += size;
  }
  return text;
}

function decodeText(n: Node, b: Uint8Array): unknown {
  const first = n.first ?? null;
  const run = textRun(n.alphabet!, first, b);
  if (run < b.length) return new Fault(run, F_BYTE, b[run]!, textWant(first, run));
  const fault = lengthFault(n.lens!, b.length, 1);
  if (fault !== null) return fault;
  const text = fromUTF8(b);
  return typeof text === 'string' && n.except?.includes(text) === true ? new Fault(0, F_LEFT_OUT) : text;
}

function longestText(n: Node, b: Uint8Array): number {
  return textRun(n.alphabet!, n.first ?? null, b.subarray(0, capped(n.lens!, b.length)));
}

function decodeTupleText(n: Node, b: Uint8Array): unknown {
  const content = tupleContent(2, b);
  if (content instanceof Fault) return content;
  if (fromUTF8(content) instanceof Fault) return new Fault(tupleUTF8(b), F_UTF8);
  return behind(1, decodeText(n, content));
}

/** The offset of what is not UTF-8 in an escaped text. */
function tupleUTF8(b: Uint8Array): number {
  let base = 1;
  let rest = b.subarray(1, b.length - 1);
  while (rest.length > 0) {
    const zero = rest.indexOf(0);
    const end = zero < 0 ? rest.length : zero + 1;
    const piece = fromUTF8(rest.subarray(0, end));
    if (piece instanceof Fault) return base + piece.at;
    base += end + 1;
    rest = rest.subarray(end + 1);
  }
  return base;
}

function nibbleRun(b: Uint8Array): number {
  let i = 0;
  while (i < b.length && b[i]! <= 15) i++;
  return i;
}

function decodeNibbles(n: Node, b: Uint8Array): unknown {
  const run = nibbleRun(b);
  if (run < b.length) return new Fault(run, F_BYTE, b[run]!, '00 to 0f');
  return lengthFault(n.lens!, b.length, 1) ?? b.slice();
}

function unpacked(b: Uint8Array, from: number): number[] {
  const out: number[] = [];
  for (let i = from; i < b.length; i++) out.push(b[i]! >> 4, b[i]! & 15);
  return out;
}

/** Nibbles of an allowed number; the fault is after `head` bytes and as many as the most nibbles take. */
function nibblesOf(n: Node, b: Uint8Array, head: number, all: readonly number[]): unknown {
  if (admits(n.lens!, all.length)) return Uint8Array.from(all);
  const most = n.lens!.max < 0 ? b.length : head + (n.lens!.max >> 1);
  return new Fault(Math.min(most, b.length), F_LENGTH, all.length);
}

function decodeNibblesPacked(n: Node, b: Uint8Array): unknown {
  return nibblesOf(n, b, 0, unpacked(b, 0));
}

function decodeNibblesHexPrefix(n: Node, b: Uint8Array): unknown {
  if (b.length === 0) return tooShort(0, 1);
  const head = b[0]!;
  const odd = head >= 0x10 && head <= 0x1f;
  if (!odd && head !== 0) return new Fault(0, F_BYTE, head, '00 or 10 to 1f');
  return nibblesOf(n, b, 1, odd ? [head & 15, ...unpacked(b, 1)] : unpacked(b, 1));
}

function extentNibblesCounted(_: Node, b: Uint8Array): number | Fault {
  if (b.length === 0) return tooShort(0, 1);
  const width = 1 + ((b[0]! + 1) >> 1);
  return b.length < width ? tooShort(b.length, width) : width;
}

function decodeNibblesCounted(n: Node, b: Uint8Array): unknown {
  const fault = extentFault(extentNibblesCounted(n, b), b);
  if (fault !== null) return fault;
  const count = b[0]!;
  if (!admits(n.lens!, count)) return new Fault(0, F_LENGTH, count);
  const all = unpacked(b, 1);
  if (all.length > count && all[count] !== 0) return new Fault(b.length - 1, F_BYTE, b[b.length - 1]!, '00 as padding');
  return Uint8Array.from(all.slice(0, count));
}

function decodeOpaque(_: Node, b: Uint8Array): unknown {
  return b.slice();
}

const LEN8 = 0;

const LEN16 = 1;

const LEN32 = 2;

const LEN64 = 3;

const LEN64LE = 4;

const VARLEN = 5;

const LEN16LE = 6;

const LEN32LE = 7;

const COMPACTLEN = 8;

const SCALELEN = 9;

/** Reads a length or count at the front: how many bytes it takes, and the number. */
function numberAt(form: number, b: Uint8Array): { readonly size: number; readonly number: bigint } | Fault {
  if (form === VARLEN) {
    const size = septets(64, b);
    if (size instanceof Fault) return size;
    const number = leb128(b.subarray(0, size));
    if (number instanceof Fault) return number;
    return number > WORD ? new Fault(0, F_RANGE) : { size, number };
  }
  if (form === COMPACTLEN || form === SCALELEN) {
    const n: Node = { end: END_MARKED, min: 1, max: 17, bits: 64, least: 0n, most: 0xffffffffn };
    const size = form === COMPACTLEN ? extentCompactSize(n, b) : extentScaleCompact(n, b);
    if (size instanceof Fault) return size;
    const head = b.subarray(0, size);
    const number = form === COMPACTLEN ? decodeCompactSize(n, head) : decodeScaleCompact(n, head);
    return number instanceof Fault ? number : { size, number: number as bigint };
  }
  const two = form === LEN16 || form === LEN16LE;
  const four = form === LEN32 || form === LEN32LE;
  const size = form === LEN8 ? 1 : two ? 2 : four ? 4 : 8;
  if (b.length < size) return tooShort(b.length, size);
  const head = b.subarray(0, size);
  const little = form === LEN16LE || form === LEN32LE || form === LEN64LE;
  return { size, number: bigEndian(little ? reversed(head) : head) };
}

/** Reads a count; one beyond every list is cut, since no bytes can hold so many elements. */
function countAt(form: number, b: Uint8Array): { readonly size: number; readonly count: number } | Fault {
  const found = numberAt(form, b);
  if (found instanceof Fault) return found;
  return { size: found.size, count: found.number > 0x7fffffffn ? 0x7fffffff : Number(found.number) };
}

function lenBounds(form: number, b: Uint8Array): { readonly start: number; readonly end: number } | Fault {
  const found = numberAt(form, b);
  if (found instanceof Fault) return found;
  let end = BigInt(found.size) + found.number;
  if (end > WORD) end = WORD;
  if (end > BigInt(b.length)) return new Fault(b.length, F_SHORT, end - BigInt(b.length));
  return { start: found.size, end: Number(end) };
}

/** What a frame holds, and how many bytes come before it. */
interface Content {
  readonly skip: number;
  readonly content: Uint8Array;
}

function extentLen(n: Node, b: Uint8Array): number | Fault {
  const bounds = lenBounds(n.form!, b);
  return bounds instanceof Fault ? bounds : bounds.end;
}

function unframeLen(n: Node, b: Uint8Array): Content | Fault {
  const bounds = lenBounds(n.form!, b);
  if (bounds instanceof Fault) return bounds;
  return extentFault(bounds.end, b) ?? { skip: bounds.start, content: b.subarray(bounds.start) };
}

/** The offset of the zero that ends escaped bytes; -1 if there is none. */
function escapedEnd(b: Uint8Array): number {
  for (let i = 0; i < b.length; i++) {
    if (b[i] !== 0) continue;
    if (b[i + 1] !== 0xff) return i;
    i++;
  }
  return -1;
}

function unescaped(b: Uint8Array): Bytes {
  const out: number[] = [];
  for (let i = 0; i < b.length; i++) {
    out.push(b[i]!);
    if (b[i] === 0) i++;
  }
  return Uint8Array.from(out);
}

function escapedExtent(b: Uint8Array): number | Fault {
  const zero = escapedEnd(b);
  return zero < 0 ? tooShort(b.length, b.length + 1) : zero + 1;
}

function extentEscaped(_: Node, b: Uint8Array): number | Fault {
  return escapedExtent(b);
}

function unframeEscaped(_: Node, b: Uint8Array): Content | Fault {
  const extent = escapedExtent(b);
  if (extent instanceof Fault) return extent;
  return extentFault(extent, b) ?? { skip: 0, content: unescaped(b.subarray(0, extent - 1)) };
}

function extentTerminated(_: Node, b: Uint8Array): number | Fault {
  const zero = escapedEnd(b);
  if (zero < 0) return tooShort(b.length, b.length + 2);
  if (zero + 1 === b.length) return tooShort(b.length, zero + 2);
  return b[zero + 1] === 0 ? zero + 2 : new Fault(zero + 1, F_BYTE, b[zero + 1]!, 'ff or the end after 00');
}

function unframeTerminated(n: Node, b: Uint8Array): Content | Fault {
  const extent = extentTerminated(n, b);
  if (extent instanceof Fault) return extent;
  return extentFault(extent, b) ?? { skip: 0, content: unescaped(b.subarray(0, extent - 2)) };
}

function extentOrdered(_: Node, b: Uint8Array): number | Fault {
  for (let at = 0; at < b.length; at++) {
    const c = b[at]!;
    if (c !== 0 && c !== 0xff) continue;
    at++;
    if (at === b.length) return tooShort(b.length, at + 1);
    if (b[at] === 0xff - c) continue;
    if (c === 0 && b[at] === 1) return at + 1;
    return new Fault(at, F_BYTE, b[at]!, 'ff or the end after 00');
  }
  return tooShort(b.length, b.length + 2);
}

function unframeOrdered(n: Node, b: Uint8Array): Content | Fault {
  const extent = extentOrdered(n, b);
  if (extent instanceof Fault) return extent;
  const fault = extentFault(extent, b);
  if (fault !== null) return fault;
  const out: number[] = [];
  for (let i = 0; i < extent - 2; i++) {
    out.push(b[i]!);
    if (b[i] === 0 || b[i] === 0xff) i++;
  }
  return { skip: 0, content: Uint8Array.from(out) };
}

function extentMemcmp(_: Node, b: Uint8Array): number | Fault {
  let end = 9;
  for (; end <= b.length; end += 9) {
    const marker = b[end - 1]!;
    if (marker === 0xff) continue;
    return marker >= 0xf7 ? end : new Fault(end - 1, F_BYTE, marker, 'a group marker');
  }
  return tooShort(b.length, end);
}

function unframeMemcmp(n: Node, b: Uint8Array): Content | Fault {
  const extent = extentMemcmp(n, b);
  if (extent instanceof Fault) return extent;
  const fault = extentFault(extent, b);
  if (fault !== null) return fault;
  const padding = 0xff - b[extent - 1]!;
  for (let at = extent - 1 - padding; at < extent - 1; at++) {
    if (b[at] !== 0) return new Fault(at, F_BYTE, b[at]!, '00 as padding');
  }
  const out = new Uint8Array((extent / 9) * 8);
  for (let group = 0; 9 * group < extent; group++) out.set(b.subarray(9 * group, 9 * group + 8), 8 * group);
  return { skip: 0, content: out.subarray(0, out.length - padding) };
}
