// What `report` and `gate` cost beside the least that has to be done: hashing every trace once (openssl, a process a core),
// and reading results.json once (node; `cargo bench --bench results` times parse and walk alone). Prints figures and ratios;
// nothing is asserted, for machines differ.
//
//   node measure/gate.mjs [--cases 2000] [--trace-kib 524] [--attempts 50000] [--rounds 5]
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { qaPilot } from '../checks/support/binary.mjs';

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '2000' },
    'trace-kib': { type: 'string', default: '524' },
    attempts: { type: 'string', default: '50000' },
    rounds: { type: 'string', default: '5' },
  },
});
const [caseCount, traceKib, attemptCount, rounds] = ['cases', 'trace-kib', 'attempts', 'rounds'].map((name) => Number(values[name]));
const bin = qaPilot();
const root = realpathSync(mkdtempSync(join(tmpdir(), 'qa-pilot-measure-')));
const runId = '20261130T101500Z-checkout-3f2a91c';
const build = '3f2a91c04be17d5566aa0f9b1c2d3e4f50617283';
/// What node needs for the same file: its time alone, told by itself.
const WALK = `
  const text = require('fs').readFileSync(process.argv[1]);
  const start = process.hrtime.bigint();
  const counts = {};
  const walk = (suite) => {
    for (const spec of suite.specs ?? []) for (const test of spec.tests) for (const result of test.results) {
      counts[result.status] = (counts[result.status] ?? 0) + result.attachments.length + result.duration;
    }
    for (const nested of suite.suites ?? []) walk(nested);
  };
  for (const suite of JSON.parse(text.toString('utf8')).suites) walk(suite);
  console.log(Number(process.hrtime.bigint() - start) / 1e6);
`;
const json = (value) => JSON.stringify(value, null, 2);

try {
  await traces();
  await results();
} finally {
  if (process.env.QA_PILOT_KEEP) console.log(root);
  else rmSync(root, { recursive: true });
}

/// `report` and `gate` over many traces.
async function traces() {
  const host = makeHost('traces', caseCount);
  const files = [];
  const bytes = Buffer.alloc(traceKib << 10);
  const specs = host.ids.map((id, index) => {
    const folder = join(host.run, 'test-results', `t${index}`);
    mkdirSync(join(folder, 'attachments'), { recursive: true });
    const trace = join(folder, 'trace.zip');
    randomFillSync(bytes);
    writeFileSync(trace, bytes);
    files.push(trace);
    const attached = join(folder, 'attachments', `writes-json-${index}.json`);
    const record = json(recordOf(index, `${id} pays`));
    writeFileSync(join(folder, 'writes.json'), record);
    writeFileSync(attached, record);
    return specOf(`${id} pays`, [attempt(index, [
      { name: 'trace', contentType: 'application/zip', path: trace },
      { name: 'writes.json', contentType: 'application/json', path: attached },
    ])]);
  });
  writeFileSync(join(host.run, 'results.json'), json(reportOf(specs)));
  const list = join(root, 'traces.txt');
  writeFileSync(list, files.join('\0'));

  const cores = availableParallelism();
  const share = Math.ceil(files.length / cores);
  const openssl = () => spawnSync('xargs', ['-0', '-n', String(share), '-P', String(cores), '-a', list, 'openssl', 'dgst', '-sha256'],
    { stdio: ['ignore', 'ignore', 'inherit'] });
  const report = ['report', join(host.run, 'results.json'), join(host.run, 'meta.json')];
  const gate = ['gate', join(host.run, 'report.json'), '--profile', 'qa-pilot.config.yaml', '--cases',
    'testing/checkout/cases.yaml', '--statuses', join(host.run, 'statuses.json')];
  openssl();
  call(report, host.dir);
  const times = { openssl: [], report: [], gate: [] };
  for (let round = 0; round < rounds; round++) {
    times.openssl.push(timed(openssl));
    times.report.push(timed(() => call(report, host.dir)));
    times.gate.push(timed(() => call(gate, host.dir)));
  }
  const [hash, derive, judge] = ['openssl', 'report', 'gate'].map((name) => median(times[name]));
  console.log(`${files.length} cases, ${(files.length * traceKib / 1024 / 1024).toFixed(2)} GiB of traces, ${cores} core(s), median of ${rounds}`);
  console.log(`  openssl dgst, ${cores} process(es)   ${ms(hash)}`);
  console.log(`  report                      ${ms(derive)}   peak ${await peak(report, host.dir)} MB`);
  console.log(`  gate                        ${ms(judge)}   peak ${await peak(gate, host.dir)} MB`);
  console.log(`  (report + gate) / openssl   ${((derive + judge) / hash).toFixed(2)}`);
}

