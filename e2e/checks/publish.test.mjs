// From a run in a real browser to what is told about it: chosen cases, the payload, the record, approvals, a bug, and CI.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { qaPilot } from './support/binary.mjs';
import { edit, execute, makeHost } from './support/host.mjs';

const load = (path) => JSON.parse(readFileSync(path, 'utf8'));
const ids = (run) => run.report.cases.map(({ id }) => id);

/// Runs qa-pilot in the host's repository; resolves to what it printed.
async function told(host, args, code = 0) {
  const ended = await execute(qaPilot(), args, { cwd: host.dir, env: host.environment });
  assert.equal(ended.code, code, `${args.join(' ')}: ${ended.stdout}${ended.stderr}`);
  return code === 0 ? JSON.parse(ended.stdout) : ended.stderr;
}

test('only approved cases run, and the fixtures that they name come along', async (t) => {
  const host = await makeHost(t);
  const statuses = join(host.dir, 'testing', 'products', 'statuses.json');
  writeFileSync(statuses, JSON.stringify({ ...load(statuses), 'PRODUCTS-NAME-001': 'Case Review', 'PRODUCTS-CREATE-001': 'Quarantined' }));
  // Fixtures that are no dependency of the tests' project have to be chosen like tests.
  edit(join(host.dir, 'playwright.config.ts'), (text) => text.replace("['authenticate', 'fixtures']", "['authenticate']"));
  const run = await host.run('products', { app: 'admin', command: ['npx', 'playwright', 'test', '--workers=1'] });
  assert.deepEqual(ids(run), ['PRODUCTS-DELETE-001'], run.output);
  assert.deepEqual(run.report.fixtures.map(({ phase }) => phase), ['setup', 'teardown']);
  assert.match(run.output, /not run: PRODUCTS-NAME-001: it waits for design review; PRODUCTS-CREATE-001: set aside as flaky/);

  const narrowed = await host.run('products', { app: 'admin', args: ['--include-quarantined'], command: ['npx', 'playwright', 'test', '-g', 'new product'] });
  assert.deepEqual(ids(narrowed), ['PRODUCTS-CREATE-001'], narrowed.output);
  const none = await host.run('products', { app: 'admin', args: ['--dry-run'] });
  assert.equal(none.code, 0, none.output);
});

test('a run is published, approved, filed and chosen for CI', async (t) => {
  const host = await makeHost(t);
  const testing = join(host.dir, 'testing', 'catalogue');
  const file = (name) => join(testing, name);
  edit(join(host.dir, 'specs', 'catalogue', 'CATALOGUE-LIST-001.spec.ts'), (text) => text.replace('12 products', '13 products'));
  const run = await host.run('catalogue', { command: ['npx', 'playwright', 'test', '--retries=0'] });
  assert.equal(run.code, 1, run.output);
  const common = ['--profile', 'qa-pilot.config.yaml', '--cases', file('cases.yaml')];
  const plan = await told(host, [
    'publish', join(run.runDir, 'report.json'), ...common, '--statuses', join(run.runDir, 'statuses.json'),
    '--current-statuses', file('statuses.json'), '--approved', file('approved.json'), '--record-dir', file('verdicts'), '--write',
  ]);
  assert.equal(plan.mode, 'none');
  assert.equal(plan.summary.confidence.label, 'Not Ready');
  assert.equal(load(file('statuses.json'))['CATALOGUE-LIST-001'], 'Under Review');
  const record = file(`verdicts/${basename(run.runDir)}.json`);
  assert.ok(!readFileSync(record, 'utf8').includes('13 products'), 'evidence stays local, and so does what failed');

  const approved = 'CATALOGUE-SEARCH-001';
  const { approved_ledger } = await told(host, ['cases', 'approve', '--ids', `${approved},CATALOGUE-LIST-001`, '--verdicts', record, '--approved', file('approved.json'), '--write']);
  assert.deepEqual(Object.keys(approved_ledger), [approved], 'a failure is nothing to hold a build against');
  const filed = await told(host, ['bugs', '--report', join(run.runDir, 'report.json'), ...common, '--confirmed', 'CATALOGUE-LIST-001', '--bugs', file('bugs.json'), '--specs', file('specs.json'), '--write']);
  assert.match(readFileSync(join(host.dir, filed.create[0].file), 'utf8'), /Expected: "13 products" Received: "12 products"/);
  assert.ok(existsSync(file('bugs.json')));

  const select = ['ci', 'select', '--approved', file('approved.json'), '--specs', file('specs.json'), '--cases', file('cases.yaml'), '--json'];
  const [chosen] = await told(host, select);
  assert.deepEqual(chosen, { id: approved, path: `specs/catalogue/${approved}.spec.ts` });
  const pipeline = await host.run('catalogue', { args: ['--kind', 'ci'], command: ['npx', 'playwright', 'test', chosen.path] });
  assert.equal(pipeline.code, 0, pipeline.output);
  assert.match(pipeline.output, /ok: 1 pass on qa/);
  edit(join(host.dir, chosen.path), (text) => `${text}// edited\n`);
  assert.match(await told(host, select, 1), new RegExp(`skipped ${approved}: approved was ${approved_ledger[approved]}`));
});
