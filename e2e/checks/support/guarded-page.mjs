// A page in a real browser with the page guard installed as the fixture installs it, but with no proxy behind it:
// for tests of what the guard itself judges and reports. The script comes from the binary.
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { executablePath } from './browser.mjs';
import { startProxy } from './proxy.mjs';

let browser;
let server;
const pages = new Map();

export async function start() {
  server = createServer((request, response) => {
    const html = pages.get(new URL(request.url, 'http://x').pathname);
    response.writeHead(html === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(html ?? 'not found');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  browser = await chromium.launch({ executablePath: executablePath() });
}

export async function stop() {
  await browser?.close();
  server?.close();
}

export function serve(path, html) {
  pages.set(path, html);
  return `http://127.0.0.1:${server.address().port}${path}`;
}

const scripts = new Map();

/// The page script for `{policy, prefix, mutation}`, as `qa-pilot proxy` serves it.
export async function script({ policy = 'read-only', prefix, ...mutation }) {
  const key = JSON.stringify([policy, prefix, mutation]);
  if (!scripts.has(key)) {
    const runDir = mkdtempSync(join(tmpdir(), 'qa-pilot-page-'));
    const proxy = await startProxy(runDir, [], {
      QA_PILOT_MUTATION: JSON.stringify({ policy, prefix: prefix ?? undefined }),
      QA_PILOT_MUTATION_CONFIG: JSON.stringify(mutation),
    });
    const { page_guard } = await proxy.call('GET', '/page-guard');
    await proxy.stop();
    rmSync(runDir, { recursive: true });
    scripts.set(key, page_guard);
  }
  return scripts.get(key);
}

/// Opens `html` under the guard. Returns the page and what was reported; `accepted` are the authentic reports, in order.
/// `load` opens another page in its place, and forgets what was reported.
export async function open(html, config = {}, { scope, contextOptions } = {}) {
  const key = randomBytes(32).toString('hex');
  const attempt = { key, door: `door_${randomBytes(8).toString('hex')}`, binding: '__qa_pilot_report', scope: null };
  let counter = 0;
  const down = (message) => {
    const text = JSON.stringify({ counter: ++counter, ...message });
    return `${createHmac('sha256', key).update(`down.${text}`).digest('hex')}.${text}`;
  };
  if (scope !== undefined) attempt.scope = down({ scope, announce: false });

  const guard = await script(config);
  const context = await browser.newContext(contextOptions);
  const accepted = [];
  const rejected = [];
  await context.exposeBinding(attempt.binding, (_, report) => {
    const text = String(report).slice(65);
    const authentic = createHmac('sha256', key).update(`up.${text}`).digest('hex') === String(report).slice(0, 64);
    if (authentic) accepted.push(...JSON.parse(text.slice(text.indexOf('['))));
    else rejected.push(report);
  });
  await context.addInitScript({ content: `(${guard})(${JSON.stringify(attempt)});` });
  const page = await context.newPage();
  const load = async (next) => {
    const url = serve(`/${randomBytes(6).toString('hex')}`, next);
    await page.goto(url);
    accepted.length = rejected.length = 0;
    return url;
  };
  const url = serve(`/${randomBytes(6).toString('hex')}`, html);
  await page.goto(url);
  const controls = async () => {
    await page.evaluate(() => 0); // bindings called before this arrive before it
    return accepted.filter((report) => report.type === 'control');
  };
  return { page, context, url, attempt, accepted, rejected, controls, load, down, close: () => context.close() };
}
