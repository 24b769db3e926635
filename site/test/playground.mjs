// The playground as a person uses it, in a real browser. SITE is the folder of the site, TOOLS one with playwright-core and axe-core.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname, join, normalize } from 'node:path';

const { SITE, TOOLS } = process.env;
const require = createRequire(join(TOOLS, 'package.json'));
const { chromium } = require('playwright-core');
const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json', '.svg': 'image/svg+xml' };
const server = createServer(async (request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname));
  try {
    const bytes = await readFile(join(SITE, path.endsWith('/') ? `${path}index.html` : path));
    response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'text/plain' }).end(bytes);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
const home = `http://127.0.0.1:${server.address().port}`;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  timeout: 180_000,
});
let passed = 0;
async function trial(name, work, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  // As long as it takes: a slow machine is not a fault of the page.
  page.setDefaultTimeout(180_000);
  const wrong = [];
  page.on('console', (message) => { if (message.type() === 'error') wrong.push(message.text()); });
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('request', (request) => { if (!request.url().startsWith(home) && !request.url().startsWith('data:')) wrong.push(`a request to ${request.url()}`); });
  await work(page);
  assert.deepEqual(wrong, [], name);
  await context.close();
  passed += 1;
}

const open = async (page, rest = '') => {
  await page.goto(`${home}/playground/index.html${rest}`);
  await page.waitForSelector('#verdict.bad, #verdict.good, #verdict.warn');
};
const write = (page, text) => page.fill('#text', text);
const verdict = (page, kind) => page.waitForSelector(`#verdict.${kind}`);
const SOUND = 'plan p; space s { key tick = 0x01 pool: u64 tick: i64.tick9; }';

