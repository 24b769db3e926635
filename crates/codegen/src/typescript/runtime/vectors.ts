type VectorStep = Layout['steps'][number];

type VectorNode = NonNullable<VectorStep['n']>;

/** A layout as the tests drive it. */
interface VectorPart {
  readonly layout: Layout;
  readonly encode: (key: unknown) => Bytes;
  readonly unguarded: (key: unknown) => Bytes;
  readonly decode: (key: Uint8Array) => unknown;
}

/** One line of a file of vectors. */
interface Vector {
  readonly part?: string;
  readonly scan?: string;
  /** How many lines there are, in the first. */
  readonly count?: number;
  readonly result: string;
  readonly args?: unknown;
  readonly hex?: string;
  readonly offset?: number;
  readonly segment?: string;
  readonly reason?: string;
  readonly derived?: string;
  readonly bound?: string;
  readonly start?: string;
  readonly end?: string;
}

function argsOf(l: Layout, json: unknown, body: boolean, kind?: string): unknown {
  const out: { [name: string]: unknown } = kind === undefined ? {} : { kind };
  for (const step of l.steps) {
    if (step.kind !== S_ARGUMENT) continue;
    const value = body && step.unnamed === true ? json : (json as { [name: string]: unknown })[step.label];
    out[step.name!] = argOf(step.n!, value);
  }
  return out;
}

function argOf(n: VectorNode, json: unknown): unknown {
  switch (n.kind) {
    case K_RECORD:
      return argsOf(n.seq!, json, true);
    case K_CHOICE: {
      const label = typeof json === 'string' ? json : Object.keys(json as object)[0]!;
      const one = n.alts!.find((one) => one.label === label);
      if (one === undefined) throw new Error(`there is no alternative ${label}`);
      if (n.labels === true) return label;
      return argsOf(one.seq, typeof json === 'string' ? {} : (json as { [name: string]: unknown })[label], true, label);
    }
    case K_OPTION:
      if (json === null) return null;
      return n.boxed === true ? [argOf(n.inner!, (json as unknown[])[0])] : argOf(n.inner!, json);
    case K_LIST:
      return (json as unknown[]).map((item) => argOf(n.inner!, item));
    case K_HASHED: {
      if (typeof json === 'object' && json !== null) return fromHex((json as { digest: string }).digest);
      const known = n.known!.find((one) => one.name === json);
      if (known === undefined) throw new Error('a digest is missing');
      return Uint8Array.from(known.digest, (c) => c.charCodeAt(0));
    }
    case K_FRAMED:
    case K_DESC:
    case K_HASH_CONCAT:
      return argOf(n.inner!, json);
  }
  return leafArg(n, json);
}

function leafArg(n: VectorNode, json: unknown): unknown {
  const text = String(json);
  switch (n.show) {
    case 'int':
      return n.bits! > 32 ? BigInt(text) : Number(text);
    case 'bool':
    case 'text':
      return json;
    case 'float': {
      if (typeof json === 'number') return json;
      if (!text.startsWith('bits:')) return text.startsWith('-') ? -Infinity : Infinity;
      const raw = BigInt(`0x${text.slice(5)}`);
      const view = new DataView(new ArrayBuffer(8));
      view.setBigUint64(0, raw);
      return (raw & 0x7fffffffffffffffn) > 0x7ff0000000000000n ? { nanBits: raw } : view.getFloat64(0);
    }
    case 'time':
      return BigInt(Date.parse(`${text.slice(0, 19)}Z`)) * 1000000n + BigInt(text.slice(20));
    case 'score': {
      const [a, b] = text.replace('@', '').split(/[./]/) as [string, string];
      if (text.startsWith('@')) return { kind: 'unconfirmed', seconds: BigInt(a), nanos: Number(b) };
      return { kind: 'confirmed', height: Number(a), index: BigInt(b) };
    }
    case 'nibbles':
      return Uint8Array.from(text, (digit) => parseInt(digit, 16));
    default:
      return fromHex(text);
  }
}

/** Runs what may throw a `KeyError`. */
function caught<T>(run: () => T): { readonly value?: T; readonly error?: KeyError } {
  try {
    return { value: run() };
  } catch (error) {
    if (error instanceof KeyError) return { error };
    throw error;
  }
}

/** The decoder of a whole space, and whether no two of its families may make the same bytes. */
interface VectorSpace {
  readonly decode: (key: Uint8Array) => { readonly family: string; readonly key: unknown };
  readonly disjoint: boolean;
}

type VectorParts = { readonly [path: string]: VectorPart };

type VectorSpaces = { readonly [path: string]: VectorSpace };

/** What is wrong with a key as one of its space; empty if nothing is. */
function spaceFault(path: string, bytes: Uint8Array, parts: VectorParts, space: VectorSpace | undefined): string {
  if (space === undefined) return '';
  const any = space.decode(bytes);
  if (space.disjoint && any.family !== path) return `read as a key of ${any.family}`;
  const made = parts[any.family]!.unguarded(any.key);
  return compareBytes(made, bytes) === 0 ? '' : `read as a key of ${any.family} that is ${toHex(made)}`;
}

/** The scans of a module as the tests drive them: by the arguments of a row and perhaps a derived part, and bounded by the next argument. */
type VectorScans = {
  readonly [words: string]: (key: unknown, bound: string | undefined, derived: string) => { readonly start: Uint8Array; readonly end: Uint8Array | null };
};

