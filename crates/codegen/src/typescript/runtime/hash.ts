function sumCRC16(b: Uint8Array): bigint {
  let crc = 0;
  for (let i = 0; i < b.length; i++) {
    crc ^= b[i]! << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc & 0x8000) !== 0 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return BigInt(crc);
}

function sumCRC32(b: Uint8Array): bigint {
  let crc = 0xffffffff;
  for (let i = 0; i < b.length; i++) {
    crc ^= b[i]!;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) !== 0 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return BigInt((crc ^ 0xffffffff) >>> 0);
}

const XX_PRIME1 = 0x9e3779b185ebca87n;

const XX_PRIME2 = 0xc2b2ae3d27d4eb4fn;

const XX_PRIME3 = 0x165667b19e3779f9n;

const XX_PRIME4 = 0x85ebca77c2b2ae63n;

const XX_PRIME5 = 0x27d4eb2f165667c5n;

function asU64(v: bigint): bigint {
  return BigInt.asUintN(64, v);
}

function rotl64(v: bigint, by: bigint): bigint {
  return asU64(v << by) | (v >> (64n - by));
}

function le64(b: Uint8Array, at: number): bigint {
  return new DataView(b.buffer, b.byteOffset, b.byteLength).getBigUint64(at, true);
}

function le32(b: Uint8Array, at: number): bigint {
  return BigInt(new DataView(b.buffer, b.byteOffset, b.byteLength).getUint32(at, true));
}

function xxRound(lane: bigint, word: bigint): bigint {
  return asU64(rotl64(asU64(lane + word * XX_PRIME2), 31n) * XX_PRIME1);
}

function xxEnd(h: bigint): bigint {
  h = asU64((h ^ (h >> 33n)) * XX_PRIME2);
  h = asU64((h ^ (h >> 29n)) * XX_PRIME3);
  return h ^ (h >> 32n);
}

function xx64(b: Uint8Array, seed: bigint): bigint {
  let h = asU64(seed + XX_PRIME5);
  let at = 0;
  if (b.length >= 32) {
    const lanes = [asU64(seed + XX_PRIME1 + XX_PRIME2), asU64(seed + XX_PRIME2), seed, asU64(seed - XX_PRIME1)];
    for (; at + 32 <= b.length; at += 32) {
      for (let i = 0; i < 4; i++) lanes[i] = xxRound(lanes[i]!, le64(b, at + 8 * i));
    }
    h = asU64(rotl64(lanes[0]!, 1n) + rotl64(lanes[1]!, 7n) + rotl64(lanes[2]!, 12n) + rotl64(lanes[3]!, 18n));
    for (const lane of lanes) h = asU64((h ^ xxRound(0n, lane)) * XX_PRIME1 + XX_PRIME4);
  }
  h = asU64(h + BigInt(b.length));
  for (; at + 8 <= b.length; at += 8) h = asU64(rotl64(h ^ xxRound(0n, le64(b, at)), 27n) * XX_PRIME1 + XX_PRIME4);
  if (at + 4 <= b.length) {
    h = asU64(rotl64(h ^ asU64(le32(b, at) * XX_PRIME1), 23n) * XX_PRIME2 + XX_PRIME3);
    at += 4;
  }
  for (; at < b.length; at++) h = asU64(rotl64(h ^ asU64(BigInt(b[at]!) * XX_PRIME5), 11n) * XX_PRIME1);
  return xxEnd(h);
}

function twox64Of(b: Uint8Array): bigint {
  return xx64(b, 0n);
}

function sumTwox64(b: Uint8Array): Bytes {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setBigUint64(0, xx64(b, 0n), true);
  return out;
}

function sumTwox128(b: Uint8Array): Bytes {
  const out = new Uint8Array(16);
  const view = new DataView(out.buffer);
  view.setBigUint64(0, xx64(b, 0n), true);
  view.setBigUint64(8, xx64(b, 1n), true);
  return out;
}

const XX3_SECRET =
  'b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f' +
  'cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c' +
  '3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8' +
  'a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364' +
  'eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e' +
  '2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e';

const xx3Secret: { bytes: Bytes | null } = { bytes: null };

function xx3Word(at: number): bigint {
  xx3Secret.bytes ??= fromHex(XX3_SECRET);
  return le64(xx3Secret.bytes, at);
}

function xx3Fold(a: bigint, b: bigint): bigint {
  const product = a * b;
  return asU64(product) ^ (product >> 64n);
}

