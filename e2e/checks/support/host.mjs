// A host repository of its own for one test: a copy of the sample shop with the features of `checks/features` that the
// test names, the shop started on free ports, and `qa-pilot` run in it.
import { execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startShop } from '../../shop/server/shop.mjs';
import { qaPilot } from './binary.mjs';
import { executablePath } from './browser.mjs';

const e2e = fileURLToPath(new URL('../..', import.meta.url));

/// Makes the host repository; `t` cleans it up. `features` maps a feature of `checks/features` to what its cases.yaml
/// says beside the cases, which are taken from the titles of its specs; `modules` is where its npm packages are.
export async function makeHost(t, features = {}, modules = join(e2e, 'node_modules')) {
  const shop = await startShop();
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'qa-pilot-host-')));
  const dir = join(root, 'shop');
  t.after(async () => {
    await shop.close();
    if (!process.env.QA_PILOT_KEEP) rmSync(root, { recursive: true });
  });
  cpSync(join(e2e, 'shop'), dir, { recursive: true, filter: (source) => !/\/(runs|\.auth)$/.test(source) });
  cpSync(join(e2e, 'package.json'), join(root, 'package.json'));
  symlinkSync(modules, join(root, 'node_modules'));
  const ca = join(root, 'shop-ca.pem');
  writeFileSync(ca, shop.ca);
  edit(join(dir, 'qa-pilot.config.yaml'), (text) => text.replaceAll('7443', shop.ports.https).replaceAll('7080', shop.ports.http));
  for (const [feature, mutation] of Object.entries(features)) addFeature(dir, feature, mutation);

  const environment = {
    ...process.env,
    SHOP_URL: shop.shop,
    ADMIN_URL: shop.admin,
    CHROMIUM: executablePath() ?? '',
    NODE_OPTIONS: '',
  };
  if (!environment.CHROMIUM) delete environment.CHROMIUM;
  for (const name of Object.keys(environment)) {
    // node:test marks its children, and a Playwright runner below would take itself for one of them.
    if (name.startsWith('QA_PILOT_') || name === 'NODE_TEST_CONTEXT') delete environment[name];
  }
  return { shop, root, dir, ca, environment, run: (feature, options) => run({ dir, ca, environment }, feature, options) };
}

export function edit(file, change) {
  const before = readFileSync(file, 'utf8');
  const after = change(before);
  if (after === before) throw new Error(`nothing to change in ${file}`);
  writeFileSync(file, after);
}

function addFeature(dir, feature, mutation) {
  const specs = join(dir, 'specs', feature);
  cpSync(join(e2e, 'checks', 'features', feature), specs, { recursive: true });
  const ids = new Set();
  for (const file of readdirSync(specs)) {
    const text = readFileSync(join(specs, file), 'utf8');
    for (const [, title] of text.matchAll(/test\(['`]([A-Z]+-[A-Z]+-\d{3}|[A-Z]+-[A-Z]+-00\$\{n\})/g)) {
      if (title.includes('$')) for (const n of [1, 2, 3, 4]) ids.add(title.replace('${n}', n));
      else ids.add(title);
    }
  }
  const cases = [...ids].map((id) => ({
    id, title: id, priority: 'P1', type: 'happy', steps: ['Run the spec'], expected: ['The page shows the number 12'],
  }));
  const n_a = (reason) => ({ n_a: reason });
  const mix = { happy: 'covered' };
  for (const kind of ['negative', 'boundary', 'permission', 'data-validation']) mix[kind] = n_a('not what this feature is about');
  const declared = {
    feature, model_version: 'example-model-1', generated_at: '2026-11-20T09:00:00Z', mutation, scenario_mix: mix, cases,
  };
  const testing = join(dir, 'testing', feature);
  mkdirSync(testing, { recursive: true });
  writeFileSync(join(testing, 'cases.yaml'), JSON.stringify(declared, null, 2)); // JSON is YAML
  writeFileSync(join(testing, 'statuses.json'), JSON.stringify(Object.fromEntries(cases.map(({ id }) => [id, 'Approved']))));
}

/// Runs a program to its end; never rejects for its exit code.
export function execute(command, args, options) {
  return new Promise((resolve) => {
    execFile(command, args, { maxBuffer: 64 << 20, ...options }, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr });
    });
  });
}

/// `qa-pilot run` for a feature; resolves to what came of it. `during` is called with the process while it runs.
async function run(host, feature, { app = 'storefront', args = [], env = {}, command = ['npx', 'playwright', 'test'], during } = {}) {
  const words = [
    'run', '--feature', feature, '--env', 'qa', '--app', app, '--upstream-ca', host.ca, ...args, '--', ...command,
  ];
  const child = spawn(qaPilot(), words, { cwd: host.dir, env: { ...host.environment, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
  await during?.(child);
  const code = await ended;
  const runs = join(host.dir, 'testing', feature, 'runs');
  const [runDir] = existsSync(runs) ? readdirSync(runs).filter((name) => /^\d{8}T/.test(name)).sort().reverse().map((name) => join(runs, name)) : [];
  return { code, output, runDir, ...(runDir ? read(runDir) : {}), gate: () => gate(host, feature, runDir) };
}

/// The gate's own answer about a run: `{code, publishable, refusals, warnings}`.
async function gate(host, feature, runDir) {
  const testing = join(host.dir, 'testing', feature);
  const { code, stdout, stderr } = await execute(qaPilot(), [
    'gate', join(runDir, 'report.json'), '--profile', 'qa-pilot.config.yaml', '--statuses', join(runDir, 'statuses.json'),
    '--cases', join(testing, 'cases.yaml'), '--format', 'json',
  ], { cwd: host.dir, env: host.environment });
  try {
    return { code, ...JSON.parse(stdout) };
  } catch {
    throw new Error(`the gate ended with ${code} and without JSON: ${stdout}${stderr}`);
  }
}

/// What lies in a run directory: the records of attempts, by title, and those that belong to no attempt that passed by.
function read(runDir) {
  const load = (path) => JSON.parse(readFileSync(path, 'utf8'));
  const found = readdirSync(runDir, { recursive: true }).map(String);
  const all = found.filter((path) => path.endsWith('writes.json')).map((path) => ({ path, ...load(join(runDir, path)) }));
  const attempts = all.filter(({ path }) => path.startsWith('test-results'));
  const optional = (name) => (existsSync(join(runDir, name)) ? load(join(runDir, name)) : undefined);
  return {
    files: found,
    attempts,
    strays: all.filter(({ path }) => !path.startsWith('test-results')),
    report: optional('report.json'),
    results: optional('results.json'),
    meta: optional('meta.json'),
    of: (id) => attempts.filter(({ attempt }) => attempt.title.startsWith(id)),
    path: (record) => relative(runDir, record.path),
  };
}
