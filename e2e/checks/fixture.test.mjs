// The fixture itself: its types, and what it refuses.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { edit, execute, makeHost } from './support/host.mjs';

const e2e = fileURLToPath(new URL('..', import.meta.url));
const tsc = join(e2e, 'node_modules', '.bin', 'tsc');

for (const [what, project] of [['the specs of the shop and the checks', 'tsconfig.json'], ['the fixture, under the strictest options', 'tsconfig.fixture.json']]) {
  test(`types: ${what}`, async () => {
    const { code, stdout } = await execute(tsc, ['--project', join(e2e, 'checks', project)], { cwd: e2e });
    assert.equal(code, 0, stdout);
  });
}

/// Every result of a Playwright JSON report: `{title, status, error}`, the error as its first line.
function results(report) {
  const found = [];
  const visit = (suite) => {
    for (const spec of suite.specs ?? []) {
      for (const { results } of spec.tests) {
        for (const { status, errors } of results) found.push({ title: spec.title, status, error: errors[0]?.message?.split('\n')[0] ?? '' });
      }
    }
    suite.suites?.forEach(visit);
  };
  report.suites.forEach(visit);
  return found;
}

/// Playwright alone, without `qa-pilot run`.
async function playwright(host, args = [], env = {}) {
  const { stdout, code } = await execute('npx', ['playwright', 'test', '--reporter=json', '--retries=0', ...args], {
    cwd: host.dir, env: { ...host.environment, QA_PILOT_FEATURE: 'catalogue', ...env },
  });
  return { code, results: results(JSON.parse(stdout)) };
}

test('without a guard every test fails at once, with one line that says how to start one', async (t) => {
  const host = await makeHost(t);
  const { code, results } = await playwright(host, ['--no-deps', '--project=chromium']);
  assert.notEqual(code, 0);
  assert.equal(results.length, 7);
  for (const { title, status, error } of results) {
    assert.equal(status, 'failed', title);
    assert.match(error, /write guard: not running.*qa-pilot run --feature FEATURE --env ENV -- npx playwright test/, title);
  }
  assert.deepEqual(host.shop.ledger, []);
});

test('what would lead past the guard is refused where it is asked for', async (t) => {
  const host = await makeHost(t, { misuse: { policy: 'read-only' } });
  const run = await host.run('misuse', { command: ['npx', 'playwright', 'test', '--retries=0'] });
  const failed = Object.fromEntries(results(run.results).filter(({ status }) => status !== 'passed').map(({ title, error }) => [title.slice(0, title.indexOf(':')), error]));
  assert.deepEqual(Object.keys(failed).sort(), ['MISUSE-ARGS-001', 'MISUSE-USE-001'], run.output);
  assert.match(failed['MISUSE-USE-001'], /this test's proxy is not the guard's; remove test\.use\(\{ proxy \}\)/);
  assert.match(failed['MISUSE-ARGS-001'], /launchOptions.*replaced the guard's/);
  assert.equal(run.of('MISUSE-NOPROXY-001')[0].blocked, 1);
  const forged = run.of('MISUSE-FORGE-001')[0];
  assert.deepEqual([forged.installed, forged.blocked], [true, 0]);
  assert.match(JSON.stringify(run.results), /1 page report\(s\) were not the guard's own and were dropped/);
  assert.deepEqual(host.shop.ledger, []);
});

const settings = [
  ['preserveOutput', /preserveOutput is "failures-only", which deletes records/, (text) => text.replace('  fullyParallel', "  preserveOutput: 'failures-only',\n  fullyParallel")],
  ['a proxy of the config', /playwright\.config\.ts names the proxy http:\/\/127\.0\.0\.1:9.*--upstream-proxy/, (text) => text.replace('  use: {', "  use: {\n    proxy: { server: 'http://127.0.0.1:9' },")],
  ['a browser elsewhere', /connectOptions.*could leave the guard/, (text) => text.replace('  use: {', "  use: {\n    connectOptions: { wsEndpoint: 'ws://127.0.0.1:9' },")],
  ['another policy in the tests than in the guard', /QA_PILOT_MUTATION says unrestricted, the running guard enforces read-only/, (text) => `process.env.QA_PILOT_MUTATION = '{"policy":"unrestricted"}';\n${text}`],
  ['loopback taken out of the proxy', /this browser does not go through the guard/, (text) => `process.env.PLAYWRIGHT_DISABLE_FORCED_CHROMIUM_PROXIED_LOOPBACK = '1';\n${text}`],
];
for (const [name, message, change] of settings) {
  test(`refused: ${name}`, async (t) => {
    const host = await makeHost(t);
    edit(join(host.dir, 'playwright.config.ts'), change);
    const run = await host.run('catalogue', {
      command: ['npx', 'playwright', 'test', '--retries=0', '--no-deps', '--project=chromium', 'CATALOGUE-LIST'],
    });
    assert.notEqual(run.code, 0);
    const [result, ...others] = results(run.results);
    assert.deepEqual(others, []);
    assert.equal(result.status, 'failed');
    assert.match(result.error, message);
  });
}

test('a host of CommonJS modules works the same', async (t) => {
  const host = await makeHost(t);
  edit(join(host.root, 'package.json'), (text) => text.replace('"type": "module",', ''));
  rmSync(join(host.dir, 'server'), { recursive: true });
  const run = await host.run('catalogue', { command: ['npx', 'playwright', 'test', 'CATALOGUE-LIST'] });
  const [list] = run.of('CATALOGUE-LIST-001');
  assert.equal(list?.installed, true, run.output);
});