function xx3Avalanche(h: bigint): bigint {
  h = asU64((h ^ (h >> 37n)) * 0x165667919e3779f9n);
  return h ^ (h >> 32n);
}

function xx3Mix(b: Uint8Array, at: number, secret: number): bigint {
  return xx3Fold(le64(b, at) ^ xx3Word(secret), le64(b, at + 8) ^ xx3Word(secret + 8));
}

function swapped64(v: bigint): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, v);
  return view.getBigUint64(0, true);
}

function xx3Short(b: Uint8Array): bigint {
  const size = b.length;
  if (size > 8) {
    const lo = le64(b, 0) ^ xx3Word(24) ^ xx3Word(32);
    const hi = le64(b, size - 8) ^ xx3Word(40) ^ xx3Word(48);
    return xx3Avalanche(asU64(BigInt(size) + swapped64(lo) + hi + xx3Fold(lo, hi)));
  }
  if (size >= 4) {
    let h = asU64(le32(b, size - 4) + (le32(b, 0) << 32n)) ^ xx3Word(8) ^ xx3Word(16);
    h ^= rotl64(h, 49n) ^ rotl64(h, 24n);
    h = asU64(h * 0x9fb21c651e98df25n);
    h ^= asU64((h >> 35n) + BigInt(size));
    h = asU64(h * 0x9fb21c651e98df25n);
    return h ^ (h >> 28n);
  }
  if (size > 0) {
    const word = ((b[0]! << 16) | (b[size >> 1]! << 24) | b[size - 1]! | (size << 8)) >>> 0;
    return xxEnd(BigInt(word) ^ ((xx3Word(0) ^ xx3Word(4)) & 0xffffffffn));
  }
  return xxEnd(xx3Word(56) ^ xx3Word(64));
}

function xx3Accumulate(acc: bigint[], b: Uint8Array, at: number, secret: number): void {
  for (let i = 0; i < 8; i++) {
    const word = le64(b, at + 8 * i);
    const keyed = word ^ xx3Word(secret + 8 * i);
    acc[i ^ 1] = asU64(acc[i ^ 1]! + word);
    acc[i] = asU64(acc[i]! + (keyed & 0xffffffffn) * (keyed >> 32n));
  }
}

function xx3Long(b: Uint8Array): bigint {
  const acc = [0xc2b2ae3dn, XX_PRIME1, XX_PRIME2, XX_PRIME3, XX_PRIME4, 0x85ebca77n, XX_PRIME5, 0x9e3779b1n];
  const blocks = Math.floor((b.length - 1) / 1024);
  for (let block = 0; block < blocks; block++) {
    for (let i = 0; i < 16; i++) xx3Accumulate(acc, b, 1024 * block + 64 * i, 8 * i);
    for (let i = 0; i < 8; i++) acc[i] = asU64((acc[i]! ^ (acc[i]! >> 47n) ^ xx3Word(128 + 8 * i)) * 0x9e3779b1n);
  }
  const rest = Math.floor((b.length - 1 - 1024 * blocks) / 64);
  for (let i = 0; i < rest; i++) xx3Accumulate(acc, b, 1024 * blocks + 64 * i, 8 * i);
  xx3Accumulate(acc, b, b.length - 64, 121);
  let h = asU64(BigInt(b.length) * XX_PRIME1);
  for (let i = 0; i < 8; i += 2) h = asU64(h + xx3Fold(acc[i]! ^ xx3Word(11 + 8 * i), acc[i + 1]! ^ xx3Word(19 + 8 * i)));
  return xx3Avalanche(h);
}

function xx3Of(b: Uint8Array): bigint {
  const size = b.length;
  if (size <= 16) return xx3Short(b);
  if (size > 240) return xx3Long(b);
  let h = asU64(BigInt(size) * XX_PRIME1);
  if (size <= 128) {
    for (let i = (size - 1) >> 5; i >= 0; i--) {
      h = asU64(h + xx3Mix(b, 16 * i, 32 * i) + xx3Mix(b, size - 16 * (i + 1), 32 * i + 16));
    }
    return xx3Avalanche(h);
  }
  for (let i = 0; i < 8; i++) h = asU64(h + xx3Mix(b, 16 * i, 16 * i));
  h = xx3Avalanche(h);
  for (let i = 8; i < size >> 4; i++) h = asU64(h + xx3Mix(b, 16 * i, 16 * (i - 8) + 3));
  return xx3Avalanche(asU64(h + xx3Mix(b, size - 16, 119)));
}

