// What pages do under the fixture, as the record and the report of the test tell it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeHost } from './support/host.mjs';

test('frames without scripts, floods, options, and what a person sees of a block', async (t) => {
  const host = await makeHost(t, { page: { policy: 'read-only' } });
  const run = await host.run('page', { command: ['npx', 'playwright', 'test', '--retries=0'] });
  const tests = run.report.cases.map(({ id, verdict }) => [id, verdict]);
  assert.deepEqual(new Set(tests.map(([, verdict]) => verdict)), new Set(['pass']), run.output);
  const only = (id) => {
    const records = run.of(id);
    assert.equal(records.length, 1, id);
    return records[0];
  };
  const sandbox = only('PAGE-SANDBOX-001');
  assert.deepEqual([sandbox.installed, sandbox.unguarded_frames, sandbox.events.map(({ label }) => label)], [true, 2, ['Delete', 'Delete']]);
  const bare = only('PAGE-NOSCRIPT-001');
  assert.deepEqual([bare.installed, bare.blocked], [false, 0]);
  assert.ok(bare.unguarded_frames >= 1);
  const flood = only('PAGE-FLOOD-001');
  assert.deepEqual([flood.blocked, flood.events.length, flood.events.at(-1).reason], [10_000, 10_000, 'event limit']);
  assert.equal(only('PAGE-SEEN-001').unguarded_frames, 0);
  assert.deepEqual(only('PAGE-FLAGS-001').scope_urls, ['orders\\/\\d+$']);
  const options = only('PAGE-OPTIONS-001');
  assert.deepEqual([options.installed, options.blocked], [true, 1]);
  assert.equal(run.files.filter((file) => /PAGE-OPTIONS.*trace\.zip$/.test(file)).length >= 1, true);

  const result = resultOf(run.results, 'PAGE-SEEN-001');
  const told = result.annotations.filter(({ type }) => type.startsWith('blocked')).map(({ type, description }) => [type, description]);
  assert.deepEqual(told, [
    ['blocked control', 'Delete order: read-only: "Delete order" is a write control'],
    ['blocked request', `POST ${host.shop.shop}/api/orders: ${only('PAGE-SEEN-001').events[1].reason}`],
  ]);
  assert.deepEqual(result.steps.map(({ title }) => title).filter((title) => title.startsWith('blocked')), [
    'blocked control "Delete order" (read-only: "Delete order" is a write control)',
  ]);
  const many = resultOf(run.results, 'PAGE-FLOOD-001').annotations.filter(({ type }) => type.startsWith('blocked'));
  assert.deepEqual([many.length, many.at(-1).description], [21, 'and 9980 more; writes.json has all of them']);
  assert.deepEqual(host.shop.ledger, []);
});

function resultOf(report, id) {
  const specs = (suite) => [...(suite.specs ?? []), ...(suite.suites ?? []).flatMap(specs)];
  const [found] = report.suites.flatMap(specs).filter(({ title }) => title.startsWith(id));
  return found.tests[0].results[0];
}
