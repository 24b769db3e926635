const END_FIXED = 0;

const END_MARKED = 1;

const END_OPEN = 2;

const K_RECORD = 1;

const K_CHOICE = 2;

const K_OPTION = 3;

const K_LIST = 4;

const K_FRAMED = 5;

const K_DESC = 6;

const K_HASHED = 7;

const K_HASH_CONCAT = 8;

const LOSS_SATURATING = 1;

const LOSS_FIT = 2;

const LOSS_FLOAT_BADGER = 3;

const LOSS_ZERO = 4;

const LOSS_LOW = 5;

const LOSS_HIGH = 6;

const LOSS_INT_FLOAT = 7;

/** The shape of one argument: its codec, its domain, what is inside. A single value has no kind. */
interface Node {
  readonly kind?: number;
  readonly end: number;
  readonly min: number;
  readonly max: number;
  readonly decode?: (n: Node, b: Uint8Array) => unknown;
  readonly extent?: (n: Node, b: Uint8Array) => number | Fault;
  readonly longest?: (n: Node, b: Uint8Array) => number;
  readonly unframe?: (n: Node, b: Uint8Array) => Content | Fault;
  readonly bits?: number;
  readonly signed?: boolean;
  readonly least?: bigint;
  readonly most?: bigint;
  readonly upper?: boolean;
  readonly lens?: Lengths;
  readonly alphabet?: Alphabet;
  readonly first?: Alphabet;
  readonly except?: readonly string[];
  readonly text?: string;
  readonly inner?: Node;
  readonly seq?: Layout;
  readonly alts?: readonly Alternative[];
  /** Whether a choice is written as its label, since no alternative has arguments. */
  readonly labels?: boolean;
  /** Whether what an option holds is in an array, since it may be `null` itself. */
  readonly boxed?: boolean;
  readonly hash?: (b: Uint8Array) => Bytes;
  readonly keep?: number;
  readonly known?: readonly KnownName[];
  readonly sep?: string;
  readonly counted?: boolean;
  readonly form?: number;
  readonly loss?: number;
  readonly show?: string;
}

interface Alternative {
  readonly label: string;
  readonly seq: Layout;
}

interface KnownName {
  readonly digest: string;
  readonly name: string;
}

const S_LITERAL = 0;

const S_ARGUMENT = 1;

const S_SAME = 2;

const S_DERIVED = 3;

/** One segment of a layout. */
interface Step {
  readonly kind: number;
  readonly label: string;
  readonly lit?: string;
  readonly n?: Node;
  /** The property that an argument is called by. */
  readonly name?: string;
  readonly unnamed?: boolean;
  readonly of?: number;
  readonly from?: readonly number[];
  readonly derive?: (b: Uint8Array) => bigint;
  readonly modulus?: bigint;
  readonly tail?: readonly [number, number];
}

/** Segments in a row. */
export interface Layout {
  readonly plain: boolean;
  readonly steps: readonly Step[];
}

type Row = readonly unknown[];

type Properties = { readonly [name: string]: unknown };

function sameValue(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  if (isBytes(a)) return isBytes(b) && compareBytes(a, b) === 0;
  if (Array.isArray(a)) return Array.isArray(b) && sameAll(a, b);
  const names = Object.keys(a);
  const [x, y] = [a as Properties, b as Properties];
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(y, name) && sameValue(x[name], y[name]));
}

function sameAll(a: Row, b: Row): boolean {
  return a.length === b.length && a.every((value, i) => sameValue(value, b[i]));
}