/// `report` over a large results.json, and node's JSON.parse with a walk over every attempt.
async function results() {
  const host = makeHost('results', 1);
  const file = join(host.run, 'results.json');
  const out = openSync(file, 'w');
  const head = json({ ...reportOf([]), suites: undefined });
  writeSync(out, `${head.slice(0, -2)},\n  "suites": [{ "title": "checkout.spec.ts", "file": "checkout.spec.ts", "specs": [\n`);
  for (let index = 0; index < attemptCount; index++) {
    const id = `CHECKOUT-ORDER${index % 50}-${String(Math.floor(index / 50) % 1000).padStart(3, '0')}`;
    const noise = `step ${index} pressed the button and the total was shown after a while\n`.repeat(12);
    const one = attempt(index, [{ name: 'screenshot', contentType: 'image/png', body: 'iVBORw0KGgoAAAANSUhEUgAA'.repeat(30) }]);
    one.stdout = [{ text: noise }];
    writeSync(out, `${index ? ',\n' : ''}${json(specOf(`${id} pays`, [one]))}`);
  }
  writeSync(out, ']}]}\n');
  closeSync(out);
  const size = statSync(file).size;
  const report = ['report', file, join(host.run, 'meta.json')];
  call(report, host.dir);
  const times = { report: [], node: [] };
  for (let round = 0; round < rounds; round++) {
    times.node.push(Number(execFileSync(process.execPath, ['-e', WALK, file], { encoding: 'utf8' })));
    times.report.push(timed(() => call(report, host.dir)));
  }
  const [node, ours] = [median(times.node), median(times.report)];
  console.log(`results.json of ${(size / 1e6).toFixed(0)} MB, ${attemptCount} attempts, median of ${rounds}`);
  console.log(`  node: JSON.parse and walk   ${ms(node)}   (its start is not counted)`);
  const most = await peak(report, host.dir);
  console.log(`  report, the whole command   ${ms(ours)}   peak ${most} MB, ${(most * 1e6 / size).toFixed(2)} times the file`);
  console.log(`  node / report               ${(node / ours).toFixed(2)}`);
}