function sumXXH3(b: Uint8Array): Bytes {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setBigUint64(0, xx3Of(b));
  return out;
}

const BLAKE_IV: readonly bigint[] = [
  0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
];

/** The order of the words in each round, a hex digit each. */
const BLAKE_SIGMA: readonly string[] = [
  '0123456789abcdef', 'ea489fd61c02b753', 'b8c052fdae367194', '7931dcbe265a40f8', '905724afe1bc683d',
  '2c6a0b834d75fe19', 'c51fed4a0763928b', 'db7ec13950f4862a', '6fe9b308c2d714a5', 'a2847615fb9e3cd0',
];

function blakeMix(v: bigint[], a: number, b: number, c: number, d: number, x: bigint, y: bigint): void {
  v[a] = asU64(v[a]! + v[b]! + x);
  v[d] = rotl64(v[d]! ^ v[a]!, 32n);
  v[c] = asU64(v[c]! + v[d]!);
  v[b] = rotl64(v[b]! ^ v[c]!, 40n);
  v[a] = asU64(v[a]! + v[b]! + y);
  v[d] = rotl64(v[d]! ^ v[a]!, 48n);
  v[c] = asU64(v[c]! + v[d]!);
  v[b] = rotl64(v[b]! ^ v[c]!, 1n);
}

function blakeBlock(h: bigint[], block: Uint8Array, total: number, last: boolean): void {
  const m: bigint[] = [];
  for (let i = 0; i < 16; i++) m.push(le64(block, 8 * i));
  const v = [...h, ...BLAKE_IV];
  v[12]! ^= BigInt(total);
  if (last) v[14]! ^= 0xffffffffffffffffn;
  for (let round = 0; round < 12; round++) {
    const sigma = BLAKE_SIGMA[round % 10]!;
    const word = (at: number): bigint => m[parseInt(sigma[at]!, 16)]!;
    for (let i = 0; i < 4; i++) blakeMix(v, i, 4 + i, 8 + i, 12 + i, word(2 * i), word(2 * i + 1));
    for (let i = 0; i < 4; i++) {
      blakeMix(v, i, 4 + ((i + 1) % 4), 8 + ((i + 2) % 4), 12 + ((i + 3) % 4), word(8 + 2 * i), word(9 + 2 * i));
    }
  }
  for (let i = 0; i < 8; i++) h[i]! ^= v[i]! ^ v[8 + i]!;
}

function blake2b(b: Uint8Array, size: number): Bytes {
  const h = [...BLAKE_IV];
  h[0]! ^= 0x01010000n ^ BigInt(size);
  let at = 0;
  for (; b.length - at > 128; at += 128) blakeBlock(h, b.subarray(at, at + 128), at + 128, false);
  const block = new Uint8Array(128);
  block.set(b.subarray(at));
  blakeBlock(h, block, b.length, true);
  const out = new Uint8Array(64);
  const view = new DataView(out.buffer);
  for (let i = 0; i < 8; i++) view.setBigUint64(8 * i, h[i]!, true);
  return out.slice(0, size);
}

function sumBlake2b128(b: Uint8Array): Bytes {
  return blake2b(b, 16);
}

function sumBlake2b256(b: Uint8Array): Bytes {
  return blake2b(b, 32);
}

function sumBlake2b224(b: Uint8Array): Bytes {
  return blake2b(b, 28);
}

/** The lower half of each constant, and the upper one. */
const KECCAK_ROUNDS = Int32Array.of(
  0x00000001, 0x00000000, 0x00008082, 0x00000000, 0x0000808a, 0x80000000, 0x80008000, 0x80000000,
  0x0000808b, 0x00000000, 0x80000001, 0x00000000, 0x80008081, 0x80000000, 0x00008009, 0x80000000,
  0x0000008a, 0x00000000, 0x00000088, 0x00000000, 0x80008009, 0x00000000, 0x8000000a, 0x00000000,
  0x8000808b, 0x00000000, 0x0000008b, 0x80000000, 0x00008089, 0x80000000, 0x00008003, 0x80000000,
  0x00008002, 0x80000000, 0x00000080, 0x80000000, 0x0000800a, 0x00000000, 0x8000000a, 0x80000000,
  0x80008081, 0x80000000, 0x00008080, 0x80000000, 0x80000001, 0x00000000, 0x80008008, 0x80000000,
);

