// What a whole suite costs under the guard: 100 small tests, each a page load, a click and an assertion, run by Playwright with
// one worker, in turn without and with it:
//   node measure/suite.mjs [rounds]
// Prints the medians of what the runner says its tests took, and their ratio. The guarded suite runs under `qa-pilot proxy`.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { executablePath } from '../checks/support/browser.mjs';
import { execute } from '../checks/support/host.mjs';
import { startProxy } from '../checks/support/proxy.mjs';

const rounds = Number(process.argv[2] ?? 3);
const e2e = fileURLToPath(new URL('..', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'qa-pilot-suite-'));
const server = createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end('<link rel=icon href="data:,"><h1>Orders</h1><button onclick="document.title = \'shown\'">Show</button>');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

mkdirSync(join(root, 'specs'));
symlinkSync(join(e2e, 'node_modules'), join(root, 'node_modules'));
writeFileSync(join(root, 'package.json'), '{"type":"module"}');
writeFileSync(join(root, 'write-guard.ts'), readFileSync(join(e2e, '../src/playwright/write-guard.ts')));
writeFileSync(join(root, 'playwright.config.ts'), `export default { testDir: 'specs', workers: 1, reporter: 'json',
  use: { baseURL: 'http://127.0.0.1:${server.address().port}', launchOptions: { executablePath: ${JSON.stringify(executablePath())} } } };`);
writeFileSync(join(root, 'specs', 'small.spec.ts'), `
  const { expect, test } = await import(process.env.SUITE_IMPORT);
  for (let n = 0; n < 100; n++) test(\`SUITE-SMALL-\${100 + n}: a small test\`, async ({ page }) => {
    await page.goto('/');
    await page.getByRole('button').click();
    await expect(page).toHaveTitle('shown');
  });`);

async function suite(env) {
  const { stdout, stderr } = await execute('npx', ['playwright', 'test', ...(env.QA_PILOT_RUN_DIR ? ['--output', join(env.QA_PILOT_RUN_DIR, 'test-results')] : [])], {
    cwd: root, env: { ...process.env, NODE_OPTIONS: '', ...env },
  });
  let report;
  try {
    report = JSON.parse(stdout);
  } catch {
    throw new Error(`no report: ${stdout}${stderr}`);
  }
  if (report.stats.expected !== 100) throw new Error(`${report.stats.expected} of 100 passed: ${stdout.slice(0, 2000)}`);
  return report.stats.duration;
}

async function guarded(round) {
  const runDir = join(root, `run-${round}`);
  mkdirSync(runDir);
  const proxy = await startProxy(runDir, [], { QA_PILOT_MUTATION_CONFIG: '{"write_signatures":[{"method":"POST","url":"/orders"}]}' });
  const { control, token, ca_spki, run_proxy } = proxy.ready;
  const took = await suite({
    SUITE_IMPORT: '../write-guard', QA_PILOT_CONTROL: control, QA_PILOT_TOKEN: token, QA_PILOT_CA_SPKI: ca_spki, QA_PILOT_RUN_DIR: runDir,
    QA_PILOT_RUN_PROXY: run_proxy,
  });
  await proxy.stop();
  return took;
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const times = { plain: [], guarded: [] };
for (let round = 0; round < rounds; round++) {
  times.plain.push(await suite({ SUITE_IMPORT: '@playwright/test' }));
  times.guarded.push(await guarded(round));
}
const [plain, under] = [median(times.plain), median(times.guarded)];
console.log(`100 small tests: unguarded ${(plain / 1000).toFixed(1)} s, guarded ${(under / 1000).toFixed(1)} s, ratio ${(under / plain).toFixed(2)} (medians of ${rounds})`);
server.close();
rmSync(root, { recursive: true });