function makeHost(name, count) {
  const dir = join(root, name);
  const run = join(dir, 'testing/checkout/runs', runId);
  mkdirSync(run, { recursive: true });
  const ids = Array.from({ length: count }, (_, index) => `CHECKOUT-ORDER${Math.floor(index / 999)}-${String(index % 999 + 1).padStart(3, '0')}`);
  const url = 'https://qa.shop.example';
  const mapping = Object.fromEntries(ids.map((id) => [id, 'Approved']));
  const na = { n_a: 'none' };
  writeFileSync(join(dir, 'qa-pilot.config.yaml'), json({
    project: 'shop',
    tracker: 'none',
    apps: { storefront: { framework: 'react', spec_dir: 'specs', repo: '.' } },
    environments: { qa: { kind: 'qa', apps: { storefront: url }, sha_source: { url: `${url}/version.json`, json_path: 'commit' } } },
    auth: { model: 'role-accounts', playwright_min: '1.51.0', storage_state: { indexed_db: true } },
    assertions: { network_events: 'allowed', style: 'mixed' },
    selectors: { testid_attribute: 'data-testid' },
    models: { generation_approved: ['model-a'] },
    sandbox: { mode: { env_var: 'API_MODE', value: 'mocks' } },
    mutation: { write_signatures: [{ method: 'POST', url: '/orders' }] },
  }));
  writeFileSync(join(dir, 'testing/checkout/cases.yaml'), json({
    feature: 'checkout', model_version: 'model-a', generated_at: '2026-11-28T09:00:00Z',
    scenario_mix: { happy: 'covered', negative: na, boundary: na, permission: na, 'data-validation': na },
    cases: ids.map((id) => ({ id, title: 'Pays', priority: 'P1', type: 'happy', steps: ['Press Pay'], expected: ['The order number is shown'] })),
    mutation: { policy: 'read-only' },
  }));
  writeFileSync(join(run, 'statuses.json'), json(mapping));
  writeFileSync(join(run, 'spec-shas.json'), json(Object.fromEntries(ids.map((id, index) => [id, index.toString(16).padStart(16, '0')]))));
  writeFileSync(join(run, 'meta.json'), json({
    run_id: runId, run_kind: 'verdict', feature: 'checkout', app: 'storefront', env_name: 'qa', env_url: url, env_kind: 'qa',
    api_mode: 'server', sha_before: build, sha_after: build, sha_source: `${url}/version.json`, sha_format: 'commit',
    evidence_capture: 'always', mutation_policy: 'read-only', mutation_prefix: null, executor: 'tester', model_version: 'model-a',
    playwright_version: '1.65.1', browser: 'chromium', started_at: '2026-11-30T10:15:00Z', finished_at: '2026-11-30T10:16:00Z',
  }));
  return { dir, run, ids };
}

function recordOf(index, title) {
  return {
    installed: true, policy: 'read-only', prefix: null, scope_urls: [], write_signatures: 1, routed_requests: 10 + index, blocked: 0,
    observed: 0, events: [],
    attempt: { test_id: `id${index}`, retry: 0, interval: 1, project: 'chromium', title, file: 'checkout.spec.ts', line: index,
      worker_index: 0, status: 'passed', run_id: runId },
    documents: 1, origins: ['https://qa.shop.example'],
  };
}

function reportOf(specs) {
  return {
    config: { version: '1.65.1', shard: null },
    suites: [{ title: 'checkout.spec.ts', file: 'checkout.spec.ts', specs }],
    errors: [],
    stats: { startTime: '2026-11-30T10:15:00.000Z', duration: 60000, expected: specs.length, skipped: 0, unexpected: 0, flaky: 0 },
  };
}

function specOf(title, results) {
  return { title, ok: true, tags: [], tests: [{ timeout: 30000, annotations: [], expectedStatus: 'passed', projectId: 'chromium', projectName: 'chromium', results, status: 'expected' }] };
}

function attempt(index, attachments) {
  return { workerIndex: 0, parallelIndex: 0, status: 'passed', duration: 1000 + index % 100, errors: [], stdout: [], stderr: [], retry: 0,
    startTime: '2026-11-30T10:15:00.000Z', annotations: [], attachments };
}

function call(words, cwd) {
  const done = spawnSync(bin, words, { cwd, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${words[0]} ended with ${done.status}: ${done.stderr.slice(0, 2000)}`);
}

function timed(work) {
  const start = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

/// The peak of resident memory in MB, as the kernel tells it while the process runs.
async function peak(words, cwd) {
  const child = spawn(bin, words, { cwd, stdio: 'ignore' });
  let highest = 0;
  const look = setInterval(() => {
    try {
      const [, kib] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [0, 0];
      highest = Math.max(highest, Number(kib));
    } catch {
      // It has ended, or this is no Linux: then 0 is printed.
    }
  }, 2);
  await once(child, 'exit');
  clearInterval(look);
  return Math.round(highest * 1024 / 1e6);
}

function median(list) {
  return list.slice().sort((a, b) => a - b)[Math.floor(list.length / 2)];
}

function ms(time) {
  return `${time.toFixed(0).padStart(6)} ms`;
}