/** Lanes are two words each, the lower half first. No lane is turned by a multiple of 32 bits. */
function keccakPermute(a: Int32Array): void {
  const c = new Int32Array(10);
  const b = new Int32Array(50);
  for (let round = 0; round < 48; round += 2) {
    for (let x = 0; x < 10; x++) c[x] = a[x]! ^ a[x + 10]! ^ a[x + 20]! ^ a[x + 30]! ^ a[x + 40]!;
    for (let x = 0; x < 10; x += 2) {
      const lo = c[(x + 2) % 10]!;
      const hi = c[(x + 3) % 10]!;
      const low = c[(x + 8) % 10]! ^ ((lo << 1) | (hi >>> 31));
      const high = c[(x + 9) % 10]! ^ ((hi << 1) | (lo >>> 31));
      for (let y = x; y < 50; y += 10) {
        a[y]! ^= low;
        a[y + 1]! ^= high;
      }
    }
    b[0] = a[0]!;
    b[1] = a[1]!;
    for (let x = 1, y = 0, t = 0; t < 24; t++) {
      const to = (2 * x + 3 * y) % 5;
      const by = (((t + 1) * (t + 2)) / 2) % 64;
      const from = 2 * (x + 5 * y);
      const lo = a[by < 32 ? from : from + 1]!;
      const hi = a[by < 32 ? from + 1 : from]!;
      b[2 * (y + 5 * to)] = (lo << (by & 31)) | (hi >>> (32 - (by & 31)));
      b[2 * (y + 5 * to) + 1] = (hi << (by & 31)) | (lo >>> (32 - (by & 31)));
      x = y;
      y = to;
    }
    for (let y = 0; y < 50; y += 10) {
      for (let x = 0; x < 10; x++) a[x + y] = b[x + y]! ^ (~b[((x + 2) % 10) + y]! & b[((x + 4) % 10) + y]!);
    }
    a[0]! ^= KECCAK_ROUNDS[round]!;
    a[1]! ^= KECCAK_ROUNDS[round + 1]!;
  }
}

function sumKeccak256(b: Uint8Array): Bytes {
  const padded = new Uint8Array((Math.floor(b.length / 136) + 1) * 136);
  padded.set(b);
  padded[b.length]! ^= 0x01;
  padded[padded.length - 1]! ^= 0x80;
  const words = new DataView(padded.buffer);
  const a = new Int32Array(50);
  for (let block = 0; block < padded.length; block += 136) {
    for (let i = 0; i < 34; i++) a[i]! ^= words.getInt32(block + 4 * i, true);
    keccakPermute(a);
  }
  const out = new Uint8Array(32);
  const view = new DataView(out.buffer);
  for (let i = 0; i < 8; i++) view.setInt32(4 * i, a[i]!, true);
  return out;
}

/** Which word of the block each step takes, a hex digit each: the left line, then the right one. */
const RIPEMD_WORDS: readonly string[] = [
  '0123456789abcdef74d1a6f3c0952eb83ae49f812706db5c' +
    '19ba08c4d37fe56240597c2ae138b6fd',
  '5e7092b4d6f81a3c6b370d5aef8c4912f5137e69b8c2a04d' +
    '86413bf05c2d97aecfa4158762de039b',
];

/** By how many bits each step turns. */
const RIPEMD_TURNS: readonly string[] = [
  'befc5879bdef6798768db97f7cf9b7dcbd67e9dfe8d65c75' +
    'bcefef989e56865c9f5b68dc5cdeb856',
  '899bdff5778beec69df7c89b77c76fdb97fb866ecd5edd75' +
    'f58bee6e69c9c5f885c9c5e68d65fdbb',
];

const RIPEMD_SUMS: readonly (readonly number[])[] = [
  [0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e],
  [0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0],
];

function ripemdMix(round: number, x: number, y: number, z: number): number {
  switch (round) {
    case 0:
      return x ^ y ^ z;
    case 1:
      return (x & y) | (~x & z);
    case 2:
      return (x | ~y) ^ z;
    case 3:
      return (x & z) | (y & ~z);
    default:
      return x ^ (y | ~z);
  }
}

