// Measures the page in Chromium, by the browser's own clock: node paint.mjs ADDRESS FAMILIES, with MODULES naming the folder of
// playwright-core. FAMILIES are separated by commas. Prints one JSON object per line.
import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const [url, families] = process.argv.slice(2);
const { chromium } = createRequire(join(process.env.MODULES, 'x.js'))('playwright-core');
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'], timeout: 180_000 });
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
context.setDefaultTimeout(120_000);
const say = (measure, value, more = null) => console.log(JSON.stringify({ measure: `${measure} in Chromium`, value, unit: 'ms', more }));

// When the families, their first counts and the map of bytes have been drawn, counted from the start of the navigation.
await context.addInitScript(() => {
  const seen = () => {
    if (window.drawn === undefined && document.querySelector('#nav a.family .count')?.textContent && document.querySelector('#main .map .tile')) {
      window.drawn = 0;
      // After the frame in which it is painted.
      requestAnimationFrame(() => { setTimeout(() => { window.drawn = performance.now(); }); });
    }
  };
  new MutationObserver(seen).observe(document, { subtree: true, childList: true });
});

const first = async (page) => {
  await page.waitForFunction(() => window.drawn > 0);
  return page.evaluate(() => ({ drawn: window.drawn, paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? window.drawn, walking: Boolean(document.querySelector('#nav .spin')) }));
};

const page = await context.newPage();
// What the page itself computes, which other work on the machine does not change.
const inside = await context.newCDPSession(page);
await inside.send('Performance.enable', { timeDomain: 'threadTicks' });
const computed = async () => (await inside.send('Performance.getMetrics')).metrics.find((one) => one.name === 'TaskDuration').value * 1000;
await page.goto(url);
const cold = await first(page);
say('first paint', cold.paint, { counting: cold.walking });
say('families and map', cold.drawn, { counting: cold.walking });
say('families and map, computed', await computed());

// From the click to the frame after the rows are there; then page after page, as a person would press `n`.
const click = (selector) => page.evaluate((selector) => new Promise((done) => {
  const main = document.getElementById('main');
  const begun = performance.now();
  const watch = new MutationObserver(() => {
    if (!main.querySelector('#rows tbody tr') || main.hasAttribute('aria-busy')) return;
    watch.disconnect();
    requestAnimationFrame(() => { setTimeout(() => done(performance.now() - begun)); });
  });
  watch.observe(main, { subtree: true, childList: true, attributes: true });
  document.querySelector(selector).click();
}), selector);
let [slowest, turned, most] = [[0, ''], [0, ''], 0];
for (const family of families.split(',')) {
  // All rows are counted anew meanwhile.
  await page.evaluate(() => fetch('api/walk?again=1'));
  const before = await computed();
  const took = await click(`a.family[data-family="${family}"]`);
  most = Math.max(most, await computed() - before);
  if (took > slowest[0]) slowest = [took, family];
  for (let turn = 0; turn < 10; turn += 1) {
    const next = await click('#next');
    if (next > turned[0]) turned = [next, family];
  }
}
const counting = await page.evaluate(async () => (await (await fetch('api/walk')).json()).state === 'walking');
say('first page', slowest[0], { family: slowest[1], counting });
say('first page, computed', most);
say('next page', turned[0], { family: turned[1], counting });

const tabs = 50;
const begun = performance.now();
const opened = await Promise.all(Array.from({ length: tabs }, async () => {
  const tab = await context.newPage();
  await tab.goto(url.split('?')[0]);
  await first(tab);
  return tab;
}));
say('50 tabs', performance.now() - begun);
for (const tab of opened) await tab.close();
await browser.close();
