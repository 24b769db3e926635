/** Why bytes or arguments are refused: the layout does not write them, they are out of their domain, or they have another reading. */
export type Refusal = 'decode' | 'refused' | 'other-reading';

/** Says which argument, or which byte, is at fault. */
export class KeyError extends Error {
  /**
   * `decode` for bytes that the layout does not write, `refused` for an argument outside of its domain, `other-reading` for
   * arguments whose bytes can also be read as something else, which is a flaw that the plan accepts.
   */
  readonly kind: Refusal;
  /** The path of the family in the plan, with the part if it is not the key. */
  readonly family: string;
  /** The argument or literal that is at fault. */
  readonly segment: string;
  /** The byte that breaks a key, and -1 where an argument is refused. */
  readonly offset: number;
  /** What is wrong there. */
  readonly reason: string;

  constructor(kind: Refusal, family: string, segment: string, offset: number, reason: string) {
    super(`${family}${offset >= 0 ? `: byte ${offset}` : ''}${segment === '' ? '' : `: \`${segment}\``}: ${reason}`);
    this.name = 'KeyError';
    this.kind = kind;
    this.family = family;
    this.segment = segment;
    this.offset = offset;
    this.reason = reason;
  }
}

/** Bytes of one's own, as `BufferSource` wants them. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** A range of keys: `start` is part of it, `end` is not. An `end` of `null` means that there is none. */
export interface Range {
  readonly start: Bytes;
  readonly end: Bytes | null;
}

/** A range of keys with other rows between them. */
export interface FilteredRange extends Range {
  /** Whether a key lies in the range and is a key of the family. */
  readonly contains: (key: Uint8Array) => boolean;
}

function filtered(own: (b: Uint8Array) => boolean, range: Range): FilteredRange {
  return { ...range, contains: (key) => inRange(range, key) && own(plainBytes(key)) };
}

/** Compares bytes as stores do: negative if `a` comes first. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const size = Math.min(a.length, b.length);
  for (let i = 0; i < size; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

/** Whether a key lies in a range. */
export function inRange(range: Range, key: Uint8Array): boolean {
  return compareBytes(key, range.start) >= 0 && (range.end === null || compareBytes(key, range.end) < 0);
}

/** Bytes as lower-case hex digits. */
export function toHex(bytes: Uint8Array): string {
  let out = '';
  for (let i = 0; i < bytes.length; i++) out += hexByte(bytes[i]!);
  return out;
}

/** Hex digits, with or without `0x`, as bytes. */
export function fromHex(text: string): Bytes {
  const digits = text.startsWith('0x') ? text.slice(2) : text;
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) throw new TypeError('not hex digits');
  const out = new Uint8Array(digits.length / 2);
  for (let i = 0; i < out.length; i++) out[i] = parseInt(digits.slice(2 * i, 2 * i + 2), 16);
  return out;
}

function hexByte(byte: number): string {
  return byte < 16 ? `0${byte.toString(16)}` : byte.toString(16);
}

/** Whether it is bytes, also those of another frame or sandbox, which have a `Uint8Array` of their own. */
function isBytes(v: unknown): v is Uint8Array {
  return v instanceof Uint8Array || (ArrayBuffer.isView(v) && Object.prototype.toString.call(v) === '[object Uint8Array]');
}

/** The bytes without what a subclass such as `Buffer` changes. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  if (!isBytes(bytes)) throw new TypeError('not a Uint8Array');
  if (bytes.constructor === Uint8Array) return bytes;
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

function ascii(text: string): Bytes {
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}

function prefixRange(prefix: Bytes): Range {
  return { start: prefix, end: prefixEnd(prefix) };
}

/** The least key above all that begin with the prefix; `null` if there is none. */
function prefixEnd(prefix: Bytes): Bytes | null {
  for (let last = prefix.length - 1; last >= 0; last--) {
    if (prefix[last] !== 0xff) {
      const end = prefix.slice(0, last + 1);
      end[last]! += 1;
      return end;
    }
  }
  return null;
}

/** Keeps a range from ending before it starts. */
function narrowed(start: Bytes, end: Bytes | null): Range {
  return { start, end: end !== null && compareBytes(start, end) > 0 ? start : end };
}

function followed(bytes: Bytes): Bytes {
  const out = new Uint8Array(bytes.length + 1);
  out.set(bytes);
  return out;
}

function startFrom(range: Range, bound: Bytes): Range {
  return narrowed(bound, range.end);
}

function startAfter(range: Range, bound: Bytes, whole: boolean): Range {
  if (whole) return narrowed(followed(bound), range.end);
  const start = prefixEnd(bound);
  return start === null ? { start: bound, end: bound } : narrowed(start, range.end);
}

function endBefore(range: Range, bound: Bytes): Range {
  return narrowed(range.start, bound);
}

function endThrough(range: Range, bound: Bytes, whole: boolean): Range {
  return narrowed(range.start, whole ? followed(bound) : prefixEnd(bound));
}

/** Both bounds on the next argument of a scan. */
function bounded<T>(range: Range, bounds: Bounds<T>, whole: boolean, key: (next: T) => Bytes): Range {
  let out = range;
  if (bounds.from !== undefined) out = startFrom(out, key(bounds.from));
  if (bounds.after !== undefined) {
    const start = startAfter(out, key(bounds.after), whole);
    if (compareBytes(start.start, out.start) >= 0) out = start;
  }
  if (bounds.to !== undefined) out = endBefore(out, key(bounds.to));
  if (bounds.through !== undefined) {
    const end = endThrough(out, key(bounds.through), whole);
    if (end.end !== null && (out.end === null || compareBytes(end.end, out.end) < 0)) out = end;
  }
  return out;
}

/** Which rows of a scan are wanted, by the next argument. Without a bound there is no limit on its side. */
export interface Bounds<T> {
  /** The next argument is this or above. */
  readonly from?: T;
  /** The next argument is above this. */
  readonly after?: T;
  /** The next argument is below this. */
  readonly to?: T;
  /** The next argument is this or below. */
  readonly through?: T;
}

const F_SHORT = 1;

const F_TRAILING = 2;

const F_LITERAL = 3;

const F_BYTE = 4;

const F_LENGTH = 5;

const F_LEADING_ZERO = 6;

const F_RANGE = 7;

const F_SIGN = 8;

const F_UTF8 = 9;

const F_NOT_SHORTEST = 10;

const F_MISMATCH = 11;

const F_BECH32 = 12;

const F_FLOAT = 13;

const F_TIME = 14;

const F_DIFFERS = 15;

const F_NO_ALTERNATIVE = 16;

const F_LEFT_OUT = 17;

/** What is wrong with bytes, and where. */
class Fault {
  at: number;
  readonly code: number;
  readonly a: number | bigint;
  readonly b: number | string;

  constructor(at: number, code: number, a: number | bigint = 0, b: number | string = 0) {
    this.at = at;
    this.code = code;
    this.a = a;
    this.b = b;
  }
}

function bytesOf(count: number | bigint): string {
  return Number(count) === 1 ? '1 byte' : `${count} bytes`;
}

function reasonOf(f: Fault): string {
  switch (f.code) {
    case F_SHORT:
      return `ends ${bytesOf(f.a)} too soon`;
    case F_TRAILING:
      return `${bytesOf(f.a)} too many`;
    case F_LITERAL:
      return `${hexByte(Number(f.b))} where ${hexByte(Number(f.a))} belongs`;
    case F_BYTE:
      return `${hexByte(Number(f.a))} where ${f.b} belongs`;
    case F_LENGTH:
      return `a length of ${f.a} is not allowed`;
    case F_LEADING_ZERO:
      return 'a leading zero';
    case F_RANGE:
      return 'a number out of its range';
    case F_SIGN:
      return `sign byte ${hexByte(Number(f.a))}, but the number after it calls for ${hexByte(Number(f.b))}`;
    case F_UTF8:
      return 'not UTF-8';
    case F_NOT_SHORTEST:
      return 'a number written longer than it need be';
    case F_MISMATCH:
      return 'does not match what it is computed from';
    case F_BECH32:
      return 'not bech32 text with the right prefix, case and checksum';
    case F_FLOAT:
      return 'not a number, or a negative zero';
    case F_TIME:
      return 'no such date or time';
    case F_DIFFERS:
      return 'differs from the first copy of the argument';
    case F_LEFT_OUT:
      return 'a text that its domain leaves out';
    default:
      return 'no alternative begins like this';
  }
}

function tooShort(found: number, needed: number): Fault {
  return new Fault(found, F_SHORT, needed - found);
}

function tooLong(found: number, used: number): Fault {
  return new Fault(used, F_TRAILING, found - used);
}

function wrongWidth(found: number, width: number): Fault {
  return found < width ? tooShort(found, width) : tooLong(found, width);
}

/** The same fault in bytes that begin at `base`. */
function behind<T>(base: number, found: T | Fault): T | Fault {
  if (found instanceof Fault) found.at += base;
  return found;
}

/** The lengths that something may have: one of, or a range of which `max` -1 is no limit. */
interface Lengths {
  readonly min: number;
  readonly max: number;
  readonly oneOf?: readonly number[];
}

function admits(lens: Lengths, size: number): boolean {
  if (lens.oneOf !== undefined) return lens.oneOf.includes(size);
  return size >= lens.min && (lens.max < 0 || size <= lens.max);
}

function capped(lens: Lengths, size: number): number {
  return lens.max >= 0 && size > lens.max ? lens.max : size;
}

/** Refuses a length, where each element takes `scale` bytes. */
function lengthFault(lens: Lengths, size: number, scale: number): Fault | null {
  return admits(lens, size) ? null : new Fault(capped(lens, size) * scale, F_LENGTH, size);
}