/** RIPEMD-160 of SHA-256, whose 32 bytes are one block. */
function sumHash160(b: Uint8Array): Bytes {
  const block = new Uint8Array(64);
  block.set(sumSHA256(b));
  block[32] = 0x80;
  const words = new DataView(block.buffer);
  words.setUint32(56, 256, true);
  const h = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
  const lines = [0, 1].map((side) => {
    let v = h.slice();
    for (let step = 0; step < 80; step++) {
      const round = step >> 4;
      const word = words.getInt32(4 * parseInt(RIPEMD_WORDS[side]![step]!, 16), true);
      const mixed = ripemdMix(side === 0 ? round : 4 - round, v[1]!, v[2]!, v[3]!);
      const sum = (v[0]! + mixed + word + RIPEMD_SUMS[side]![round]!) | 0;
      const turned = (rotr32(sum, 32 - parseInt(RIPEMD_TURNS[side]![step]!, 16)) + v[4]!) | 0;
      v = [v[4]!, turned, v[1]!, rotr32(v[2]!, 22), v[3]!];
    }
    return v;
  });
  const out = new Uint8Array(20);
  const view = new DataView(out.buffer);
  for (let i = 0; i < 5; i++) {
    const sum = h[(i + 1) % 5]! + lines[0]![(i + 2) % 5]! + lines[1]![(i + 3) % 5]!;
    view.setInt32(4 * i, sum | 0, true);
  }
  return out;
}

function sipRounds(v: bigint[], count: number): void {
  for (let i = 0; i < count; i++) {
    v[0] = asU64(v[0]! + v[1]!);
    v[1] = rotl64(v[1]!, 13n) ^ v[0]!;
    v[0] = rotl64(v[0]!, 32n);
    v[2] = asU64(v[2]! + v[3]!);
    v[3] = rotl64(v[3]!, 16n) ^ v[2]!;
    v[0] = asU64(v[0]! + v[3]!);
    v[3] = rotl64(v[3]!, 21n) ^ v[0]!;
    v[2] = asU64(v[2]! + v[1]!);
    v[1] = rotl64(v[1]!, 17n) ^ v[2]!;
    v[2] = rotl64(v[2]!, 32n);
  }
}

function sumSiphash24(b: Uint8Array): Bytes {
  const v = [0x736f6d6570736575n, 0x646f72616e646f6dn, 0x6c7967656e657261n, 0x7465646279746573n];
  const padded = new Uint8Array((Math.floor(b.length / 8) + 1) * 8);
  padded.set(b);
  padded[padded.length - 1] = b.length & 0xff;
  for (let at = 0; at < padded.length; at += 8) {
    const word = le64(padded, at);
    v[3]! ^= word;
    sipRounds(v, 2);
    v[0]! ^= word;
  }
  v[2]! ^= 0xffn;
  sipRounds(v, 4);
  const out = new Uint8Array(8);
  new DataView(out.buffer).setBigUint64(0, v[0]! ^ v[1]! ^ v[2]! ^ v[3]!, true);
  return out;
}

/** The first bits of the fractions of the cube roots of the first primes. */
const SHA256_K =
  '428a2f9871374491b5c0fbcfe9b5dba53956c25b59f111f1923f82a4ab1c5ed5d807aa9812835b01243185be550c7dc3' +
  '72be5d7480deb1fe9bdc06a7c19bf174e49b69c1efbe47860fc19dc6240ca1cc2de92c6f4a7484aa5cb0a9dc76f988da' +
  '983e5152a831c66db00327c8bf597fc7c6e00bf3d5a7914706ca63511429296727b70a852e1b21384d2c6dfc53380d13' +
  '650a7354766a0abb81c2c92e92722c85a2bfe8a1a81a664bc24b8b70c76c51a3d192e819d6990624f40e3585106aa070' +
  '19a4c1161e376c082748774c34b0bcb5391c0cb34ed8aa4a5b9cca4f682e6ff3748f82ee78a5636f84c878148cc70208' +
  '90befffaa4506cebbef9a3f7c67178f2';

const SHA256_IV = '6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19';

function rotr32(v: number, by: number): number {
  return (v >>> by) | (v << (32 - by));
}

