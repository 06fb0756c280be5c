// The egress lock with a real browser inside: the shop's suite passes through the guard, and what goes past the guard
// reaches nothing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeHost } from './support/host.mjs';

const locked = ['--lock-egress', 'on'];
// By another program's word, so that a lock that fails where it could hold is no reason to pass.
const allowed = process.platform === 'linux' && spawnSync('unshare', ['-rn', 'true']).status === 0;

function refused(run) {
  assert.equal(run.code, 2, run.output);
  assert.match(run.output, /--lock-egress on: /);
  assert.equal(run.runDir, undefined, 'nothing ran');
}

test('the suite passes in the lock, and its records say so', async (t) => {
  const host = await makeHost(t);
  const run = await host.run('catalogue', { args: locked });
  if (!allowed) return refused(run);
  assert.equal(run.code, 0, run.output);
  const gate = await run.gate();
  assert.deepEqual({ publishable: gate.publishable, refusals: gate.refusals }, { publishable: true, refusals: [] });
  assert.ok(run.attempts.length >= 7);
  assert.ok(run.attempts.every((record) => record.egress_locked === true));
});

test('a scoped-write run passes in the lock', async (t) => {
  const host = await makeHost(t);
  const run = await host.run('products', { app: 'admin', args: locked });
  if (!allowed) return refused(run);
  assert.equal(run.code, 0, run.output);
  assert.ok(host.shop.ledger.length >= 4, 'its writes arrive, through the guard');
});

test('a raw request, a bypass list, curl and UDP reach nothing from the lock, and the shop without it', async (t) => {
  const packets = [];
  const listener = createSocket('udp4').on('message', (message) => packets.push(String(message)));
  await new Promise((resolve) => listener.bind(0, '127.0.0.1', resolve));
  t.after(() => listener.close());
  const ways = ['bypass', 'curl', 'raw'];

  for (const args of [locked, []]) {
    const host = await makeHost(t, { escape: { policy: 'read-only' } });
    const told = join(host.root, 'told.json');
    const env = { SHOP_PORT: String(host.shop.ports.http), UDP_PORT: String(listener.address().port), TOLD: told };
    const run = await host.run('escape', { args, env });
    if (args.length && !allowed) {
      refused(run);
      continue;
    }
    assert.ok(run.results, run.output);
    const arrived = host.shop.ledger.filter(({ method }) => method === 'DELETE').map(({ path }) => path.split('way=')[1]).sort();
    const said = JSON.parse(readFileSync(told, 'utf8'));
    assert.deepEqual(Object.keys(said).sort(), [...ways, 'udp'], 'each way was tried');
    assert.deepEqual(arrived, args.length ? [] : ways, JSON.stringify(said));
    assert.deepEqual(packets, args.length ? [] : ['over udp'], JSON.stringify(said));
    const inside = run.report.cases.find(({ id }) => id === 'ESCAPE-INSIDE-001');
    assert.equal(inside.verdict, 'pass', 'a server that the test started is reached through the guard');
    assert.ok(inside.writes.routed_requests > 0);
  }
});
