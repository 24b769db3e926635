// Plans checked, keys made and read: functions around the module of WebAssembly beside this file.

/** Why a plan, a key or a request was refused. */
export class PlanError extends Error {
  constructor(message) {
    super(message);
    this.name = 'PlanError';
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The functions of a module that was instantiated. */
function functions({ memory, keyplan_request, keyplan_answer, keyplan_answered }) {
  const ask = (request) => {
    const bytes = encoder.encode(JSON.stringify(request));
    const place = keyplan_request(bytes.length);
    new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
    const length = keyplan_answer();
    const answer = JSON.parse(decoder.decode(new Uint8Array(memory.buffer, keyplan_answered(), length)));
    if (typeof answer.error === 'string') throw new PlanError(answer.error);
    return answer;
  };
  return {
    check: (text, options = {}) => ask({ do: 'check', text, ...options }),
    format: (text) => ask({ do: 'format', text }).text,
    encode: (text, family, args, options = {}) =>
      fromHex(ask({ do: 'encode', text, family, args: plain(args), ...options }).hex),
    decode: (text, key, options = {}) => ask({ do: 'decode', text, hex: toHex(key), ...options }),
    explain: (text, key, options = {}) => ask({ do: 'explain', text, hex: toHex(key), ...options }),
  };
}

/** Arguments as JSON has them: large integers as text, bytes as hex. */
function plain(value) {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return `0x${toHex(value)}`;
  if (Array.isArray(value)) return value.map(plain);
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
  }
  return value;
}

/** Bytes as hex digits; text is taken to be hex already. */
export function toHex(bytes) {
  if (typeof bytes === 'string') return bytes;
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Hex digits as bytes. */
export function fromHex(hex) {
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}

/**
 * Loads the module: from `source` if that is its bytes, a response or a compiled module, else from the file beside this one.
 */
export async function load(source) {
  return functions((await instantiate(source)).exports);
}

async function instantiate(source) {
  if (source instanceof WebAssembly.Module) return WebAssembly.instantiate(source, {});
  if (source instanceof Uint8Array || source instanceof ArrayBuffer) {
    return (await WebAssembly.instantiate(source, {})).instance;
  }
  const address = new URL('./keyplan.wasm', import.meta.url);
  if (source === undefined && address.protocol === 'file:') {
    const { readFile } = await import('node:fs/promises');
    return (await WebAssembly.instantiate(await readFile(address), {})).instance;
  }
  return (await WebAssembly.instantiateStreaming(source ?? fetch(address), {})).instance;
}
