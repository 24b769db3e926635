// Generated TypeScript beside what one would write with a DataView for the same layouts, with the same checks.
import { decodeTick, encodeTick } from './bench.js';

const LEAST = -(1n << 63n);
const MOST = (1n << 63n) - 1n;

function handTick(poolId, tick) {
  if (typeof poolId !== 'bigint' || poolId < 0n || poolId > 0xffffffffffffffffn) throw new RangeError('pool_id');
  if (typeof tick !== 'bigint' || tick < LEAST || tick > MOST) throw new RangeError('tick');
  const bytes = new Uint8Array(18);
  const view = new DataView(bytes.buffer);
  bytes[0] = 0x01;
  view.setBigUint64(1, poolId);
  bytes[9] = tick < 0n ? 5 : 6;
  view.setBigInt64(10, tick);
  return bytes;
}

function handReadTick(bytes) {
  if (bytes.length !== 18) throw new RangeError('a tick has 18 bytes');
  if (bytes[0] !== 0x01) throw new RangeError('byte 0 of a tick is 01');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const poolId = view.getBigUint64(1);
  const tick = view.getBigInt64(10);
  if (bytes[9] !== (tick < 0n ? 5 : 6)) throw new RangeError('byte 9 is not the sign of the tick');
  return { poolId, tick };
}

const quick = process.env.KEYPLAN_BENCH_QUICK !== undefined;
const [rounds, count] = quick ? [10, 40_000] : [40, 200_000];
const ticks = Array.from({ length: 1024 }, (_, i) => ({ poolId: BigInt(i * 7919), tick: BigInt(i * 104729) - 50_000_000n }));
const keys = ticks.map((tick) => encodeTick(tick));
let sink = 0;

const sides = {
  encodeOurs: (n) => {
    for (let i = 0; i < n; i++) sink += encodeTick(ticks[i & 1023])[17];
  },
  encodeHand: (n) => {
    for (let i = 0; i < n; i++) {
      const { poolId, tick } = ticks[i & 1023];
      sink += handTick(poolId, tick)[17];
    }
  },
  decodeOurs: (n) => {
    for (let i = 0; i < n; i++) sink += decodeTick(keys[i & 1023]).poolId > 0n ? 1 : 0;
  },
  decodeHand: (n) => {
    for (let i = 0; i < n; i++) sink += handReadTick(keys[i & 1023]).poolId > 0n ? 1 : 0;
  },
};

// In turns, and the best of each: what else runs on the machine makes single runs slower, and none faster.
const best = Object.fromEntries(Object.keys(sides).map((name) => [name, Infinity]));
for (let round = 0; round < rounds; round++) {
  for (const [name, side] of Object.entries(sides)) {
    const begun = process.hrtime.bigint();
    side(count);
    best[name] = Math.min(best[name], Number(process.hrtime.bigint() - begun) / count);
  }
}

function said(name, value, goal, bound, comparedWith) {
  console.log(JSON.stringify({ name, value, goal, bound, compared_with: comparedWith }));
}

const against = (ours, hand) => `with a DataView by hand and the same checks: ${ours.toFixed(1)} ns against ${hand.toFixed(1)} ns`;
said('TypeScript, ticks a second', 1e9 / best.encodeOurs, 2_000_000, 'at least', 'encoded in Node on one core');
said('TypeScript tick, encode ÷ by hand', best.encodeOurs / best.encodeHand, 1.5, 'at most', against(best.encodeOurs, best.encodeHand));
said('TypeScript tick, decode ÷ by hand', best.decodeOurs / best.decodeHand, 1.5, 'at most', against(best.decodeOurs, best.decodeHand));
if (sink === 0) console.error('nothing was made');
