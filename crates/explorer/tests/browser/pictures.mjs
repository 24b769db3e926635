// Takes the pictures of the README: node pictures.mjs ADDRESS FOLDER, with MODULES naming the folder of playwright-core.
import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const [url, folder] = process.argv.slice(2);
const { chromium } = createRequire(join(process.env.MODULES, 'x.js'))('playwright-core');
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
for (const scheme of ['light', 'dark']) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 860 }, colorScheme: scheme, deviceScaleFactor: 1 });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(url);
  await page.waitForFunction(() => document.querySelector('#nav .summary span') && !document.querySelector('#nav .spin'));
  await page.waitForSelector('.map .tile');
  await page.screenshot({ path: join(folder, `map-${scheme}.png`) });
  const base = url.split('?')[0];
  await page.goto(`${base}?family=cl.tick&scan=1&a.pool_id=1`);
  await page.waitForSelector('#rows tbody tr');
  await page.locator('#rows tbody tr').nth(6).locator('td').nth(1).click();
  await page.waitForSelector('#side .values li, #side .raw pre');
  await page.locator('#side .piece[data-arg="tick"][data-kind="argument"]').hover();
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(folder, `explorer-${scheme}.png`) });
  await context.close();
}
await browser.close();
