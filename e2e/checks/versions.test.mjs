// The fixture under older Playwrights than the one that all other checks use: what runs, what is blocked and recorded, and that it
// type-checks with nothing but that version's own types and Node's.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execute, makeHost } from './support/host.mjs';

const e2e = fileURLToPath(new URL('..', import.meta.url));
const folder = join(e2e, 'versions');

for (const version of readdirSync(folder).sort()) {
  const modules = join(folder, version, 'node_modules');
  test(`Playwright ${version}`, async (t) => {
    assert.ok(existsSync(join(modules, '@playwright')), `npm packages are missing: run e2e/test, or npm ci in ${join(folder, version)}`);
    const host = await makeHost(t, { versions: { policy: 'read-only' } }, modules);
    const run = await host.run('versions', { command: ['npx', 'playwright', 'test', '--retries=0'] });
    assert.equal(run.results?.config.version, version, run.output);
    assert.deepEqual(run.report.cases.map(({ id, verdict }) => [id, verdict]).sort(), [
      ['VERSIONS-CLICK-001', 'pass'], ['VERSIONS-READ-001', 'pass'], ['VERSIONS-REQUEST-001', 'pass'],
    ], run.output);
    const records = Object.fromEntries(run.attempts.map(({ attempt, installed, blocked }) => [attempt.title.split(':')[0], [installed, blocked]]));
    assert.deepEqual(records, { 'VERSIONS-CLICK-001': [true, 1], 'VERSIONS-REQUEST-001': [true, 6], 'VERSIONS-READ-001': [true, 0] });
    assert.match(run.output, /blocked: control "Delete": read-only: .*; in "VERSIONS-CLICK-001: a control", .*VERSIONS-GUARD-001\.spec\.ts:3/);
    assert.deepEqual(host.shop.ledger, []);

    writeFileSync(join(host.root, 'tsconfig.json'), JSON.stringify({
      extends: join(e2e, 'checks', 'tsconfig.fixture.json'),
      compilerOptions: { typeRoots: [join(e2e, 'node_modules', '@types')], paths: { '@playwright/test': [join(modules, '@playwright', 'test')] } },
      include: [join(host.dir, 'specs', 'write-guard.ts')],
    }));
    const { code, stdout } = await execute(join(e2e, 'node_modules', '.bin', 'tsc'), ['--project', join(host.root, 'tsconfig.json')], { cwd: e2e });
    assert.equal(code, 0, stdout);
  });
}
