// Opens a page in Chromium and prints what stands in its element `said` once there is something.
import { spawn } from 'node:child_process';

const [page, profile] = process.argv.slice(2);
const browser = spawn(
  'chromium',
  [
    '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--allow-file-access-from-files',
    `--user-data-dir=${profile}`, '--remote-debugging-pipe', 'about:blank',
  ],
  { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
);
browser.on('error', (error) => {
  console.log(`chromium cannot be run (${error.message}): install it with \`apt-get install chromium\``);
  process.exit(1);
});
const [, , , into, from] = browser.stdio;

// Messages are JSON with a zero byte after each.
const waiting = new Map();
let rest = '';
let last = 0;
from.setEncoding('utf8');
from.on('data', (text) => {
  const messages = (rest + text).split('\0');
  rest = messages.pop();
  for (const message of messages.map((message) => JSON.parse(message))) waiting.get(message.id)?.(message);
});

function ask(method, params, sessionId) {
  last += 1;
  const id = last;
  into.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
  return new Promise((resolve, reject) => {
    waiting.set(id, (message) => (message.error ? reject(new Error(message.error.message)) : resolve(message.result)));
  });
}

const { targetId } = await ask('Target.createTarget', { url: page });
const { sessionId } = await ask('Target.attachToTarget', { targetId, flatten: true });
for (;;) {
  const asked = { expression: "document.getElementById('said')?.textContent ?? ''" };
  const said = (await ask('Runtime.evaluate', asked, sessionId)).result.value;
  if (said) {
    console.log(said);
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
}
const ended = new Promise((resolve) => browser.on('exit', resolve));
await ask('Browser.close');
await ended;