function boundsOf<T>(bound: string | undefined, next: T): { readonly from?: T; readonly after?: T; readonly to?: T; readonly through?: T } {
  switch (bound) {
    case 'from':
      return { from: next };
    case 'after':
      return { after: next };
    case 'to':
      return { to: next };
    case 'through':
      return { through: next };
  }
  return {};
}

/** What is wrong with the bounds of a scan; empty if nothing is. */
function scanFault(line: Vector, part: VectorPart, scans: VectorScans): string {
  const scan = scans[`${line.part!} ${line.scan!}`];
  if (scan === undefined) return 'there is no such scan';
  const args = argsOf(part.layout, line.args, false);
  const { value, error } = caught(() => scan(args, line.bound, line.derived ?? ''));
  if (line.result === 'refused') return error?.kind === 'refused' ? '' : 'not refused';
  if (value === undefined) return String(error);
  const end = value.end === null ? undefined : toHex(value.end);
  const same = toHex(value.start) === line.start && end === line.end;
  return same ? '' : `${toHex(value.start)} to ${end ?? 'the end'}`;
}

/** What is wrong with a line; empty if nothing is. */
function lineFault(line: Vector, part: VectorPart): string {
  const bytes = fromHex(line.hex ?? '');
  if (line.result === 'invalid') {
    const { error } = caught(() => part.decode(bytes));
    if (error === undefined || error.kind !== 'decode') return 'not refused';
    const same = error.offset === line.offset && error.segment === line.segment && error.reason === line.reason;
    return same ? '' : error.message;
  }
  const args = argsOf(part.layout, line.args, false);
  const made = caught(() => part.encode(args));
  if (line.result === 'refused') return made.error?.kind === 'refused' ? '' : 'not refused';
  if (line.result === 'guarded' && made.error?.kind !== 'other-reading') return 'not guarded';
  const written = part.unguarded(args);
  if (compareBytes(written, bytes) !== 0) return `made ${toHex(written)}`;
  if (line.result !== 'guarded' && (made.value === undefined || compareBytes(made.value, bytes) !== 0)) return String(made.error);
  if (line.result !== 'valid') return '';
  return sameValue(part.decode(bytes), args) ? '' : 'read as something else';
}

/** Whether a layout has bytes that are cut: what is read of them has another length, and may be no argument. */
function cuts(l: Layout): boolean {
  return l.steps.some((step) => step.n !== undefined && cutsInside(step.n));
}

function cutsInside(n: VectorNode): boolean {
  if (n.loss === LOSS_FIT || (n.alts ?? []).some((one) => cuts(one.seq))) return true;
  return (n.inner !== undefined && cutsInside(n.inner)) || (n.seq !== undefined && cuts(n.seq));
}

/** Damaged keys, some for each: what is read must be written as it was. */
function damageFault(part: VectorPart, bytes: Uint8Array): string {
  const step = Math.max(1, Math.floor(bytes.length / 4));
  for (let at = bytes.length - 1; at >= 0; at -= step) {
    const damaged = bytes.slice();
    damaged[at]! ^= [1, 0x80, 0xff, 0x20][at % 4]!;
    const { value } = caught(() => part.decode(damaged));
    if (value === undefined) continue;
    const { value: made } = caught(() => part.unguarded(value));
    if (made === undefined ? !cuts(part.layout) : compareBytes(made, damaged) !== 0) {
      return `${toHex(damaged)} is read as something that is written in another way`;
    }
  }
  return '';
}

function lineFaults(line: Vector, part: VectorPart, parts: VectorParts, space: VectorSpace | undefined, scans: VectorScans): string[] {
  if (line.scan !== undefined) return [scanFault(line, part, scans)];
  const faults = [lineFault(line, part)];
  const bytes = fromHex(line.hex ?? '');
  if (line.result !== 'refused') faults.push(damageFault(part, bytes));
  if (line.result === 'valid') faults.push(spaceFault(line.part!, bytes, parts, space));
  return faults;
}

async function runVectors(parts: VectorParts, spaces: VectorSpaces, scans: VectorScans): Promise<void> {
  // The names of modules are not known to the compiler, so that it needs no types of Node.
  const load = (name: string): Promise<any> => import(name);
  const [{ test }, assert, fs, path, url] = await Promise.all(['node:test', 'node:assert/strict', 'node:fs', 'node:path', 'node:url'].map(load));
  const here: string = path.dirname(url.fileURLToPath((import.meta as unknown as { readonly url: string }).url));
  const files = [path.join(here, 'testdata', 'keyplan.jsonl'), path.join(here, '..', 'testdata', 'keyplan.jsonl')];
  const file: string | undefined = files.find((name) => fs.existsSync(name));
  test('vectors', () => {
    assert.ok(file !== undefined, `there are no vectors: neither ${files.join(' nor ')} is there`);
    const faults: string[] = [];
    let count = 0;
    let wanted = 0;
    for (const [index, text] of fs.readFileSync(file, 'utf8').split('\n').entries()) {
      if (text === '') continue;
      const line: Vector = JSON.parse(text);
      if (line.part === undefined) {
        wanted = line.count ?? wanted;
        continue;
      }
      const part = parts[line.part];
      const found = part === undefined ? ['there is no such part'] : lineFaults(line, part, parts, spaces[line.part], scans);
      faults.push(...found.filter((fault) => fault !== '').map((fault) => `line ${index + 1}: ${fault}: ${text}`));
      count += 1;
    }
    assert.deepEqual(faults, []);
    assert.equal(count, wanted, 'lines are missing, or there are none');
  });
}