function sumSHA256(b: Uint8Array): Bytes {
  const padded = new Uint8Array((((b.length + 8) >> 6) + 1) << 6);
  padded.set(b);
  padded[b.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(b.length) * 8n);
  const k = new DataView(fromHex(SHA256_K).buffer);
  const out = fromHex(SHA256_IV);
  const h = new DataView(out.buffer);
  const w = new Int32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(block + 4 * i);
    for (let i = 16; i < 64; i++) {
      const [x, y] = [w[i - 15]!, w[i - 2]!];
      const s0 = rotr32(x, 7) ^ rotr32(x, 18) ^ (x >>> 3);
      const s1 = rotr32(y, 17) ^ rotr32(y, 19) ^ (y >>> 10);
      w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
    }
    const v = new Int32Array(8);
    for (let i = 0; i < 8; i++) v[i] = h.getInt32(4 * i);
    for (let i = 0; i < 64; i++) {
      const [a, e] = [v[0]!, v[4]!];
      const s1 = rotr32(e, 6) ^ rotr32(e, 11) ^ rotr32(e, 25);
      const t1 = (v[7]! + s1 + ((e & v[5]!) ^ (~e & v[6]!)) + k.getInt32(4 * i) + w[i]!) | 0;
      const s0 = rotr32(a, 2) ^ rotr32(a, 13) ^ rotr32(a, 22);
      const t2 = (s0 + ((a & v[1]!) ^ (a & v[2]!) ^ (v[1]! & v[2]!))) | 0;
      v.copyWithin(1, 0, 7);
      v[4] = (v[4]! + t1) | 0;
      v[0] = (t1 + t2) | 0;
    }
    for (let i = 0; i < 8; i++) h.setInt32(4 * i, (h.getInt32(4 * i) + v[i]!) | 0);
  }
  return out;
}

const BECH32_CHARACTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

/** The longest text whose checksum is worth something. */
const BECH32_MOST = 1023;

function bech32Value(c: number): number {
  return c < 0x80 ? BECH32_CHARACTERS.indexOf(String.fromCharCode(c)) : -1;
}

function bech32Step(sum: number, v: number): number {
  const top = sum >>> 25;
  let next = ((sum & 0x1ffffff) << 5) ^ v;
  const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
  for (let i = 0; i < 5; i++) if (((top >> i) & 1) === 1) next ^= generators[i]!;
  return next;
}

function bech32Head(hrp: string): number {
  let sum = 1;
  for (let i = 0; i < hrp.length; i++) sum = bech32Step(sum, hrp.charCodeAt(i) >> 5);
  sum = bech32Step(sum, 0);
  for (let i = 0; i < hrp.length; i++) sum = bech32Step(sum, hrp.charCodeAt(i) & 31);
  return sum;
}

function putBech32(w: Writer, b: Uint8Array, hrp: string, label: string): void {
  if (hrp.length + 1 + Math.floor((8 * b.length + 4) / 5) + 6 > BECH32_MOST) w.refuse(label, 'bech32 cannot hold this');
  let sum = bech32Head(hrp);
  let text = `${hrp}1`;
  const put = (v: number): void => {
    sum = bech32Step(sum, v);
    text += BECH32_CHARACTERS[v]!;
  };
  let word = 0;
  let count = 0;
  for (let i = 0; i < b.length; i++) {
    word = ((word << 8) | b[i]!) & 0xfff;
    count += 8;
    for (; count >= 5; count -= 5) put((word >> (count - 5)) & 31);
  }
  if (count > 0) put((word << (5 - count)) & 31);
  for (let i = 0; i < 6; i++) sum = bech32Step(sum, 0);
  sum ^= 1;
  for (let i = 5; i >= 0; i--) text += BECH32_CHARACTERS[(sum >> (5 * i)) & 31]!;
  putAscii(w, text);
}

function decodeBech32(n: Node, b: Uint8Array): unknown {
  const hrp = n.text!;
  for (let i = 0; i < hrp.length; i++) {
    if (i >= b.length) return tooShort(b.length, hrp.length);
    if (b[i] !== hrp.charCodeAt(i)) return new Fault(i, F_LITERAL, hrp.charCodeAt(i), b[i]!);
  }
  const head = hrp.length + 1;
  if (b.length < head) return tooShort(b.length, head);
  if (b[head - 1] !== 0x31) return new Fault(head - 1, F_LITERAL, 0x31, b[head - 1]!);
  let sum = bech32Head(hrp);
  for (let i = head; i < b.length; i++) {
    const v = bech32Value(b[i]!);
    if (v < 0) return new Fault(i, F_BYTE, b[i]!, 'a lower-case bech32 character');
    sum = bech32Step(sum, v);
  }
  if (b.length < head + 6) return tooShort(b.length, head + 6);
  if (b.length > BECH32_MOST) return tooLong(b.length, BECH32_MOST);
  const end = b.length - 6;
  if (sum !== 1) return new Fault(end, F_MISMATCH);
  const spare = ((end - head) * 5) % 8;
  const out: number[] = [];
  let word = 0;
  let count = 0;
  for (let i = head; i < end; i++) {
    word = ((word << 5) | bech32Value(b[i]!)) & 0xfff;
    count += 5;
    if (count < 8) continue;
    count -= 8;
    out.push((word >> count) & 0xff);
  }
  if (spare >= 5 || (word & ((1 << spare) - 1)) !== 0) return new Fault(end - 1, F_BECH32);
  return admits(n.lens!, out.length) ? Uint8Array.from(out) : new Fault(end, F_LENGTH, out.length);
}

