// The sample shop through `qa-pilot run` in a real browser: what the records hold, what the server received, what the
// gate says.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { qaPilot } from './support/binary.mjs';
import { edit, execute, makeHost } from './support/host.mjs';

const readOnly = { policy: 'read-only' };
const codes = (gate) => [...new Set(gate.refusals.map(({ code }) => code))].sort();
const subjects = (gate, code) => gate.refusals.filter((refusal) => refusal.code === code).map(({ subject }) => subject).sort();
const verdicts = (report) => Object.fromEntries(report.cases.map(({ id, verdict }) => [id, verdict]));
const eventsOf = (records) => records.flatMap(({ events }) => events);

test('a clean read-only run is publishable', async (t) => {
  const host = await makeHost(t);
  const run = await host.run('catalogue');
  assert.equal(run.code, 0, run.output);
  const gate = await run.gate();
  assert.deepEqual({ publishable: gate.publishable, refusals: gate.refusals, code: gate.code }, { publishable: true, refusals: [], code: 0 });
  assert.equal(run.report.cases.length, 7);
  for (const { id, verdict, writes } of run.report.cases) {
    assert.equal(verdict, 'pass', id);
    assert.deepEqual({ installed: writes.installed, blocked: writes.blocked, observed: writes.observed }, { installed: true, blocked: 0, observed: 0 });
    assert.ok(writes.routed_requests > 0, id);
  }
  assert.deepEqual(run.strays, [], 'the login of the setup project left a record that refuses the run');
  assert.match(run.meta.browser, /chromium/i);
  assert.deepEqual(host.shop.ledger, []);
});

test('writes of a read-only run are refused by name, and nothing arrives', async (t) => {
  const host = await makeHost(t, { refused: readOnly });
  const run = await host.run('refused');
  assert.notEqual(run.code, 0);
  const gate = await run.gate();
  assert.equal(gate.publishable, false);
  assert.deepEqual(subjects(gate, 'rule 3'), ['cases[REFUSED-DELETE-001]', 'cases[REFUSED-ORDER-001]', 'cases[REFUSED-RETRY-001]']);
  assert.deepEqual(codes(gate), ['rule 3']);
  assert.deepEqual(host.shop.ledger, []);

  const [click] = eventsOf(run.of('REFUSED-DELETE-001'));
  assert.deepEqual([click.kind, click.action, click.label], ['control', 'block', 'Delete']);
  const [order] = eventsOf(run.of('REFUSED-ORDER-001'));
  assert.deepEqual([order.kind, order.action, order.method, order.url], ['request', 'block', 'POST', `${host.shop.shop}/api/orders`]);
  const retried = run.of('REFUSED-RETRY-001').sort((a, b) => a.attempt.retry - b.attempt.retry);
  assert.deepEqual(retried.map(({ attempt, blocked }) => [attempt.retry, blocked]), [[0, 1], [1, 0]]);
  assert.equal(verdicts(run.report)['REFUSED-RETRY-001'], 'flaky');
  assert.deepEqual(eventsOf(run.of('REFUSED-READ-001')), []);
});

test('a scoped-write run observes its own writes and is publishable', async (t) => {
  const host = await makeHost(t);
  const run = await host.run('products', { app: 'admin' });
  assert.equal(run.code, 0, run.output);
  const gate = await run.gate();
  assert.deepEqual({ publishable: gate.publishable, refusals: gate.refusals }, { publishable: true, refusals: [] });
  const created = run.report.cases.find(({ id }) => id === 'PRODUCTS-CREATE-001').writes;
  assert.deepEqual([created.policy, created.prefix, created.observed, created.blocked], ['scoped-write', 'QA_TEST_', 1, 0]);
  assert.deepEqual(run.report.fixtures.map(({ name, phase, verdict }) => [name, phase, verdict]), [['product', 'setup', 'pass'], ['product', 'teardown', 'pass']]);
  const [record] = run.of('PRODUCTS-CREATE-001');
  assert.deepEqual(record.scope_urls, [`^${host.shop.admin}/$`]);
  const observed = run.attempts.reduce((sum, attempt) => sum + attempt.observed, 0);
  assert.equal(host.shop.ledger.length, observed, 'what was observed is what arrived');
  assert.ok(observed >= 4);
});

test('a click on a write control outside the scope is blocked and refused', async (t) => {
  const host = await makeHost(t, { outside: { policy: 'scoped-write', prefix: 'QA_TEST_' } });
  const run = await host.run('outside', { app: 'admin' });
  assert.notEqual(run.code, 0);
  const gate = await run.gate();
  assert.deepEqual(codes(gate), ['rule 4']);
  assert.deepEqual(subjects(gate, 'rule 4'), ['cases[OUTSIDE-ROW-001]']);
  const [event] = eventsOf(run.of('OUTSIDE-ROW-001'));
  assert.deepEqual([event.kind, event.action], ['control', 'block']);
  assert.deepEqual(host.shop.ledger.map(({ method }) => method), ['POST', 'DELETE']); // those of the spec that stayed inside
});

