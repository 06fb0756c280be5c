// How long the gallery page (50 images) takes to load with and without the guard, in one run:
//   node measure/page-load.mjs [rounds]
// Each round loads it once directly and once through an attempt's port with the page guard installed, in fresh contexts
// of one browser, in turn. Prints both medians and their ratio.
import { execFileSync } from 'node:child_process';
import { X509Certificate, createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { executablePath } from '../checks/support/browser.mjs';
import { startProxy } from '../checks/support/proxy.mjs';
import { startShop } from '../shop/server/shop.mjs';

const rounds = Number(process.argv[2] ?? 25);
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const spki = (pem) => createHash('sha256').update(new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' })).digest('base64');

const runDir = mkdtempSync(join(tmpdir(), 'qa-pilot-measure-'));
const shop = await startShop();
const shopCa = join(runDir, 'shop-ca.pem');
writeFileSync(shopCa, shop.ca);
const proxy = await startProxy(runDir, ['--upstream-ca', shopCa]);

const browser = await chromium.launch({
  executablePath: executablePath(),
  args: [`--ignore-certificate-errors-spki-list=${proxy.ready.ca_spki},${spki(shop.ca)}`],
});

async function load(options, prepare) {
  const context = await browser.newContext(options);
  await prepare?.(context);
  const page = await context.newPage();
  const started = performance.now();
  await page.goto(`${shop.shop}/gallery`, { waitUntil: 'load' });
  const took = performance.now() - started;
  await context.close();
  return took;
}

async function guarded(round) {
  const attempt = await proxy.call('POST', '/attempts', {
    test_id: `measure-${round}`, retry: 0, title: 'MEASURE-LOAD-001', project: '', file: 'measure', line: 1, repeat_each_index: 0,
    worker_index: 0, parallel_index: 0, output_dir: join(runDir, 'test-results', String(round)),
  });
  const own = { key: '0'.repeat(64), door: 'measured', binding: 'report', scope: null };
  const took = await load({ proxy: { server: attempt.proxy } }, async (context) => {
    await context.exposeBinding(own.binding, () => undefined);
    await context.addInitScript({ content: `(${attempt.page_guard})(${JSON.stringify(own)});` });
  });
  await proxy.call('POST', `/attempts/${attempt.attempt}/finish`, { status: 'passed', keep: false });
  return took;
}

const times = { direct: [], guarded: [] };
for (let round = -3; round < rounds; round++) {
  const [direct, through] = [await load({}), await guarded(round + 3)];
  if (round < 0) continue; // warming up
  times.direct.push(direct);
  times.guarded.push(through);
}
const [direct, through] = [median(times.direct), median(times.guarded)];
const rss = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(proxy.pid)], { encoding: 'utf8' })) / 1024;
console.log(`direct ${direct.toFixed(1)} ms, guarded ${through.toFixed(1)} ms, ratio ${(through / direct).toFixed(2)} (medians of ${rounds}); proxy RSS ${rss.toFixed(1)} MiB`);

await browser.close();
await proxy.stop();
await shop.close();
rmSync(runDir, { recursive: true });