function longestBech32(n: Node, b: Uint8Array): number {
  const head = `${n.text!}1`;
  let i = 0;
  while (i < head.length && i < b.length && b[i] === head.charCodeAt(i)) i++;
  if (i < head.length) return i;
  while (i < b.length && bech32Value(b[i]!) >= 0) i++;
  const max = n.lens!.max;
  return Math.min(i, BECH32_MOST, max < 0 ? BECH32_MOST : head.length + Math.floor((8 * max + 4) / 5) + 6);
}

const BASE58_CHARACTERS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** How many bytes are written as base58 text. */
const BASE58_MOST = 128;

/** How many characters that and a checksum take. */
const BASE58_TEXT = 181;

function base58Value(c: number): number {
  return c < 0x80 ? BASE58_CHARACTERS.indexOf(String.fromCharCode(c)) : -1;
}

function base58Check(b: Uint8Array): Bytes {
  return sumSHA256(sumSHA256(b)).slice(0, 4);
}

/** Digits of a number in another base, without the zeros in front, which are counted. */
function rebased(digits: readonly number[], from: number, to: number): { readonly zeros: number; readonly digits: number[] } {
  let zeros = 0;
  while (zeros < digits.length && digits[zeros] === 0) zeros++;
  const out: number[] = [];
  for (const digit of digits) {
    let carry = digit;
    for (let i = 0; i < out.length; i++) {
      carry += out[i]! * from;
      out[i] = carry % to;
      carry = Math.floor(carry / to);
    }
    for (; carry > 0; carry = Math.floor(carry / to)) out.push(carry % to);
  }
  return { zeros, digits: out.reverse() };
}

function putBase58(w: Writer, b: Uint8Array, check: boolean, label: string): void {
  if (b.length > BASE58_MOST) w.refuse(label, `a length of ${b.length} is not allowed`);
  const all = check ? [...b, ...base58Check(b)] : [...b];
  const { zeros, digits } = rebased(all, 256, 58);
  putAscii(w, '1'.repeat(zeros));
  putAscii(w, digits.map((digit) => BASE58_CHARACTERS[digit]!).join(''));
}

function base58Run(b: Uint8Array): number {
  let i = 0;
  while (i < b.length && base58Value(b[i]!) >= 0) i++;
  return i;
}

function decodeBase58(n: Node, b: Uint8Array): unknown {
  const run = base58Run(b);
  if (run < b.length) return new Fault(run, F_BYTE, b[run]!, 'a base58 character');
  if (b.length > BASE58_TEXT) return tooLong(b.length, BASE58_TEXT);
  const values: number[] = [];
  for (let i = 0; i < b.length; i++) values.push(base58Value(b[i]!));
  const { zeros, digits } = rebased(values, 58, 256);
  let out = Uint8Array.from([...new Array<number>(zeros).fill(0), ...digits]);
  if (n.counted === true) {
    if (out.length < 4) return tooShort(b.length, b.length + 1);
    const end = out.length - 4;
    if (compareBytes(base58Check(out.slice(0, end)), out.slice(end)) !== 0) return new Fault(0, F_MISMATCH);
    out = out.slice(0, end);
  }
  return out.length <= BASE58_MOST && admits(n.lens!, out.length) ? out : new Fault(0, F_LENGTH, out.length);
}

function longestBase58(n: Node, b: Uint8Array): number {
  const bytes = capped(n.lens!, BASE58_MOST) + (n.counted === true ? 4 : 0);
  return base58Run(b.subarray(0, Math.floor((bytes * 1366) / 1000) + 1));
}