test('a spec that leaves the guard out has no record and is refused', async (t) => {
  const host = await makeHost(t, { direct: readOnly });
  const run = await host.run('direct');
  assert.notEqual(run.code, 0);
  assert.deepEqual(run.of('DIRECT-READ-001'), []);
  const gate = await run.gate();
  assert.deepEqual(verdicts(run.report), { 'DIRECT-GUARDED-001': 'pass', 'DIRECT-READ-001': 'pass' });
  assert.deepEqual(codes(gate), ['rule 2']);
  assert.deepEqual(subjects(gate, 'rule 2'), ['cases[DIRECT-READ-001]']);
});

test('each way of sending is judged under the attempt that sent, with two workers at once', async (t) => {
  const host = await makeHost(t, { paths: readOnly });
  const run = await host.run('paths');
  const ways = {
    'PATHS-REQUEST-001': 1, 'PATHS-PAGEREQ-001': 2, 'PATHS-OWNREQ-001': 2, 'PATHS-CONTEXT-001': 2, 'PATHS-POPUP-001': 1,
    'PATHS-WORKER-001': 1, 'PATHS-BEACON-001': 1, 'PATHS-HOOK-001': 1,
  };
  for (const record of run.attempts) {
    for (const { url } of record.events) {
      const sender = new URL(url).searchParams.get('from');
      assert.ok(record.attempt.title.startsWith(sender), `${url} is in the record of ${record.attempt.title}`);
    }
  }
  for (const [id, count] of Object.entries(ways)) assert.equal(eventsOf(run.of(id)).length, count, id);
  assert.deepEqual(run.strays.flatMap(({ path, events }) => [path, events]), [], 'something arrived outside every attempt');
  assert.deepEqual(new Set(run.attempts.map(({ attempt }) => attempt.worker_index)).size >= 2, true, 'one worker did it all');
  assert.deepEqual(host.shop.ledger, []);
  const gate = await run.gate();
  assert.deepEqual(codes(gate), ['rule 3']);
  assert.deepEqual(subjects(gate, 'rule 3'), Object.keys(ways).map((id) => `cases[${id}]`).sort());
});

test('a page shared by serial tests counts for each of them', async (t) => {
  const host = await makeHost(t, { shared: readOnly });
  const run = await host.run('shared');
  const gate = await run.gate();
  assert.deepEqual(new Set(Object.values(verdicts(run.report))), new Set(['pass']), run.output);
  assert.deepEqual(codes(gate), ['rule 3']);
  assert.deepEqual(subjects(gate, 'rule 3'), ['cases[SHARED-PAGE-002]', 'cases[SHARED-WORKER-001]']);
  assert.deepEqual(eventsOf(run.of('SHARED-PAGE-002')).length, 1);
  for (const { id, writes } of run.report.cases) assert.ok(writes?.installed, `${id}: installed`);
  assert.deepEqual(host.shop.ledger, []);
});

test('tests that fail, time out, skip or lose their browser leave a record of what they did', async (t) => {
  const host = await makeHost(t, { endings: readOnly });
  const run = await host.run('endings', { command: ['npx', 'playwright', 'test', '--retries=0'] });
  for (const id of ['ENDINGS-FAIL-001', 'ENDINGS-TIMEOUT-001', 'ENDINGS-SKIP-001', 'ENDINGS-CLOSED-001']) {
    const records = run.of(id);
    assert.deepEqual(records.map(({ installed, blocked }) => [installed, blocked]), [[true, 1]], `${id}: ${run.output}`);
    const listed = run.report.cases.find((entry) => entry.id === id).writes.paths;
    assert.equal(listed.length, 1, `${id}: not attached`);
  }
  assert.deepEqual(run.strays, []);
});

test('GraphQL queries and mutations, and WebSockets, are told apart', async (t) => {
  const host = await makeHost(t, { protocols: readOnly });
  const run = await host.run('protocols');
  const gate = await run.gate();
  assert.deepEqual(Object.values(verdicts(run.report)), ['pass', 'pass', 'pass', 'pass']);
  assert.deepEqual(codes(gate), ['rule 3']);
  assert.deepEqual(subjects(gate, 'rule 3'), ['cases[PROTOCOLS-MUTATION-001]', 'cases[PROTOCOLS-ORDERS-001]']);
  const [socket] = eventsOf(run.of('PROTOCOLS-ORDERS-001'));
  assert.match(socket.url, /^wss:.*\/ws\/orders$/);
  assert.deepEqual(host.shop.ledger, []);
});

