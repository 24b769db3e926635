// The package under Node: `node --test` in the folder that `cargo xtask wasm` makes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlanError, load, toHex } from './keyplan.js';

const keyplan = await load();
const plan = 'plan demo; space cl { key tick = 0x01 pool: u64 tick: i64.tick9; }';
const flawed = 'plan p; space s { key k = a: text("a", 1..=3) b: text("a", 1..=3); }';

test('keys are made and read', () => {
  const key = keyplan.encode(plan, 'tick', { pool: 7n, tick: -100n });
  assert.equal(toHex(key), '01000000000000000705ffffffffffffff9c');
  assert.deepEqual(keyplan.decode(plan, key), { space: 'cl', family: 'cl.tick', args: { pool: '7', tick: '-100' } });
  assert.deepEqual(keyplan.explain(plan, key).readings[0].pieces.map((piece) => piece.label), ['tick', 'pool = 7', 'tick = -100']);
});

test('a flaw has its two keys and a repair that cures it', () => {
  const { findings } = keyplan.check(flawed, { repairs: true });
  assert.deepEqual(findings.map((finding) => finding.code), ['KP0002']);
  const [{ witness, repairs }] = findings;
  assert.equal(witness.first.hex, witness.second.hex);
  const { start, end, text } = repairs[0].edit;
  const cured = flawed.slice(0, start.offset) + text + flawed.slice(end.offset);
  assert.deepEqual(keyplan.check(cured).findings, []);
});

test('the fingerprint moves with the bytes and with nothing else', () => {
  const print = (text) => keyplan.check(text).fingerprint;
  assert.equal(print(keyplan.format(plan)), print(plan));
  assert.notEqual(print(plan.replace('0x01', '0x02')), print(plan));
});

test('what is refused says why', () => {
  assert.throws(() => keyplan.decode(plan, '02'), (error) => error instanceof PlanError && /no family/.test(error.message));
  assert.throws(() => keyplan.encode(plan, 'tock', {}), /the plan has no family `tock`/);
  assert.throws(() => keyplan.encode(flawed, 'k', { a: 'a', b: 'aa' }), /can also be read as/);
});

test('a large plan does not wear the memory out', () => {
  const families = Array.from({ length: 200 }, (_, n) => `key k${n} = 0x01 0x${n.toString(16).padStart(2, '0')} id: u64;`);
  const text = `plan p; space s { ${families.join(' ')} }`;
  for (let round = 0; round < 20; round += 1) assert.equal(keyplan.check(text).families, 200);
});
