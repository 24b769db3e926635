// Drives the explorer in Chromium. Each feature is a named step; the first that fails ends the run with a picture of the page.
import { createRequire } from 'node:module';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import assert from 'node:assert/strict';

const require = createRequire(join(process.env.MODULES, 'x.js'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const told = JSON.parse(process.env.EXPLORER);

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'], timeout: 180_000 });
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, bypassCSP: false });
await context.grantPermissions(['clipboard-read', 'clipboard-write']);
// As long as it takes: a slow machine is not a fault of the page.
const LONG = 180_000;
context.setDefaultTimeout(LONG);

const faults = [];
const hosts = new Set(Object.values(told).filter((url) => typeof url === 'string' && url.startsWith('http')).map((url) => new URL(url).host));
const page = await context.newPage();
const watch = (one) => {
  one.on('console', (message) => { if (['error', 'warning'].includes(message.type())) faults.push(`console: ${message.text()}`); });
  one.on('pageerror', (error) => faults.push(`page: ${error.message}`));
  one.on('request', (request) => { if (!hosts.has(new URL(request.url()).host)) faults.push(`request to ${request.url()}`); });
  one.on('dialog', (dialog) => { faults.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
};
watch(page);

let passed = 0;
async function feature(name, test) {
  try { await test(); } catch (error) {
    if (told.pictures) await page.screenshot({ path: join(told.pictures, 'failed.png') });
    console.error(`FAILED ${name} at ${page.url()}\n${error.stack ?? error}\n${faults.join('\n')}`);
    await browser.close();
    process.exit(1);
  }
  passed += 1;
}

const base = (url) => url.split('?')[0];
const shop = base(told.shop);
const at = async (query) => { await page.goto(`${shop}?${query}`); await settled(); };
const settled = async () => {
  await page.waitForFunction(() => document.querySelector('#nav .summary span') && !document.querySelector('#main[aria-busy]') && document.querySelector('#main h1, #main .empty'));
};
const counted = () => page.waitForFunction(() => !document.querySelector('#nav .spin') && document.querySelector('#nav .summary span'));
const text = (selector) => page.locator(selector).first().innerText();
const params = () => Object.fromEntries(new URL(page.url()).searchParams);
const wait = (check, value) => page.waitForFunction(check, value);

await feature('the first address lets the browser in and leaves no token behind', async () => {
  await page.goto(told.shop);
  await settled();
  assert.equal(page.url(), shop);
  await page.goto(told.readOnly);
  await page.goto(told.chain);
  await page.goto(told.slow);
  await page.goto(shop);
  await settled();
  await counted();
});

await feature('1 families are a tree with exact counts', async () => {
  const order = page.locator('a.family[data-family="orders.order"]');
  assert.match(await order.innerText(), /order/);
  assert.match(await order.locator('.count').innerText(), /^2\s100$/);
  assert.match(await text('#nav .summary'), /rows/);
  await order.click();
  await page.waitForSelector('#rows tbody tr');
  assert.equal(params().family, 'orders.order');
});

await feature('2 rows are a table with one column per argument', async () => {
  const heads = await page.locator('#rows thead th').allInnerTexts();
  assert.deepEqual(heads.slice(0, 4).map((head) => head.split('\n')[0]), ['customer', 'at', 'total', 'state']);
  assert.equal(await page.locator('#rows tbody tr').count(), 100);
  assert.match(await text('.foot'), /of 2\s100 exact/);
});

await feature('3 a lane, its cell and the line of the plan light up together', async () => {
  await page.locator('#rows tbody tr').first().locator('td').nth(1).click();
  await page.waitForSelector('#side .anatomy');
  await page.locator('#side .piece[data-arg="customer"]').hover();
  await wait(() => document.querySelector('#side .declaration .seg.hot')?.textContent.startsWith('customer'));
  assert.ok(await page.locator('#rows tr.chosen td[data-arg="customer"].hot').count() > 0);
  await page.locator('#side .declaration .seg[data-arg="at"]').hover();
  await wait(() => document.querySelector('#side .piece.hot')?.dataset.arg === 'at');
  await page.locator('#rows tr.chosen td[data-arg="customer"]').hover();
  await wait(() => document.querySelector('#side .piece.hot')?.dataset.arg === 'customer');
});

await feature('4 any notation of a key can be pasted, or a family typed', async () => {
  for (const typed of ['0x01000000070000000000000003', 'AQAAAAcAAAAAAAAAAw==', 'order customer=7 at=3']) {
    await page.keyboard.press('Escape');
    await page.locator('#q').fill('');
    await page.locator('#q').fill(typed);
    await page.locator('#q').press('Enter');
    await wait((key) => new URL(location).searchParams.get('key') === key, '01000000070000000000000003');
    await wait(() => document.querySelector('#side .args-list')?.textContent.includes('7'));
  }
  await page.locator('#q').fill('rank');
  await page.waitForSelector('#found .hit');
  await page.locator('#q').press('Enter');
  await wait(() => new URL(location).searchParams.get('family') === 'things.ranking');
  await page.locator('#q').fill('7f07');
  await page.locator('#q').press('Enter');
  await page.waitForSelector('#side .unread-key');
});

await feature('5 unread keys are grouped by the byte where they break', async () => {
  await at('v=unread');
  await wait(() => document.querySelectorAll('.group').length === 2 && !document.querySelector('#main .progress'));
  const groups = await page.locator('.group').allInnerTexts();
  assert.ok(groups.some((group) => /7 keys/.test(group) && /byte 0/.test(group)), groups.join());
  assert.ok(groups.some((group) => /5 keys/.test(group) && /orders.order/.test(group)), groups.join());
  await page.locator('.group-head a').first().click();
  await page.waitForSelector('#rows tbody tr');
  assert.equal(await page.locator('#rows tbody tr').count(), 7);
  await page.locator('#rows tbody tr a.open').first().click();
  await page.waitForSelector('#side .piece.bad');
});

await feature('6 keys with two readings show both', async () => {
  await at('v=several');
  await page.waitForSelector('.group');
  await page.locator('.examples a').first().click();
  await page.waitForSelector('#side .reading');
  assert.equal(await page.locator('#side .reading').count(), 2);
  assert.match(await text('#side .warn'), /2/);
});

await feature('7 scans are those that are declared, each with its proof', async () => {
  await at('family=orders.order');
  assert.deepEqual(await page.locator('#scan option').allInnerTexts(), ['all', 'by customer in order']);
  await page.locator('#scan').selectOption({ label: 'by customer in order' });
  await page.locator('.field input').first().fill('7');
  await page.locator('.field input').nth(1).fill('10');
  await page.locator('.field input').nth(2).fill('15');
  await page.keyboard.press('Enter');
  await wait(() => document.querySelectorAll('#rows tbody tr').length === 5);
  // One argument has one colour: its range, and its bytes in every row.
  const hue = (all) => all.map((one) => [...one.classList].find((name) => /^c\d$/.test(name)));
  const [range, lanes] = [await page.locator('.field').evaluateAll(hue), await page.locator('#rows tbody tr:first-child .lane.argument').evaluateAll(hue)];
  assert.deepEqual(range, [lanes[0], lanes[1], lanes[1]]);
  assert.match(await text('.proofs'), /proved/);
  await at('family=orders.name');
  assert.match(await text('.proofs .mark'), /refuted/);
  await page.locator('.proofs details summary').first().click();
  assert.ok(await page.locator('.proofs .overlay .strip').count() >= 2);
});

await feature('8 a value is decoded beside its raw bytes', async () => {
  await at('family=orders.comment&limit=500');
  await page.locator('#rows tbody tr').first().locator('a.open').click();
  await page.waitForSelector('#side .values li');
  assert.match(await text('#side .value-pane'), /json/i);
  await page.locator('#side .value-pane summary', { hasText: 'raw bytes' }).click();
  assert.match(await text('#side .raw pre'), /000000/);
  // The bytes and their text are both in sight.
  assert.ok(await page.locator('#side .raw pre').evaluate((pre) => pre.scrollWidth <= pre.clientWidth));
  await page.locator('#side .values li').last().hover();
  await wait(() => document.querySelectorAll('#side .raw .hot').length > 0);
  await page.locator('#side .value-head select').selectOption('cbor');
  await page.waitForSelector('#side .value-pane .problem, #side .value-pane .values');
  assert.equal(params().as, 'cbor');
});

await feature('9 bytes by family and by argument are a map', async () => {
  await at('');
  await counted();
  await page.waitForSelector('.map .tile');
  const tile = page.locator('.map .tile').first();
  assert.match(await tile.getAttribute('title'), /orders\.file: 16\.0/);
  await at('v=facets&family=orders.order');
  await page.waitForSelector('.map .tile');
  assert.equal(await page.locator('.map .tile').count(), 20);
});

await feature('18 the values of an argument: top, least, greatest, distinct', async () => {
  const stats = await page.locator('.stat').allInnerTexts();
  assert.deepEqual(stats.map((stat) => stat.replace(/\s+/g, ' ').trim()), ['2 100 rows', '20 distinct', '1 least', '20 greatest']);
  await page.locator('#main table a', { hasText: /^20$/ }).click();
  await wait(() => document.querySelector('.foot')?.textContent.includes('100 rows'));
  assert.equal(params()['a.customer'], '20');
});

await feature('10 two nodes are compared by family and field', async () => {
  await page.keyboard.press('d');
  await page.waitForSelector('#main form.scan select[name="b"]');
  await page.locator('#main form.scan button').click();
  await page.waitForSelector('.diff-family');
  const found = await text('.diff-family');
  assert.match(found, /\+1\s*−1\s*≠1/);
  assert.match(found, /total: 100 → 77/);
});

await feature('11 checksums tell which family is not the same', async () => {
  await page.getByRole('button', { name: 'Sum every family' }).click();
  await page.waitForSelector('tr.changed td:has-text("not the same")');
  const rows = await page.locator('[aria-label="Checksums"] tbody tr').allInnerTexts();
  assert.ok(rows.some((row) => /orders\.order/.test(row) && /not the same/.test(row)), rows.join('\n'));
  assert.ok(rows.some((row) => /orders\.comment/.test(row) && /\bsame\b/.test(row) && !/not the same/.test(row)), rows.join('\n'));
});

await feature('12 an address is a state, back works, and every page is JSON', async () => {
  await at('family=orders.order&scan=1&a.customer=7&rev=1&key=01000000070000000000000045&space=orders');
  await page.waitForSelector('#side .anatomy');
  assert.equal(await page.locator('#rows tr.chosen').count(), 1);
  assert.equal(await page.locator('.field input').first().inputValue(), '7');
  await page.keyboard.press('Escape');
  await wait(() => !new URL(location).searchParams.has('key'));
  await page.goBack();
  await page.waitForSelector('#side .anatomy');
  assert.equal(await page.locator('#rows tr.chosen').count(), 1);
  const json = await page.evaluate(async () => (await fetch('api/rows?family=orders.order&limit=2')).json());
  assert.equal(json.rows.length, 2);
});

await feature('13 everything can be done with the keyboard', async () => {
  await at('family=orders.order');
  await page.keyboard.press('?');
  await page.waitForSelector('dialog[open] .keys');
  assert.ok(await page.locator('dialog .keys dt').count() >= 20);
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await wait(() => document.querySelectorAll('#rows tbody tr')[1].classList.contains('chosen'));
  await page.keyboard.press('k');
  await wait(() => document.querySelectorAll('#rows tbody tr')[0].classList.contains('chosen'));
  await page.keyboard.press('n');
  await wait(() => new URL(location).searchParams.has('after') && document.querySelector('#rows') && !document.querySelector('#before').disabled);
  await page.keyboard.press('p');
  await wait(() => new URL(location).searchParams.has('before') && !document.querySelector('#main[aria-busy]'));
  await page.keyboard.press('r');
  await wait(() => document.querySelector('#rows td')?.textContent === '20');
  await page.keyboard.press('J');
  await wait(() => new URL(location).searchParams.get('family') === 'orders.name');
  for (const [key, view] of [['u', 'unread'], ['2', 'several'], ['l', 'plan'], ['d', 'diff']]) {
    await page.keyboard.press(key);
    await wait((view) => new URL(location).searchParams.get('v') === view, view);
  }
  await page.keyboard.press('/');
  await wait(() => document.activeElement.id === 'q');
  await page.keyboard.press('Escape');
});

await feature('16 one key over the heights of a chain', async () => {
  const chain = base(told.chain);
  await page.goto(`${chain}?family=cl.pool`);
  await page.waitForSelector('#rows tbody tr');
  assert.ok(await page.locator('#height option').count() >= 3);
  await page.keyboard.press('j');
  await page.waitForSelector('#side .anatomy');
  await page.keyboard.press('h');
  await page.waitForSelector('#side .history li');
  assert.match(await text('#side .history'), /height/);
  await page.locator('#height').selectOption('3');
  await wait(() => new URL(location).searchParams.get('height') === '3');
});

await feature('17 bytes that the height does not need', async () => {
  await page.goto(base(told.chain));
  await page.getByRole('button', { name: 'Count them' }).click();
  await page.waitForSelector('#main section table tbody tr');
  assert.match(await text('#main section table'), /concentratedliquidity/);
});

await feature('heights of a chain are compared', async () => {
  await page.goto(`${base(told.chain)}?v=diff&a=0@4&b=0@5`);
  await page.waitForSelector('.diff-family');
});

await feature('two sides of a comparison can be told apart, and long names by both ends', async () => {
  const sides = await page.locator('#main form.scan select[name="b"] option').allInnerTexts();
  assert.ok(sides.includes('height 5 of application.db'), sides.join());
  const found = await page.evaluate(async () => {
    const { apart } = await import('./assets/compare.js');
    const { both, tail } = await import('./assets/dom.js');
    return [apart(['/data/a/app.db', '/data/b/app.db']), apart(['/data/app.db']), tail('/var/lib/node/app.db'), tail('node1'), [...both('next_global_incentive_record_id').children].map((part) => part.textContent)];
  });
  assert.deepEqual(found, [['a/app.db', 'b/app.db'], ['app.db'], '…/node/app.db', 'node1', ['next_global_incentive_', 'record_id']]);
});

await feature('14 keys and values are shown though they are large', async () => {
  await at('family=orders.file&key=040001&space=orders');
  await page.waitForSelector('#side .raw pre');
  assert.match(await text('#side .value-head'), /16\s777\s216 bytes/);
  await page.locator('#side .value-pane button', { hasText: 'show more' }).click();
  await wait(() => document.querySelectorAll('#side .raw pre').length === 2);
});

await feature('structures: a sorted set by score, and what waits, is held and has failed in a queue', async () => {
  await at('family=things.ranking');
  await page.locator('#rows a.open').first().click();
  await page.waitForSelector('#side .structure table');
  const scores = await page.locator('#side .structure tbody tr').allInnerTexts();
  assert.deepEqual(scores.map((row) => row.split(/\s/)[0]), ['10', '20.5', '30']);
  await at('family=things.jobs');
  await page.locator('#rows a.open').first().click();
  await page.waitForSelector('#side .queue');
  const queues = (await page.locator('#side .queue h4').allInnerTexts()).map((one) => one.trim());
  assert.deepEqual(queues, ['Waits 4', 'Is held 1', 'Has failed 1']);
  await at('family=things.profile');
  await page.locator('#rows a.open').first().click();
  await wait(() => document.querySelector('#side .structure')?.textContent.includes('a@b.example'));
});

await feature('19 copy as', async () => {
  await at('family=orders.order&scan=1&a.customer=7&limit=2');
  const copied = () => page.evaluate(() => document.body.dataset.copied);
  for (const [form, expected] of [['csv', /^key,customer,at,value\.total/], ['markdown', /^\| key \|/], ['json', /^\[/], ['command', /^keyplan db scan node1 orders\.order customer=7/]]) {
    await page.evaluate(() => delete document.body.dataset.copied);
    await page.locator('.builder select.copy').selectOption(form);
    await wait(() => document.body.dataset.copied);
    assert.match(await copied(), expected);
    await page.evaluate(() => document.getElementById('dialog').close());
  }
  await page.locator('#rows a.open').first().click();
  await page.waitForSelector('#side select.copy');
  for (const [form, expected] of [['hex', /^0100000007/], ['rust', /let key: \[u8; 13\]/], ['go', /key := \[\]byte/], ['command', /^keyplan db get node1 orders\.order customer=7 at=0/]]) {
    await page.evaluate(() => delete document.body.dataset.copied);
    await page.locator('#side select.copy').selectOption(form);
    await wait(() => document.body.dataset.copied);
    assert.match(await copied(), expected);
    await page.evaluate(() => document.getElementById('dialog').close());
  }
});

await feature('20 notes and saved scans are text beside the plan', async () => {
  await at('v=notes');
  assert.match(await text('.saved'), /customer 7/);
  await at('family=orders.order&scan=1&a.customer=9');
  await page.keyboard.press('o');
  await page.locator('#note-name').fill('customer nine');
  await page.keyboard.press('Enter');
  await wait(() => !document.getElementById('dialog').open);
  assert.match(readFileSync(join(told.plan, '../keyplan.notes'), 'utf8'), /customer nine/);
  await at('v=notes');
  await page.locator('.saved a', { hasText: 'customer nine' }).click();
  await wait(() => new URL(location).searchParams.get('a.customer') === '9');
});

await feature('the plan: what is proved, findings with both keys, numbers that are free', async () => {
  await at('v=plan');
  assert.ok(await page.locator('table.proof tbody tr').count() >= 6);
  assert.ok(await page.locator('.finding, .claim').count() > 0);
  assert.match(await page.locator('.allotment figcaption').allInnerTexts().then((all) => all.join()), /orders\.stock after 10, 240 of 256 numbers are free/);
});

await feature('what if: a changed plan is proved and read anew as it is typed', async () => {
  const area = page.locator('#plan-text');
  const now = await area.inputValue();
  await area.fill(now.replace('module stock', 'key odd = 0x7f n: u8;\n    module stock'));
  await page.waitForSelector('.trial .reads');
  await wait(() => document.querySelector('.trial')?.textContent.includes('7 of 7 examples are read now'));
  await page.getByRole('button', { name: 'Count all rows under it' }).click();
  await wait(() => document.querySelector('.trial .counted')?.textContent.includes('5 unread'));
  await area.fill(now.replace('space orders {', 'space orders { key'));
  await page.waitForSelector('.trial .problem');
  await area.fill(now.replace('module stock', 'key odd = 0x7f n: u8;\n    module stock'));
  await page.waitForSelector('.trial .reads');
  await page.getByRole('button', { name: 'Save' }).click();
  await wait(() => document.querySelector('a.family[data-family="orders.odd"]'));
  assert.match(readFileSync(told.plan, 'utf8'), /key odd = 0x7f/);
});

await feature('the page of a server that writes nothing has no way to save', async () => {
  await page.goto(`${base(told.readOnly)}?v=plan`);
  await page.waitForSelector('#plan-text');
  await page.locator('#plan-text').fill('plan shop; space orders { key all = b: bytes; }');
  await page.waitForSelector('.trial p');
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
  const refused = await page.evaluate(async () => (await fetch('api/write-plan', { method: 'POST', body: 'plan p;', headers: { 'x-keyplan': '1' } })).status);
  assert.equal(refused, 400);
  // The answer itself is what was wanted, and the browser says so in its console.
  faults.splice(0, faults.length, ...faults.filter((fault) => !/status of 400/.test(fault)));
});

await feature('a draft is offered for unread keys', async () => {
  await page.goto(`${base(told.readOnly)}?v=unread`);
  await page.getByRole('button', { name: 'Draft families' }).click();
  await wait(() => document.querySelector('.draft pre')?.textContent.includes('plan draft'));
});

await feature('what is hostile stays text', async () => {
  await at('family=orders.comment');
  const cells = await page.locator('#rows tbody td:first-child').allInnerTexts();
  assert.equal(cells.length, told.hostile.length);
  assert.ok(cells.includes('<script>window.hostile = 1</script>'), cells.join('\n'));
  assert.ok(!cells.some((cell) => /[\u202e\u2066\u001b]/.test(cell)), cells.join('\n'));
  for (let row = 0; row < cells.length; row += 1) {
    const shown = page.waitForResponse((response) => response.url().includes('/api/key?'));
    await page.locator('#rows tbody tr').nth(row).locator('a.open').click();
    await (await shown).finished();
    await page.waitForSelector('#side .values li');
  }
  assert.equal(await page.evaluate(() => window.hostile), undefined);
  assert.equal(await page.locator('#main script, #side script, #main img, #side img, #main svg').count(), 0);
  await page.goto(`${shop}?family=${encodeURIComponent('<img src=x onerror=window.hostile=9>')}&key=${encodeURIComponent('"><script>')}`);
  await page.waitForSelector('#main .problem');
  assert.equal(await page.evaluate(() => window.hostile), undefined);
  faults.splice(0, faults.length, ...faults.filter((fault) => !/status of 40[04]/.test(fault)));
});

await feature('light and dark, wide and narrow, without violations', async () => {
  const views = ['', 'family=orders.order&key=01000000070000000000000003&space=orders', 'v=unread', 'v=several', 'v=plan', 'v=facets&family=orders.order', 'v=diff&a=0&b=1', 'v=notes', 'family=orders.name'];
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const view of views) {
      await at(view);
      await counted();
      // What is drawn after the answers came: jobs that have ended, and the tiles of a map.
      await wait(() => !document.querySelector('#main .progress') && [...document.querySelectorAll('.map')].every((map) => map.querySelector('.tile')));
      await page.evaluate(axe);
      const found = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ['violations'] })).violations
        .map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 4).map((node) => `${node.target.join(' ')} ${node.any?.[0]?.message ?? ''}`).join(' | ')}`));
      assert.deepEqual(found, [], `${scheme} ${view}`);
    }
  }
  await page.setViewportSize({ width: 400, height: 800 });
  await at('family=orders.order&key=01000000070000000000000003&space=orders');
  await page.waitForSelector('#side .anatomy');
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 400, `the page is ${wide} wide on a screen of 400`);
  await page.keyboard.press('Escape');
  await page.locator('#menu').click();
  await page.locator('a.family[data-family="orders.name"]').click();
  await wait(() => new URL(location).searchParams.get('family') === 'orders.name');
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.keyboard.press('t');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
});

await feature('9 until all rows are counted each number says so, and no page waits for that', async () => {
  const slow = base(told.slow);
  await page.goto(slow);
  await wait(() => /≥ .* rows, .*, walking/.test(document.querySelector('#nav .summary')?.textContent ?? ''));
  const order = page.locator('a.family[data-family="orders.order"]');
  await wait(() => document.querySelector('a.family[data-family="orders.order"] .count')?.textContent.startsWith('≥'));
  await order.click();
  await page.waitForSelector('#rows tbody tr');
  await page.keyboard.press('n');
  await wait(() => new URL(location).searchParams.has('after') && document.querySelectorAll('#rows tbody tr').length === 100);
  assert.match(await text('.foot'), /≥/);
  assert.ok(await page.locator('#nav .spin').count() > 0, 'it still counts');
  writeFileSync(told.gate, '');
  await wait(() => !document.querySelector('#nav .spin') && /^2\s100$/.test(document.querySelector('a.family[data-family="orders.order"] .count')?.textContent ?? ''));
});

await feature('8 a value of protobuf is read by its wire', async () => {
  await page.goto(`${base(told.chain)}?family=cl.pool`);
  await page.locator('#rows tbody tr a.open').first().click();
  await page.waitForSelector('#side .value-pane');
  await page.locator('#side .value-head select').selectOption('proto');
  await page.waitForSelector('#side .values li');
  assert.match(await text('#side .value-pane'), /proto/);
});

await feature('13 scan, values, map, copy and theme by their keys', async () => {
  await at('family=orders.order');
  await page.keyboard.press('s');
  await wait(() => document.activeElement.id === 'scan');
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('f');
  await wait(() => new URL(location).searchParams.get('v') === 'facets');
  await page.keyboard.press('m');
  await wait(() => !new URL(location).searchParams.get('v') && document.querySelector('.map .tile'));
  await page.goBack();
  await wait(() => new URL(location).searchParams.get('v') === 'facets');
  await at('family=orders.order&scan=1&a.customer=7&key=01000000070000000000000003&space=orders');
  await page.waitForSelector('#side .anatomy');
  await page.keyboard.press('c');
  await wait(() => document.activeElement.matches?.('select.copy') || document.getElementById('dialog').open);
  await page.keyboard.press('Escape');
  await page.evaluate(() => document.activeElement.blur());
  const before = await page.evaluate(() => document.documentElement.dataset.theme ?? '');
  await page.keyboard.press('t');
  assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), before);
  await page.keyboard.press('t');
  await page.evaluate(() => { localStorage.removeItem('keyplan-theme'); delete document.documentElement.dataset.theme; });
  await page.goto(`${base(told.chain)}?family=cl.pool`);
  await page.waitForSelector('#rows tbody tr');
  await page.keyboard.press('@');
  await wait(() => document.activeElement.id === 'height');
  await page.keyboard.press('Escape');
});

await feature('a view that was left while its answer was read does not come back', async () => {
  await at('family=orders.order');
  await page.evaluate(() => {
    const real = window.fetch;
    window.fetch = async (url, options) => {
      if (!String(url).startsWith('api/family')) return real(url, options);
      const text = () => new Promise((_, fail) => { options.signal.addEventListener('abort', () => { fail(options.signal.reason); window.left = true; }); window.reading = true; });
      return { ok: true, status: 200, json: text };
    };
  });
  await page.keyboard.press('f');
  await wait(() => window.reading);
  await page.keyboard.press('m');
  await wait(() => window.left && document.querySelector('.map .tile'));
  await page.evaluate(() => new Promise((done) => { setTimeout(done, 50); }));
  assert.equal(await page.locator('.map').count(), 1);
  assert.equal(await page.locator('#main .problem').count(), 0);
});

await feature('keys that are pressed before the page is there are not lost', async () => {
  let answer;
  const held = new Promise((done) => { answer = done; });
  await page.route('**/api/overview?*', async (route) => { await held; await route.continue(); });
  await page.goto(shop);
  await page.keyboard.press('u');
  await wait(() => new URL(location).searchParams.get('v') === 'unread');
  answer();
  await page.waitForSelector('#main .group');
  await page.unroute('**/api/overview?*');
});

await feature('the height that was chosen last is the one that is shown', async () => {
  const chain = base(told.chain);
  let answer;
  const held = new Promise((done) => { answer = done; });
  await page.route('**/api/overview?height=3', async (route) => { await held; await route.continue(); });
  await page.goto(chain);
  await page.waitForSelector('#height');
  await page.locator('#height').selectOption('3');
  const late = page.waitForResponse((response) => response.url().includes('/api/overview?height=3'));
  await page.locator('#height').selectOption('4');
  await wait(() => new URL(location).searchParams.get('height') === '4' && document.querySelector('#nav a.family')?.getAttribute('href').includes('height=4'));
  answer();
  await (await late).finished();
  await page.evaluate(() => new Promise((done) => { setTimeout(done, 50); }));
  assert.equal(await page.locator('#height').inputValue(), '4');
  assert.match(await page.locator('#nav a.family').first().getAttribute('href'), /height=4/);
  await page.unroute('**/api/overview?height=3');
});

await feature('what was asked for stays while the counts around it go on', async () => {
  let walks = 0;
  await page.route('**/api/walk?*', async (route) => {
    walks += 1;
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...await response.json(), state: 'walking' } });
  });
  await page.goto(base(told.chain));
  await page.getByRole('button', { name: 'Count them' }).click();
  await page.waitForSelector('#main section table tbody tr');
  const before = walks;
  while (walks < before + 2) await page.waitForResponse((response) => response.url().includes('/api/walk?'));
  assert.equal(await page.locator('#main section table tbody tr').count() > 0, true);
  await page.goto(`${shop}?v=notes`);
  await page.unroute('**/api/walk?*');
});

await feature('the hit that was chosen is the one that opens, and what was left does not come back', async () => {
  await at('v=notes');
  await page.locator('#q').fill('or');
  await wait(() => document.querySelectorAll('#found a.hit').length > 2);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const chosen = await page.locator('#found [aria-selected="true"]').getAttribute('href');
  assert.notEqual(chosen, await page.locator('#found a.hit').first().getAttribute('href'));
  await page.keyboard.press('Enter');
  await wait((href) => location.search === href, chosen);
  let answer;
  const held = new Promise((done) => { answer = done; });
  await page.route('**/api/search?*', async (route) => { await held; await route.continue().catch(() => {}); });
  await page.locator('#q').fill('rank');
  await page.keyboard.press('Escape');
  answer();
  await page.evaluate(() => new Promise((done) => { setTimeout(done, 50); }));
  assert.equal(await page.locator('#found').isVisible(), false);
  await page.unroute('**/api/search?*');
});

await feature('a plan that was typed earlier does not answer for the one that is there', async () => {
  await at('v=plan');
  const now = await page.locator('#plan-text').inputValue();
  let answer;
  const held = new Promise((done) => { answer = done; });
  const first = page.waitForRequest((request) => request.url().includes('/api/try'));
  await page.route('**/api/try?*', async (route) => {
    if (route.request().postData().includes('early')) await held;
    await route.continue();
  });
  await page.locator('#plan-text').fill(now.replace('module stock', 'key early = ;\n    module stock'));
  await first;
  const late = page.waitForResponse((response) => response.request().postData()?.includes('early') ?? false);
  await page.locator('#plan-text').fill(now.replace('module stock', 'key later = 0x70 n: u8;\n    module stock'));
  await page.waitForSelector('.trial .reads');
  answer();
  await (await late).finished();
  await page.evaluate(() => new Promise((done) => { setTimeout(done, 50); }));
  assert.equal(await page.locator('.trial .reads').count() > 0, true);
  assert.equal(await page.locator('.trial .problem').count(), 0);
  await page.unroute('**/api/try?*');
});

await feature('tabs share one walk', async () => {
  const tabs = await Promise.all(Array.from({ length: 6 }, async () => { const tab = await context.newPage(); watch(tab); await tab.goto(shop); await tab.waitForSelector('.map .tile'); return tab; }));
  for (const tab of tabs) await tab.close();
});

await feature('15 nothing comes from elsewhere, and the console is empty', async () => {
  assert.deepEqual(faults, []);
});

console.log(`${passed} features passed in ${browser.version()}`);
await browser.close();