test('a global setup that logs in and a web server of Playwright\'s leave a run publishable', async (t) => {
  const host = await makeHost(t);
  writeFileSync(join(host.dir, 'global-setup.ts'), `
    import { writeFileSync } from 'node:fs';
    import { chromium } from '@playwright/test';
    export default async () => {
      const executablePath = process.env.CHROMIUM || undefined;
      const browser = await chromium.launch({ executablePath, proxy: { server: process.env.QA_PILOT_RUN_PROXY ?? '' } });
      const page = await browser.newPage({ baseURL: process.env.SHOP_URL, ignoreHTTPSErrors: true });
      await page.goto('/login');
      await page.getByLabel('Account').fill('global');
      await page.getByLabel('Password').fill('correct horse');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('Signed in as global').waitFor();
      writeFileSync('logged-in', await page.title());
      await browser.close();
    };`);
  writeFileSync(join(host.dir, 'side.mjs'), `
    import { createServer } from 'node:http';
    createServer((_, response) => response.end('up')).listen(Number(process.env.SIDE_PORT), '127.0.0.1');`);
  const port = String(20_000 + (process.pid % 20_000));
  edit(join(host.dir, 'playwright.config.ts'), (text) => text.replace('  fullyParallel', `  globalSetup: './global-setup.ts',
  webServer: { command: 'node side.mjs', url: 'http://127.0.0.1:${port}', env: { SIDE_PORT: '${port}' } },
  fullyParallel`));
  const run = await host.run('catalogue', { command: ['npx', 'playwright', 'test', 'CATALOGUE-LIST'] });
  assert.equal(run.code, 0, run.output);
  assert.equal((await run.gate()).publishable, true);
  assert.ok(existsSync(join(host.dir, 'logged-in')), 'the global setup did not run');
  assert.deepEqual(run.strays, []);
  assert.ok(run.files.includes('outside/outside.json'), 'what the global setup sent was not seen');
});

test('a setup project that writes makes the run unpublishable', async (t) => {
  const host = await makeHost(t);
  edit(join(host.dir, 'specs', 'authenticate.setup.ts'), (text) => text.replace(
    '  await context.storageState', `  await page.request.post('/api/orders?from=setup', { data: {} });\n  await context.storageState`));
  const run = await host.run('catalogue', { command: ['npx', 'playwright', 'test', 'CATALOGUE-LIST'] });
  assert.notEqual(run.code, 0);
  const gate = await run.gate();
  assert.deepEqual(codes(gate), ['rule 1b']);
  assert.equal(run.strays.length, 1);
  assert.match(run.strays[0].path, /^outside\//);
  assert.match(run.strays[0].events[0].url, /from=setup$/);
  assert.deepEqual(host.shop.ledger, []);
});

test('a setup project that leaves the guard out makes the run unpublishable', async (t) => {
  const host = await makeHost(t);
  writeFileSync(join(host.dir, 'specs', 'authenticate.setup.ts'), `
    import { mkdirSync, writeFileSync } from 'node:fs';
    import { test } from '@playwright/test';
    test('authenticate', () => {
      mkdirSync('.auth', { recursive: true });
      writeFileSync('.auth/customer.json', '{"cookies":[],"origins":[]}');
    });`);
  const run = await host.run('catalogue', { command: ['npx', 'playwright', 'test', 'CATALOGUE-LIST'] });
  assert.notEqual(run.code, 0);
  assert.match(run.output, /ran without the guard.*: authenticate;/);
  assert.deepEqual(codes(await run.gate()), ['run_kind']);
});

test('a worker that goes away in the middle ends in a refusal', async (t) => {
  const host = await makeHost(t, { crash: readOnly });
  const run = await host.run('crash');
  assert.notEqual(run.code, 0);
  const gate = await run.gate();
  assert.equal(gate.publishable, false);
  assert.ok(codes(gate).includes('rule 2'), JSON.stringify(gate.refusals));
  assert.ok(run.strays.some(({ path }) => path.startsWith('unfinished/')), 'the attempt of the dead worker has no record');
});

test('killing the guard in the middle ends in a refusal, never in a publishable run', async (t) => {
  const host = await makeHost(t);
  const whole = await host.run('catalogue', { command: ['npx', 'playwright', 'test', 'CATALOGUE-LIST'] });
  assert.equal((await whole.gate()).publishable, true);

  const runs = join(host.dir, 'testing', 'catalogue', 'runs');
  const records = async () => {
    const { stdout } = await execute('find', [runs, '-name', 'writes.json', '-not', '-path', `${whole.runDir}/*`], {});
    return stdout !== '';
  };
  const run = await host.run('catalogue', {
    command: ['npx', 'playwright', 'test', '--retries=0'],
    during: async (child) => {
      const started = Date.now();
      // The first record on disk says that tests are running.
      while (!(await records())) {
        assert.ok(Date.now() - started < 60_000, 'no test finished within a minute');
        await sleep(50);
      }
      child.kill('SIGKILL');
    },
  });
  assert.equal(run.code, 'SIGKILL');
  assert.deepEqual([run.meta, run.report], [undefined, undefined]);
  // Even when somebody supplies what the guard did not live to write, the gate finds the tests without a record.
  writeFileSync(join(run.runDir, 'meta.json'), JSON.stringify({ ...whole.meta, run_id: basename(run.runDir) }));
  const { code, stderr } = await execute(qaPilot(), ['report', join(run.runDir, 'results.json'), join(run.runDir, 'meta.json')], { cwd: host.dir });
  assert.equal(code, 0, stderr);
  const gate = await run.gate();
  assert.deepEqual([gate.code, gate.publishable], [1, false]);
  assert.ok(codes(gate).includes('rule 2'), JSON.stringify(gate.refusals));
});
