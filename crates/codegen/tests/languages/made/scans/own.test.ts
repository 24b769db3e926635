import {
  decodeOtherKey,
  decodeSPool1_2,
  decodeSKey,
  encodePair,
  encodePairUnguarded,
  encodeSPool1_2,
  encodeSKey,
  encodeTick,
  encodeTickValue,
  fromHex,
  inRange,
  KeyError,
  nameByOwner,
  encodeSlotted,
  sPool1_2ByNew,
  slottedByNsSlot,
  type Range,
  type SKey,
  tickAll,
  tickByPool,
  tickLen,
  toHex,
} from './scans.js';

const load = (name: string): Promise<any> => import(name);
const [{ test }, assert] = await Promise.all(['node:test', 'node:assert/strict'].map(load));

const show = (range: Range): string => `${toHex(range.start)} ${range.end === null ? 'none' : toHex(range.end)}`;

/** The family of a key, which narrows its arguments. */
function about(key: SKey): string {
  switch (key.family) {
    case 's.tick':
      return `tick ${key.key.tick} of ${key.key.pool}`;
    case 's.name':
      return `name ${key.key.name}`;
    default:
      return key.family;
  }
}

function refused(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    return [error.kind, error.family, error.segment, error.offset, error.reason];
  }
}

test('scans and bounds', () => {
  assert.equal(show(tickAll()), '01 02');
  assert.equal(show(tickByPool(7n)), '010000000000000007 010000000000000008');
  const some = tickByPool(7n, { from: -1n, through: 0n });
  assert.equal(show(some), '01000000000000000705ffffffffffffffff 010000000000000007060000000000000001');
  assert.equal(show(tickByPool(7n, { after: -1n })), '01000000000000000706 010000000000000008');
  assert.equal(show(tickByPool(7n, { to: 0n })), '010000000000000007 010000000000000007060000000000000000');
  assert.equal(show(tickByPool(7n, { from: 3n, to: 1n })), '010000000000000007060000000000000003 010000000000000007060000000000000003');
  const ticks = [-2n, -1n, 0n, 1n].map((tick) => inRange(some, encodeTick({ pool: 7n, tick })));
  assert.deepEqual(ticks, [false, true, true, false]);
  const owner = Uint8Array.of(0xff, 0xff);
  assert.equal(show(nameByOwner(owner)), 'ffffff none');
  assert.equal(show(nameByOwner(owner, { through: 'b' })), 'ffffff ffffff6200');
  assert.equal(show(nameByOwner(owner, { after: 'b' })), 'ffffff6200 none');
  assert.equal(show(sPool1_2ByNew(5)), '0305 0306');
});

test('a derived part is scanned by its value', () => {
  const slot = slottedByNsSlot(7, 12739);
  assert.equal(show(slot), '050731c3 050731c4');
  // The check value of CRC-16/XMODEM is 31c3, which is 12739.
  const key = encodeSlotted({ ns: 7, user: Uint8Array.from([...'123456789'], (digit) => digit.charCodeAt(0)) });
  assert.ok(inRange(slot, key));
  assert.deepEqual(refused(() => slottedByNsSlot(7, 16384)), ['refused', 's.slotted', 'slot', -1, 'the number is out of its range']);
});

test('spaces, refusals and names', () => {
  const key = encodeTick({ pool: 7n, tick: -42n });
  assert.equal(key.length, tickLen);
  assert.equal(about(decodeSKey(key)), 'tick -42 of 7');
  assert.deepEqual(encodeSKey(decodeSKey(key)), key);
  assert.deepEqual(decodeOtherKey(Uint8Array.of(1)), { family: 'other.pool_1', key: {} });
  assert.deepEqual(decodeSPool1_2(encodeSPool1_2({ new: 1, class: 2 })), { new: 1, class: 2 });
  assert.equal(toHex(encodeTickValue({ value: { liquidity: 1n, fee: 2 } })), '000000000000000000000000000000010200');
  const found = refused(() => decodeSKey(key.subarray(0, 12)));
  assert.deepEqual(found, ['decode', 's.tick', 'tick', 12, 'ends 6 bytes too soon']);
  assert.deepEqual(refused(() => encodeTick({ pool: -1n, tick: 0n })), ['refused', 's.tick', 'pool', -1, 'the number is out of its range']);
  assert.deepEqual(refused(() => encodePair({ a: 'ab', b: 'c' })), ['other-reading', 's.pair', '', -1, 'can also be read as s.pair']);
  assert.equal(toHex(encodePairUnguarded({ a: 'ab', b: 'c' })), '04616263');
  // A number where a bigint belongs, as untyped code may have.
  assert.equal((refused(() => encodeTick({ pool: 1 as unknown as bigint, tick: 0n })) as unknown[])[2], 'pool');
});

test('bytes of another realm', async () => {
  const { runInNewContext } = await load('node:vm');
  const foreign = (hex: string): Uint8Array => runInNewContext(`Uint8Array.from(${JSON.stringify([...fromHex(hex)])})`);
  assert.ok(!(foreign('00') instanceof Uint8Array));
  const key = encodeTick({ pool: 1n, tick: 2n });
  assert.equal(about(decodeSKey(foreign(toHex(key)))), 'tick 2 of 1');
  assert.equal(toHex(encodeSlotted({ ns: 7, user: foreign('313233') })), toHex(encodeSlotted({ ns: 7, user: fromHex('313233') })));
  // What only looks like bytes is none.
  for (const wrong of [[1], new Uint16Array(2), new DataView(new ArrayBuffer(2)), { length: 1, 0: 1 }, 'ab', null]) {
    const user = wrong as unknown as Uint8Array;
    assert.deepEqual(refused(() => encodeSlotted({ ns: 7, user })), ['refused', 's.slotted', 'user', -1, 'not a Uint8Array']);
    assert.throws(() => decodeSKey(user), TypeError);
  }
});

test('bytes of a larger buffer, and of subclasses', () => {
  class Own extends Uint8Array {}
  const key = encodeTick({ pool: 1n, tick: 2n });
  const room = new Own(30);
  room.set(key, 5);
  assert.equal(about(decodeSKey(room.subarray(5, 5 + key.length))), 'tick 2 of 1');
});