try {
  await trial('a finding with its two keys, and its repair', async (page) => {
    await open(page);
    await page.waitForSelector('.finding');
    assert.match(await page.textContent('.finding h3'), /KP0002/);
    const rows = await page.$$eval('.finding .bytes tr', (all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent).join('')));
    assert.equal(rows.length, 2);
    assert.equal(rows[0], rows[1]);
    assert.ok((await page.$$('#paint mark')).length > 0, 'the finding is drawn over the text');
    const before = await page.textContent('#fingerprint');
    await page.click('.repairs button');
    await verdict(page, 'good');
    assert.notEqual(await page.textContent('#fingerprint'), before);
    assert.match(await page.textContent('#moved'), /moved/);
    if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, 'playground-cured.png') });
  });

  await trial('a key is explained, and one of nobody says where it breaks', async (page) => {
    await open(page);
    await write(page, SOUND);
    await verdict(page, 'good');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('01000000000000000705ffffffffffffff9c');
    await page.waitForSelector('#explained .legend');
    assert.match(await page.textContent('#explained'), /s\.tick.*pool = 7.*tick = -100/s);
    await page.fill('#key', '01000000000000000706ffffffffffffff9c');
    await page.waitForSelector('#explained .wrong');
    assert.match(await page.textContent('#explained'), /byte 9/);
    await page.fill('#key', '0');
    await page.waitForFunction(() => /odd number/.test(document.getElementById('explained').textContent));
  });

  await trial('a link holds the whole plan', async (page) => {
    await open(page);
    await write(page, SOUND);
    await verdict(page, 'good');
    await page.click('#share');
    await page.waitForFunction(() => location.hash.startsWith('#plan='));
    const link = page.url();
    await page.goto('about:blank');
    await page.goto(link);
    await verdict(page, 'good');
    assert.equal(await page.inputValue('#text'), SOUND);
    await page.goto(`${home}/playground/index.html#plan=bm90aGluZw`);
    await page.waitForSelector('#verdict.bad');
  });

  await trial('every plan of the gallery checks', async (page) => {
    await open(page);
    await page.waitForFunction(() => document.querySelectorAll('#gallery option').length > 5);
    const files = await page.$$eval('#gallery option', (all) => all.map((one) => one.value).filter((one) => one !== ''));
    for (const file of files) {
      await page.selectOption('#gallery', file);
      const print = await page.evaluate(async (name) => (await (await fetch(`plans/${name}`)).text()).length, file);
      await page.waitForFunction((length) => document.getElementById('text').value.length === length, print);
      await page.waitForFunction(() => /\d+ refuted/.test(document.getElementById('verdict').textContent));
    }
  });

  await trial('a keystroke is checked before the next', async (page) => {
    await open(page);
    await page.waitForFunction(() => document.querySelectorAll('#gallery option').length > 5);
    const files = await page.$$eval('#gallery option', (all) => all.map((one) => one.value));
    const five = ['osmosis_cl', 'cosmwasm', 'cardano', 'paw', 'onesat'].map((name) => `${name}.keyplan`);
    for (const file of five.filter((name) => files.includes(name))) {
      await page.selectOption('#gallery', file);
      const length = await page.evaluate(async (name) => (await (await fetch(`plans/${name}`)).text()).length, file);
      await page.waitForFunction((wanted) => document.getElementById('text').value.length === wanted, length);
      await page.waitForFunction(() => /\d+ refuted/.test(document.getElementById('verdict').textContent));
      await page.focus('#text');
      await page.keyboard.press('Control+End');
      const times = [];
      for (let turn = 0; turn < 12; turn += 1) {
        await page.evaluate(() => { delete document.getElementById('verdict').dataset.milliseconds; });
        await page.keyboard.press('Enter');
        await page.waitForFunction(() => document.getElementById('verdict').dataset.milliseconds !== undefined);
        times.push(Number(await page.evaluate(() => document.getElementById('verdict').dataset.milliseconds)));
      }
      times.sort((a, b) => a - b);
      console.log(`a keystroke in ${file}: checked in ${times[0]} ms, the middle of ${times.length} ${times[6]} ms`);
      // The goal is 25 ms; a machine that does other work may take longer, and what takes longer than this is another fault.
      assert.ok(times[0] <= 100, `${file}: ${times.join(', ')} ms`);
    }
  });

  await trial('the plan that was chosen last is the one that is shown', async (page) => {
    await open(page);
    await page.waitForFunction(() => document.querySelectorAll('#gallery option').length > 5);
    const [early, late] = await page.$$eval('#gallery option', (all) => all.map((one) => one.value).filter((one) => one !== '').slice(0, 2));
    let answer;
    const held = new Promise((done) => { answer = done; });
    await page.route(`**/plans/${early}`, async (route) => { await held; await route.continue(); });
    await page.selectOption('#gallery', early);
    const arrived = page.waitForResponse((response) => response.url().endsWith(early));
    await page.selectOption('#gallery', late);
    await page.waitForFunction(() => /\d+ refuted/.test(document.getElementById('verdict').textContent) && !document.getElementById('text').value.includes('plan example'));
    const shown = await page.inputValue('#text');
    answer();
    await (await arrived).finished();
    await page.evaluate(() => new Promise((done) => { setTimeout(done, 50); }));
    assert.equal(await page.inputValue('#text'), shown);
  });

  await trial('keyboard: from finding to finding, indent, leave, format', async (page) => {
    await open(page);
    await page.waitForSelector('.finding');
    await page.keyboard.press('Control+ArrowDown');
    assert.match(await page.evaluate(() => document.activeElement.textContent), /KP0002/);
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'text');
    await write(page, 'plan p;space s{key a=0x01;}');
    await verdict(page, 'good');
    await page.focus('#text');
    await page.keyboard.press('Control+Shift+F');
    await page.waitForFunction(() => document.getElementById('text').value.includes('\n    key a = 0x01;'));
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    assert.notEqual(await page.evaluate(() => document.activeElement.id), 'text');
  });

  await trial('what a plan says is never markup', async (page) => {
    await open(page);
    const hostile = '/// <img src=x onerror=alert(1)>\nplan p; space s { key k = "<script>alert(1)</script>" a: text("<>/a-z", 1..=3) b: text("<>/a-z", 1..=3); }';
    await write(page, hostile);
    // The findings are those of this text, and not of the one before.
    await page.waitForFunction(() => document.querySelector('.finding') && !document.getElementById('findings').textContent.includes('pool_by_tokens'));
    assert.equal(await page.$('main img, main script'), null);
    await write(page, 'plan p; space s { key k = ');
    await page.waitForFunction(() => /mistake/.test(document.getElementById('verdict').textContent));
  });

  for (const colorScheme of ['light', 'dark']) {
    await trial(`readable by everybody, ${colorScheme}`, async (page) => {
      await open(page);
      await page.waitForSelector('.finding');
      await page.fill('#key', '02757364');
      await page.waitForSelector('#explained p');
      // The policy of the page keeps scripts of others out; this one comes through the browser.
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run());
      assert.deepEqual(violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' | ')}`), []);
      if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, `playground-${colorScheme}.png`) });
    }, { colorScheme });
  }

  await trial('a narrow screen', async (page) => {
    await open(page);
    await page.waitForSelector('.finding');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out');
    if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, 'playground-narrow.png'), fullPage: true });
  }, { viewport: { width: 390, height: 800 } });
  console.log(`${passed} passed, 0 failed`);
} finally {
  await browser.close();
  server.close();
}