function hasPrefix(b: Uint8Array, at: number, prefix: string): boolean {
  if (b.length - at < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (b[at + i] !== prefix.charCodeAt(i)) return false;
  return true;
}

function complemented(b: Uint8Array): Bytes {
  return Uint8Array.from(b, (byte) => byte ^ 0xff);
}

/** The arguments of a layout as properties. */
function propertiesOf(l: Layout, row: Row, kind?: string): Properties {
  const out: { [name: string]: unknown } = kind === undefined ? {} : { kind };
  let next = 0;
  for (const step of l.steps) if (step.kind === S_ARGUMENT) out[step.name!] = row[next++];
  return out;
}

/** The arguments of a layout in their order. */
function rowOf(l: Layout, of: unknown): unknown[] {
  return l.steps.filter((step) => step.kind === S_ARGUMENT).map((step) => (of as Properties)[step.name!]);
}

function choiceOf(n: Node, index: number, row: Row): unknown {
  const one = n.alts![index]!;
  return n.labels === true ? one.label : propertiesOf(one.seq, row, one.label);
}

function kindOf(v: unknown): unknown {
  return typeof v === 'object' && v !== null ? (v as Properties)['kind'] : v;
}

/** A sequence half read. */
interface RowState {
  readonly b: Uint8Array;
  readonly base: number;
  readonly limit: number;
  starts: number[];
  values: unknown[];
  readonly found: Row[];
  readonly dead: Set<number>;
}

/**
 * How many values of a step may be of use: one for each reading that is still wanted. A copy must come to the value of its
 * original, which is one of the first.
 */
function left(r: RowState, step: Step): number {
  return step.kind === S_SAME ? r.limit : r.limit - r.found.length;
}

/** Where an element of a list is. */
interface Place {
  readonly start: number;
  readonly end: number;
}

/** Whether something else is inside. */
function isComposite(n: Node): boolean {
  return n.seq !== undefined || n.alts !== undefined || n.inner !== undefined;
}

/** How many steps a search takes before it gives up. */
const MAX_STEPS = 1048576;

/** How deep a search goes. */
const MAX_DEPTH = 1024;

/** The most elements of no bytes in one list that are looked for. */
const MAX_BLANK = 4096;

/** Looks for readings of bytes, and keeps how far it got. */
class Search {
  steps = 0;
  depth = 0;
  far = -1;
  why: Fault = new Fault(0, F_NO_ALTERNATIVE);
  label = '';
  exhausted = false;

  fail(at: number, why: Fault, label: string): void {
    if (at <= this.far) return;
    this.far = at;
    this.why = why;
    this.label = label;
  }

  step(size: number): boolean {
    this.steps += 1 + (size >> 4);
    if (this.steps > MAX_STEPS) this.exhausted = true;
    return !this.exhausted;
  }

  refusal(family: string): KeyError {
    const reason = this.exhausted ? 'the layout allows too many splits of this key' : reasonOf(this.why);
    return new KeyError('decode', family, this.label, Math.max(this.far, 0), reason);
  }

  sequence(l: Layout, b: Uint8Array, base: number, limit: number): readonly Row[] {
    const r: RowState = { b, base, limit, starts: [], values: [], found: [], dead: new Set() };
    this.row(l, r, 0, 0);
    return r.found;
  }

  row(l: Layout, r: RowState, first: number, at: number): void {
    const starts = r.starts.length;
    const values = r.values.length;
    this.depth++;
    if (this.depth > MAX_DEPTH) this.exhausted = true;
    else this.run(l, r, first, at);
    this.depth--;
    r.starts.length = starts;
    r.values.length = values;
  }

  /** Goes on as long as each segment has one end and one value, and branches where it has more. */
  run(l: Layout, r: RowState, first: number, at: number): void {
    for (let index = first; index < l.steps.length; index++) {
      const step = l.steps[index]!;
      if (!this.step(0)) return;
      if (!l.plain) r.starts.push(at);
      if (step.kind === S_LITERAL) {
        if (!hasPrefix(r.b, at, step.lit!)) return this.literal(step.lit!, r.b.subarray(at), r.base + at, step.label);
        at += step.lit!.length;
        continue;
      }
      const n = step.n!;
      const rest = r.b.subarray(at);
      if (step.kind === S_DERIVED) {
        const width = this.derivedWidth(n, rest);
        if (width instanceof Fault) return this.fail(r.base + at + width.at, width, step.label);
        at += width;
        continue;
      }
      let end = r.b.length;
      if (n.end === END_FIXED) {
        if (n.min > rest.length) {
          return this.fail(r.base + r.b.length, new Fault(0, F_SHORT, n.min - rest.length), step.label);
        }
        end = at + n.min;
      } else if (n.end === END_MARKED) {
        const width = this.delimit(n, rest);
        if (width instanceof Fault) return this.fail(r.base + at + width.at, width, step.label);
        end = at + width;
      } else if (index + 1 < l.steps.length) {
        return this.branch(l, r, index, at);
      }
      const found = this.values(n, r.b.subarray(at, end), r.base + at, left(r, step), step.label);
      if (found.length === 0) return;
      if (found.length > 1) return this.goOn(l, r, index, at, end, found);
      if (!this.place(r, step, at, found[0])) return;
      at = end;
    }
    this.finish(l, r, at);
  }

  derivedWidth(n: Node, rest: Uint8Array): number | Fault {
    const width = n.end === END_FIXED ? n.min : n.extent!(n, rest);
    if (width instanceof Fault) return width;
    if (width > rest.length) return tooShort(rest.length, width);
    const v = n.decode!(n, rest.subarray(0, width));
    return v instanceof Fault ? v : width;
  }

  goOn(l: Layout, r: RowState, index: number, at: number, end: number, values: Row): void {
    for (const v of values) {
      const kept = r.values.length;
      if (this.place(r, l.steps[index]!, at, v)) this.row(l, r, index + 1, end);
      r.values.length = kept;
      if (r.found.length >= r.limit || this.exhausted) break;
    }
  }

  /** Keeps the value of a segment; false if it is a copy that differs from its original. */
  place(r: RowState, step: Step, at: number, v: unknown): boolean {
    if (step.kind !== S_SAME) {
      r.values.push(v);
      return true;
    }
    if (step.of! < r.values.length && sameValue(r.values[step.of!], v)) return true;
    this.fail(r.base + at, new Fault(0, F_DIFFERS), step.label);
    return false;
  }

  literal(lit: string, rest: Uint8Array, base: number, label: string): void {
    let size = 0;
    while (size < lit.length && size < rest.length && lit.charCodeAt(size) === rest[size]) size++;
    const fault =
      size < rest.length
        ? new Fault(0, F_LITERAL, lit.charCodeAt(size), rest[size]!)
        : new Fault(0, F_SHORT, lit.length - size);
    this.fail(base + size, fault, label);
  }

  finish(l: Layout, r: RowState, at: number): void {
    if (at !== r.b.length) {
      const label = l.steps[l.steps.length - 1]?.label ?? '';
      return this.fail(r.base + at, new Fault(0, F_TRAILING, r.b.length - at), label);
    }
    if (!l.plain && !this.derivedMatch(l, r)) return;
    if (!r.found.some((found) => sameAll(found, r.values))) r.found.push(r.values.slice());
  }

  derivedMatch(l: Layout, r: RowState): boolean {
    const piece = (index: number): Uint8Array => r.b.subarray(r.starts[index], r.starts[index + 1] ?? r.b.length);
    for (let index = 0; index < l.steps.length; index++) {
      const step = l.steps[index]!;
      if (step.kind !== S_DERIVED) continue;
      const joined: number[] = [];
      for (const of of step.from!) joined.push(...piece(of));
      const v = step.n!.decode!(step.n!, piece(index));
      const sum = step.derive!(Uint8Array.from(joined));
      const want = step.modulus === undefined ? sum : sum % step.modulus;
      if (v instanceof Fault || BigInt(v as number | bigint) !== want) {
        this.fail(r.base + r.starts[index]!, new Fault(0, F_MISMATCH), step.label);
        return false;
      }
    }
    return true;
  }

  /** Tries every end that an open segment may have. */
  branch(l: Layout, r: RowState, index: number, at: number): void {
    const step = l.steps[index]!;
    const n = step.n!;
    const following = l.steps[index + 1]!;
    const next = following.kind === S_LITERAL ? following.lit! : '';
    const rest = r.b.subarray(at);
    const [tailLeast, tailMost] = step.tail!;
    let reach = n.longest === undefined ? rest.length : n.longest(n, rest);
    if (n.max >= 0 && reach > n.max) reach = n.max;
    const most = Math.min(reach, Math.max(rest.length - tailLeast, 0));
    const least = tailMost >= 0 && rest.length - tailMost > n.min ? rest.length - tailMost : n.min;
    let tried = false;
    for (let size = least; size <= most; size++) {
      if (!hasPrefix(rest, size, next)) continue;
      tried = true;
      const place = (index + 1) * 4294967296 + at + size;
      if (r.dead.has(place)) continue;
      if (!this.step(size)) return;
      const before = r.found.length;
      const found = this.values(n, rest.subarray(0, size), r.base + at, left(r, step), step.label);
      this.goOn(l, r, index, at, at + size, found);
      if (r.found.length >= r.limit || this.exhausted) return;
      if (l.plain && found.length > 0 && r.found.length === before) r.dead.add(place);
    }
    if (tried) return;
    const stop = Math.min(reach, rest.length);
    let fault = new Fault(0, F_SHORT, Math.max(tailLeast, 1));
    if (stop < rest.length) {
      fault =
        next !== ''
          ? new Fault(0, F_LITERAL, next.charCodeAt(0), rest[stop]!)
          : new Fault(0, F_BYTE, rest[stop]!, 'a character of its alphabet');
    }
    this.fail(r.base + at + stop, fault, step.label);
  }

  /** The values of a shape that is exactly the bytes. */
  values(n: Node, b: Uint8Array, base: number, limit: number, label: string): Row {
    switch (n.kind) {
      case undefined: {
        const v = n.decode!(n, b);
        if (!(v instanceof Fault)) return [v];
        this.fail(base + v.at, v, label);
        return [];
      }
      case K_RECORD:
        return this.sequence(n.seq!, b, base, limit).map((row) => propertiesOf(n.seq!, row));
      case K_CHOICE:
        return this.choice(n, b, base, limit, label);
      case K_OPTION:
        return this.option(n, b, base, limit, label);
      case K_LIST:
        return this.list(n, b, base, limit, label);
      case K_FRAMED: {
        const found = n.unframe!(n, b);
        if (!(found instanceof Fault)) return this.values(n.inner!, found.content, base + found.skip, limit, label);
        this.fail(base + found.at, found, label);
        return [];
      }
      case K_DESC:
        return this.values(n.inner!, complemented(b), base, limit, label);
      case K_HASHED:
        if (b.length === n.keep) return [b.slice()];
        this.fail(base, new Fault(0, F_LENGTH, b.length), label);
        return [];
      default:
        return this.hashConcat(n, b, base, limit, label);
    }
  }

  hashConcat(n: Node, b: Uint8Array, base: number, limit: number, label: string): Row {
    const keep = n.keep!;
    if (b.length < keep) {
      this.fail(base + b.length, tooShort(b.length, keep), label);
      return [];
    }
    const content = b.subarray(keep);
    if (compareBytes(n.hash!(content).subarray(0, keep), b.subarray(0, keep)) !== 0) {
      this.fail(base, new Fault(0, F_MISMATCH), label);
      return [];
    }
    return this.values(n.inner!, content, base + keep, limit, label);
  }

  choice(n: Node, b: Uint8Array, base: number, limit: number, label: string): Row {
    const all: unknown[] = [];
    for (let i = 0; i < n.alts!.length && all.length < limit; i++) {
      for (const row of this.sequence(n.alts![i]!.seq, b, base, limit - all.length)) all.push(choiceOf(n, i, row));
    }
    if (all.length === 0 && b.length === 0) this.fail(base, new Fault(0, F_SHORT, 1), label);
    return all;
  }

  option(n: Node, b: Uint8Array, base: number, limit: number, label: string): Row {
    const all: unknown[] = b.length === 0 ? [null] : [];
    const inner = n.inner!;
    const fits = b.length >= inner.min && (inner.max < 0 || b.length <= inner.max);
    if (all.length < limit && fits) {
      const found = this.values(inner, b, base, limit - all.length, label);
      all.push(...(n.boxed === true ? found.map((v) => [v]) : found));
    }
    if (all.length === 0 && !fits) this.fail(base, new Fault(0, F_LENGTH, b.length), label);
    return all;
  }

  /** The lists that are exactly the bytes: depth first over the ends of the elements. */
  list(n: Node, b: Uint8Array, base: number, limit: number, label: string): Row {
    const counted = n.counted === true ? countAt(n.form!, b) : { size: 0, count: -1 };
    if (counted instanceof Fault) {
      this.fail(base + counted.at, counted, label);
      return [];
    }
    const { size: head, count } = counted;
    const fits = (size: number): boolean => admits(n.lens!, size) && (count < 0 || count === size);
    const most = count >= 0 ? count : n.lens!.max;
    const sep = n.sep ?? '';
    const all: unknown[][] = head === b.length && fits(0) ? [[]] : [];
    const places: (readonly Place[])[] = all.map(() => []);
    const values: unknown[] = [];
    const ends: Place[] = [];
    // Elements of no bytes are tried after all others, so that the search ends; -1 is after them.
    const blank = sep === '' && n.inner!.min === 0;
    const blanks = blank ? Math.min(most >= 0 ? most : Math.max(n.lens!.min, b.length + 1), b.length + MAX_BLANK) : 0;
    const first = blank ? 1 : 0;
    const before = [all.length];
    const dead = new Set<string>();
    let least = first;
    while (all.length < limit && this.step(0)) {
      const last = ends[ends.length - 1];
      const start = last === undefined ? head : last.end + sep.length;
      const place = blank ? `${start} ${values.length}` : '';
      const open = (most < 0 || values.length < most) && start <= b.length && least >= 0 && !dead.has(place);
      let found = open ? this.item(n, b, start, least, base, label) : null;
      if (found === null && open && values.length < blanks) {
        const none = this.values(n.inner!, b.subarray(0, 0), base + start, 1, label);
        if (none.length > 0) found = { end: start, value: none[0] };
      }
      if (found !== null) {
        ends.push({ start, end: found.end });
        values.push(found.value);
        least = first;
        if (found.end === b.length) {
          if (fits(values.length)) {
            all.push(values.slice());
            places.push(ends.slice());
          } else this.fail(base + start, new Fault(0, F_LENGTH, values.length), label);
        }
        before.push(all.length);
        continue;
      }
      if (before.pop() === all.length && blanks > 0) dead.add(place);
      if (last === undefined) break;
      ends.pop();
      values.pop();
      least = last.end === last.start && blanks > 0 ? -1 : last.end - last.start + 1;
    }
    if (all.length === 0 && b.length === head) this.fail(base + head, new Fault(0, F_LENGTH, 0), label);
    this.otherElements(n.inner!, b, base, limit, label, all, places);
    return all;
  }

  /**
   * Adds the lists with another reading of one element. Those with other readings of several would multiply, and one is enough
   * to show that there is another list.
   */
  otherElements(n: Node, b: Uint8Array, base: number, limit: number, label: string, all: unknown[][], places: readonly (readonly Place[])[]): void {
    const { far, why, label: where } = this;
    for (const [index, ends] of places.entries()) {
      if (!isComposite(n)) break;
      for (const [element, { start, end }] of ends.entries()) {
        const left = limit - all.length;
        if (left <= 0 || !this.step(end - start)) break;
        for (const other of this.values(n, b.subarray(start, end), base + start, left + 1, label).slice(1)) {
          const values = all[index]!.slice();
          values[element] = other;
          all.push(values);
        }
      }
    }
    this.far = far;
    this.why = why;
    this.label = where;
  }

  /** The next element at `start` that has at least `least` bytes. */
  item(n: Node, b: Uint8Array, start: number, least: number, base: number, label: string): { readonly end: number; readonly value: unknown } | null {
    const rest = b.subarray(start);
    const inner = n.inner!;
    let low = least;
    let high = rest.length;
    if (inner.end === END_OPEN) {
      if (inner.longest !== undefined) high = Math.min(high, inner.longest(inner, rest));
      if (inner.max >= 0) high = Math.min(high, inner.max);
      low = Math.max(low, inner.min);
    } else {
      const width = inner.end === END_MARKED ? this.delimit(inner, rest) : inner.min;
      if (width instanceof Fault) {
        this.fail(base + start + width.at, width, label);
        return null;
      }
      if (width > rest.length) this.fail(base + b.length, new Fault(0, F_SHORT, width - rest.length), label);
      if (width > rest.length || width < least) return null;
      low = width;
      high = width;
    }
    for (let size = low; size <= high; size++) {
      if (!this.step(size)) return null;
      if (size < rest.length && !hasPrefix(rest, size, n.sep ?? '')) continue;
      const found = this.values(inner, rest.subarray(0, size), base + start, 1, label);
      if (found.length > 0) return { end: start + size, value: found[0] };
    }
    return null;
  }

  /** How many bytes at the front belong to a shape that marks its own end. */
  delimit(n: Node, b: Uint8Array): number | Fault {
    switch (n.kind) {
      case K_RECORD:
        return this.delimitRecord(n.seq!, b);
      case K_LIST:
        return this.delimitList(n, b);
      case K_DESC:
        return this.delimit(n.inner!, complemented(b));
      case K_HASH_CONCAT: {
        if (b.length < n.keep!) return tooShort(b.length, n.keep!);
        const width = behind(n.keep!, this.delimit(n.inner!, b.subarray(n.keep!)));
        return width instanceof Fault ? width : width + n.keep!;
      }
      default:
        return n.extent!(n, b);
    }
  }

  delimitRecord(l: Layout, b: Uint8Array): number | Fault {
    let at = 0;
    for (const step of l.steps) {
      let width: number | Fault;
      if (step.kind === S_LITERAL) width = step.lit!.length;
      else if (step.n!.end === END_FIXED) width = step.n!.min;
      else width = behind(at, this.delimit(step.n!, b.subarray(at)));
      if (width instanceof Fault) return width;
      at += width;
      if (at > b.length) return tooShort(b.length, at);
    }
    return at;
  }

  delimitList(n: Node, b: Uint8Array): number | Fault {
    const counted = countAt(n.form!, b);
    if (counted instanceof Fault) return counted;
    let at = counted.size;
    for (let left = counted.count; left > 0; left--) {
      if (!this.step(0)) return new Fault(at, F_RANGE);
      const width = n.inner!.end === END_FIXED ? n.inner!.min : behind(at, this.delimit(n.inner!, b.subarray(at)));
      if (width instanceof Fault) return width;
      if (width > b.length - at) return new Fault(b.length, F_SHORT, width - (b.length - at));
      at += width;
    }
    return at;
  }
}

/** The first reading of bytes, or an error that says why there is none. */
function readKey(l: Layout, family: string, b: Uint8Array): unknown {
  const search = new Search();
  const row = search.sequence(l, b, 0, 1)[0];
  if (row === undefined) throw search.refusal(family);
  return propertiesOf(l, row);
}

/** The error of the layout that gets furthest with the bytes. */
function nearest(space: string, b: Uint8Array, layouts: readonly (readonly [string, Layout])[]): KeyError {
  let best: KeyError | null = null;
  for (const [family, layout] of layouts) {
    const search = new Search();
    search.sequence(layout, b, 0, 1);
    const error = search.refusal(family);
    if (best === null || error.offset > best.offset || (error.offset === best.offset && error.family < best.family)) best = error;
  }
  return best ?? new KeyError('decode', space, '', 0, 'no family makes this key');
}

/** What a value is read back as, where the encoding loses information. */
function canonical(n: Node, v: unknown): unknown {
  switch (n.loss) {
    case LOSS_SATURATING:
      return typeof v === 'bigint' ? (v < 0n ? 0n : v) : Math.max(Number(v), 0);
    case LOSS_LOW:
      return ranged(n, lowest(n, BigInt(v as number | bigint)));
    case LOSS_HIGH:
      return ranged(n, highest(n, BigInt(v as number | bigint)));
    case LOSS_INT_FLOAT:
      return ranged(n, intOfFloat(n, Number(v)));
    case LOSS_FIT: {
      const out = new Uint8Array(n.min);
      out.set((v as Uint8Array).subarray(0, n.min));
      return out;
    }
    case LOSS_FLOAT_BADGER:
      return badgerFloat(badgerBits(v as number | NanBits));
    case LOSS_ZERO:
      return v === 0 ? 0 : v;
  }
  switch (n.kind) {
    case undefined:
      // A zero with a sign is written as one without.
      return v === 0 ? 0 : v;
    case K_RECORD:
      return propertiesOf(n.seq!, canonicalRow(n.seq!, v));
    case K_CHOICE: {
      const one = n.alts!.find((one) => one.label === kindOf(v));
      return one === undefined || n.labels === true ? v : propertiesOf(one.seq, canonicalRow(one.seq, v), one.label);
    }
    case K_OPTION:
      if (v === null || v === undefined) return null;
      return n.boxed === true ? [canonical(n.inner!, (v as Row)[0])] : canonical(n.inner!, v);
    case K_LIST:
      return (v as Row).map((item) => canonical(n.inner!, item));
    case K_HASHED:
      return v;
    default:
      return canonical(n.inner!, v);
  }
}

function canonicalRow(l: Layout, of: unknown): unknown[] {
  const nodes = l.steps.filter((step) => step.kind === S_ARGUMENT).map((step) => step.n!);
  return rowOf(l, of).map((v, i) => canonical(nodes[i]!, v));
}

/** How many readings of its own a guard looks at. */
const GUARD_READINGS = 8;

/** Refuses bytes that can also be read as other arguments of the layout, or as one of the others. */
function guardKey(l: Layout, family: string, b: Uint8Array, of: unknown, own: boolean, others: readonly (readonly [string, Layout])[]): void {
  if (own) {
    const values = canonicalRow(l, of);
    for (const found of new Search().sequence(l, b, 0, GUARD_READINGS)) {
      if (!sameAll(found, values)) throw new KeyError('other-reading', family, '', -1, `can also be read as ${family}`);
    }
  }
  for (const [name, other] of others) {
    if (new Search().sequence(other, b, 0, 1).length > 0) {
      throw new KeyError('other-reading', family, '', -1, `can also be read as ${name}`);
    }
  }
}

/** The known name that a digest is of. */
function knownName(known: readonly KnownName[], digest: Uint8Array): string | undefined {
  return known.find((one) => one.digest.length === digest.length && hasPrefix(digest, 0, one.digest))?.name;
}

/** Digits without leading zeros that fit 64 bits. */
function decimal(b: Uint8Array): bigint | null {
  if (b.length === 0 || b.length > 20 || (b[0] === 0x30 && b.length > 1) || digitRun(b) < b.length) return null;
  const v = BigInt(latin(b));
  return v > WORD ? null : v;
}

/** A text of an alphabet; `null` if it is none. */
function textOf(b: Uint8Array, alphabet: Alphabet | null, first: Alphabet | null, lens: Lengths): string | null {
  if (!admits(lens, b.length) || (alphabet !== null && textRun(alphabet, first, b) < b.length)) return null;
  const text = fromUTF8(b);
  return text instanceof Fault ? null : text;
}

/** The first reading of bytes; `null` if there is none. */
function tryKey(l: Layout, b: Uint8Array): unknown {
  const row = new Search().sequence(l, b, 0, 1)[0];
  return row === undefined ? null : propertiesOf(l, row);
}
