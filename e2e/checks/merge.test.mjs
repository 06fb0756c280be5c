// A suite in two shards, each with a guard of its own, merged into one run that the gate approves.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { qaPilot } from './support/binary.mjs';
import { execute, makeHost } from './support/host.mjs';

test('two shards become one run that is publishable, and one of them does not', async (t) => {
  const host = await makeHost(t);
  const shards = [];
  for (const shard of ['1/2', '2/2']) {
    const run = await host.run('catalogue', { command: ['npx', 'playwright', 'test', `--shard=${shard}`] });
    assert.equal(run.code, 0, run.output);
    assert.match(run.output, /one shard of a run/);
    for (const { attempt } of run.attempts) assert.equal(attempt.run_id, basename(run.runDir));
    shards.push(run);
  }
  const into = join(host.dir, 'testing/catalogue/runs/merged');
  const call = (...words) => execute(qaPilot(), words, { cwd: host.dir, env: host.environment });
  const half = await call('merge', '--into', into, shards[0].runDir);
  assert.equal(half.code, 1, half.stderr);
  assert.match(half.stderr, /shard 2 of 2 is missing/);

  const merged = await call('merge', '--into', into, shards[1].runDir, shards[0].runDir);
  assert.equal(merged.code, 0, merged.stderr);
  const reported = await call('report', join(into, 'results.json'), join(into, 'meta.json'));
  assert.equal(reported.code, 0, reported.stderr);
  const gated = await call('gate', join(into, 'report.json'), '--profile', 'qa-pilot.config.yaml', '--statuses', join(into, 'statuses.json'),
    '--cases', 'testing/catalogue/cases.yaml');
  assert.equal(gated.code, 0, gated.stderr);
  const { cases, started_at } = JSON.parse(readFileSync(join(into, 'report.json'), 'utf8'));
  const all = shards.flatMap(({ report }) => report.cases.map(({ id }) => id));
  assert.deepEqual(cases.map(({ id }) => id), all.sort());
  assert.equal(cases.length, 7);
  assert.equal(started_at, shards[0].meta.started_at);
});
