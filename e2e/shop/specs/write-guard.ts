/*
 * The write guard for Playwright specs, written by `qa-pilot init`. Specs import `test` and `expect` from this file
 * instead of from `@playwright/test`; nothing else in a spec changes.
 *
 * Each attempt of a test gets a port of its own on the guard's proxy, and whatever the attempt sends goes through it:
 * pages, `request`, further contexts, popups, service workers. In each page the guard also judges clicks, keys and
 * submits before the page sees them. `qa-pilot` decides and writes the record; this file only connects the two.
 *
 * It needs the environment that `qa-pilot run` provides. Without it every test fails; nothing ever runs unguarded.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  chromium,
  firefox,
  request as apiRequest,
  test as base,
  webkit,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Frame,
  type TestInfo,
} from '@playwright/test';

export * from '@playwright/test';

// === What specs use

export type Policy = 'read-only' | 'scoped-write' | 'unrestricted';

/** One thing that the guard blocked, or let through and recorded. */
export interface GuardEvent {
  kind: 'control' | 'request';
  action: 'block' | 'observe';
  reason: string;
  /** What the control is called; controls only. */
  label?: string;
  /** Requests only. */
  method?: string;
  /** Requests only. */
  url?: string;
  at: string;
}

export interface WriteGuard {
  readonly policy: Policy;
  /** Declares the pages, by a regular expression on their URL, whose write controls belong to this test (scoped-write). */
  setScope(scope: { url: string | RegExp }): Promise<void>;
  /** How many controls and requests of this attempt were blocked so far. */
  blocked(): Promise<number>;
  /** What this attempt's record holds so far. */
  events(): Promise<GuardEvent[]>;
}

interface TestFixtures {
  writeGuard: WriteGuard;
  /** A further context under this test's guard, closed before the record is written. */
  newGuardedContext: (options?: BrowserContextOptions) => Promise<BrowserContext>;
  qaPilotAttempt: void;
}

interface WorkerFixtures {
  qaPilotLaunch: void;
  qaPilotWorker: GuardWorker;
}

/** Keeps what a fixture spec has set up, for the specs that depend on it. */
export function saveFixture(name: string, identity: unknown): void {
  const file = fixtureFile(name);
  mkdirSync(join(file, '..'), { recursive: true });
  writeWhole(file, `${JSON.stringify(identity, null, 2)}\n`);
}

/** Reads what `saveFixture` kept in the same run. */
export function loadFixture<T = unknown>(name: string): T {
  const file = fixtureFile(name);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new Error(`write guard: no fixture "${name}" in this run: its setup spec has not saved it (${file})`);
  }
  return JSON.parse(text) as T;
}

function fixtureFile(name: string): string {
  if (!/^[a-z0-9-]+$/.test(name)) throw new Error(`write guard: "${name}" is no fixture name; use a-z, 0-9 and dashes`);
  const { QA_PILOT_FIXTURE_DIR } = process.env;
  const folder = QA_PILOT_FIXTURE_DIR?.trim();
  if (!folder) throw new Error('write guard: QA_PILOT_FIXTURE_DIR is not set; "qa-pilot run" sets it');
  return join(folder, `${name}.json`);
}

function writeWhole(file: string, text: string): void {
  const beside = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(beside, text);
  renameSync(beside, file);
}

// === The guard's environment and its control API

const HOW_TO_START =
  'write guard: not running, so nothing may run. Start the suite with ' +
  '"qa-pilot run --feature FEATURE --env ENV -- npx playwright test", ' +
  'or start "qa-pilot proxy" and set what "qa-pilot env READY_FILE" prints';

interface Environment {
  control: string;
  token: string;
  spki: string;
  runDir: string;
  runProxy: string;
}

function environment(): Environment | null {
  const { QA_PILOT_CONTROL, QA_PILOT_TOKEN, QA_PILOT_CA_SPKI, QA_PILOT_RUN_DIR, QA_PILOT_RUN_PROXY } = process.env;
  if (!QA_PILOT_CONTROL || !QA_PILOT_TOKEN || !QA_PILOT_CA_SPKI || !QA_PILOT_RUN_DIR || !QA_PILOT_RUN_PROXY) return null;
  return {
    control: QA_PILOT_CONTROL,
    token: QA_PILOT_TOKEN,
    spki: QA_PILOT_CA_SPKI,
    runDir: QA_PILOT_RUN_DIR,
    runProxy: QA_PILOT_RUN_PROXY,
  };
}

/** What this process was told about the policy. Throws when it is malformed. */
function declaredPolicy(): { policy: Policy; prefix: string | null } {
  const { QA_PILOT_MUTATION } = process.env;
  const text = QA_PILOT_MUTATION?.trim();
  if (!text) return { policy: 'read-only', prefix: null };
  let value: { policy?: unknown; prefix?: unknown } | null;
  try {
    value = JSON.parse(text) as typeof value;
  } catch {
    throw new Error(`write guard: QA_PILOT_MUTATION is not JSON: ${text}`);
  }
  const { policy = undefined, prefix = null } = value ?? {};
  if (policy !== 'read-only' && policy !== 'scoped-write' && policy !== 'unrestricted') {
    throw new Error('write guard: QA_PILOT_MUTATION.policy must be read-only, scoped-write or unrestricted');
  }
  const scoped = typeof prefix === 'string' && /^[A-Za-z0-9_-]{3,}$/.test(prefix);
  if (policy === 'scoped-write' ? !scoped : prefix !== null) {
    throw new Error(
      'write guard: QA_PILOT_MUTATION.prefix must be three or more of A-Z a-z 0-9 _ - under scoped-write, and absent otherwise',
    );
  }
  return { policy, prefix: prefix as string | null };
}

const ownFetch = globalThis.fetch; // a spec may replace it

interface Answer {
  status: number;
  body: unknown;
}

async function call(env: Environment, method: string, path: string, body?: object): Promise<Answer> {
  let response: Response;
  try {
    response = await ownFetch(`${env.control}${path}`, {
      method,
      headers: { authorization: `Bearer ${env.token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new Error(`write guard: no answer from ${env.control}${path}: ${cause}`);
  }
  const text = await response.text();
  try {
    return { status: response.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
  } catch {
    throw new Error(`write guard: ${env.control}${path} answered ${response.status} with something that is not JSON`);
  }
}

function refusal(answer: Answer): string {
  const body = answer.body as { error?: unknown } | null;
  return typeof body?.error === 'string' ? body.error : `status ${answer.status}`;
}

/** One interval of an attempt: a test with its fixtures, or a beforeAll or afterAll hook of it. */
interface Attempt {
  id: string;
  proxy: string;
  policy: Policy;
  prefix: string | null;
  pageGuard: string;
  secret: string;
}

interface Interval {
  attempt: Attempt;
  info: TestInfo;
  /** Blocked controls so far. */
  controls: number;
}

interface LiveRecord {
  installed: boolean;
  routed_requests: number;
  blocked: number;
  events: GuardEvent[];
}

// === What this process keeps from leaving the proxy

interface LaunchGate {
  /** Launches that the `browser` fixture is about to make. */
  expected: number;
}

/** Everything but the runner's own launch could put a browser beside the proxy. */
function refuseOwnBrowsers(): LaunchGate {
  const marker = Symbol.for('qa-pilot.launch-gate');
  const shared = globalThis as { [marker]?: LaunchGate };
  const existing = shared[marker];
  if (existing) return existing; // this file was loaded twice
  const gate: LaunchGate = { expected: 0 };
  shared[marker] = gate;
  for (const type of [chromium, firefox, webkit]) {
    const methods = type as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const name of ['launch', 'launchPersistentContext', 'launchServer', 'connect', 'connectOverCDP']) {
      const original = methods[name];
      if (typeof original !== 'function') continue;
      methods[name] = function (this: unknown, ...args: unknown[]) {
        if (name === 'launch' && gate.expected > 0) {
          gate.expected--;
        } else if (declaredPolicy().policy !== 'unrestricted') {
          throw new Error(`write guard: ${type.name()}.${name}() could leave the guard; use the browser, context or page fixture`);
        }
        return original.apply(this, args);
      };
    }
  }
  return gate;
}

// The runner's own process loads spec files as well, and global setup may launch a browser there.
const { TEST_WORKER_INDEX, PW_TEST_REUSE_CONTEXT } = process.env;
const inWorker = TEST_WORKER_INDEX !== undefined;
const launches: LaunchGate = inWorker ? refuseOwnBrowsers() : { expected: 0 };

function refuseProxyOption(proxy: { server: string } | undefined, where: string, ours: string): void {
  if (!proxy || proxy.server === ours) return;
  throw new Error(
    `write guard: ${where} names the proxy ${proxy.server}, which would replace the guard's; ` +
      'the guard is the proxy; hand a further one to qa-pilot with --upstream-proxy',
  );
}

// === The guard of one worker

interface GuardedContext {
  context: BrowserContext;
  key: string;
  door: string;
  counter: number;
  /** The scope that a new document of the context gets. */
  scope: string | null;
  /** The highest message number of each document: a message is taken once. */
  heard: Map<string, number>;
}

interface PageReport {
  type: 'installed' | 'control' | 'unguarded';
  origin?: string;
  url?: string;
  /** A document that was there before the attempt began, and was asked. */
  again?: boolean;
  reason?: string;
  label?: string;
}

const BINDING = '__qa_pilot_report';

/** The record of an attempt is closed by its 10,000th event, so what pages report beyond it changes nothing. */
const EVENT_LIMIT = 10_000;

/** How many reports go into one call. */
const BATCH = 200;

/** How many blocks of an attempt are shown one by one in reports and traces. */
const SHOWN = 20;

class GuardWorker {
  private open: Interval | null = null;
  private last: Interval | null = null;
  /** Reports go to the guard in order, one call at a time; those that come meanwhile share the next. */
  private waiting: { interval: Interval; report: PageReport; at: string }[] = [];
  private sending: Promise<void> | null = null;
  private pageGuard: string | null = null;
  private scope: string | null = null;
  private readonly contexts = new Set<GuardedContext>();
  private readonly pending = new Set<Promise<void>>();
  private readonly failures: string[] = [];
  /** Blocks that pages reported while no attempt could take them; the next attempt does. */
  private unclaimed: PageReport[] = [];
  /** Origins of documents that were open when the attempt began. */
  private readonly standing = new Set<string>();
  private dropped = 0;

  constructor(private readonly env: Environment) {}

  get current(): Attempt | null {
    return this.open?.attempt ?? null;
  }

  async begin(info: TestInfo): Promise<Attempt> {
    const declared = declaredPolicy();
    const answer = await call(this.env, 'POST', '/attempts', {
      test_id: info.testId,
      retry: info.retry,
      title: info.title,
      project: info.project.name,
      file: info.file,
      line: info.line,
      repeat_each_index: info.repeatEachIndex,
      worker_index: info.workerIndex,
      parallel_index: info.parallelIndex,
      output_dir: info.outputDir,
    });
    if (answer.status !== 201) throw new Error(`write guard: the attempt was not opened: ${refusal(answer)}`);
    const body = answer.body as {
      attempt: string;
      proxy: string;
      policy: Policy;
      prefix: string | null;
      page_guard: string;
      secret: string;
    };
    const attempt: Attempt = {
      id: body.attempt,
      proxy: body.proxy,
      policy: body.policy,
      prefix: body.prefix ?? null,
      pageGuard: body.page_guard,
      secret: body.secret,
    };
    this.open = { attempt, info, controls: 0 };
    this.pageGuard = attempt.pageGuard;
    this.scope = null;
    if (declared.policy !== attempt.policy || declared.prefix !== attempt.prefix) {
      const named = (policy: string, prefix: string | null) => (prefix === null ? policy : `${policy} ${prefix}`);
      throw new Error(
        `write guard: QA_PILOT_MUTATION says ${named(declared.policy, declared.prefix)}, ` +
          `the running guard enforces ${named(attempt.policy, attempt.prefix)}`,
      );
    }
    const unclaimed = this.unclaimed;
    this.unclaimed = [];
    for (const report of unclaimed) this.forward(report);
    // Pages that an earlier interval left open may be used by this one as well: they lose their scope and report in again.
    this.standing.clear();
    for (const guarded of this.contexts) this.track(this.tell(guarded, true));
    return attempt;
  }

  async finish(attempt: Attempt, info: TestInfo): Promise<void> {
    await this.settle();
    await this.countStanding(attempt);
    this.last = this.open;
    this.open = null;
    const answer = await call(this.env, 'POST', `/attempts/${attempt.id}/finish`, {
      status: info.status ?? 'unknown',
      keep: this.contexts.size > 0,
    });
    if (this.dropped > 0) {
      info.annotations.push({ type: 'write guard', description: `${this.dropped} page report(s) were not the guard's own and were dropped` });
      this.dropped = 0;
    }
    if (answer.status === 200) {
      const { path, record } = answer.body as { path: string; record: LiveRecord };
      for (const annotation of annotationsOf(record)) info.annotations.push(annotation);
      await info.attach('writes.json', { path, contentType: 'application/json' });
    } else if (answer.status !== 204) {
      throw new Error(`write guard: the record was not written: ${refusal(answer)}`);
    }
    const failure = this.failures.shift();
    if (failure !== undefined) throw new Error(failure);
  }

  /** Pages that were open before count only where they were used: an idle interval shall leave no record. */
  private async countStanding(attempt: Attempt): Promise<void> {
    if (this.standing.size === 0) return;
    const { installed, routed_requests } = await this.record(attempt);
    if (installed || routed_requests === 0) return;
    for (const origin of this.standing) this.forward({ type: 'installed', origin });
    await this.settle();
  }

  async record(attempt: Attempt): Promise<LiveRecord> {
    await this.settle();
    const answer = await call(this.env, 'GET', `/attempts/${attempt.id}`);
    if (answer.status !== 200) throw new Error(`write guard: the record cannot be read: ${refusal(answer)}`);
    return answer.body as LiveRecord;
  }

  async setScope(attempt: Attempt, url: string): Promise<void> {
    new RegExp(url); // throws in the spec, with the pattern in the message
    const answer = await call(this.env, 'POST', `/attempts/${attempt.id}/scope`, { url });
    if (answer.status !== 204) throw new Error(`write guard: the scope was not taken: ${refusal(answer)}`);
    this.scope = url;
    await Promise.all([...this.contexts].map((guarded) => this.tell(guarded, false)));
  }

  /** The proxy for what is opened now: the open attempt's port, else the run's. */
  proxyNow(): string {
    return this.current?.proxy ?? this.env.runProxy;
  }

  // === Contexts

  wrapBrowser(browser: Browser): void {
    const newContext = browser.newContext.bind(browser);
    const newPage = browser.newPage.bind(browser);
    browser.newContext = async (options = {}) => {
      const context = await newContext(this.guardedOptions(options, 'browser.newContext()'));
      await this.install(context);
      return context;
    };
    // newPage makes its context by the method above; this is only for the name in the refusal.
    browser.newPage = async (options = {}) => newPage(this.guardedOptions(options, 'browser.newPage()'));
    browser.newBrowserCDPSession = async () => {
      throw new Error('write guard: browser.newBrowserCDPSession() could leave the guard; use context.newCDPSession(page)');
    };
  }

  guardedOptions<T extends { proxy?: { server: string }; clientCertificates?: unknown[] }>(options: T, where: string): T {
    const server = this.proxyNow();
    refuseProxyOption(options.proxy, where, server);
    if (options.clientCertificates?.length) {
      throw new Error(`write guard: ${where} has clientCertificates, which would go round the guard; hand them to qa-pilot with --client-cert`);
    }
    return { ...options, proxy: { server }, ignoreHTTPSErrors: true };
  }

  private async install(context: BrowserContext): Promise<void> {
    const guarded: GuardedContext = {
      context,
      key: randomBytes(32).toString('hex'),
      door: `qa_${randomBytes(8).toString('hex')}`,
      counter: 0,
      scope: null,
      heard: new Map(),
    };
    const script = this.pageGuard ?? (await this.fetchPageGuard());
    await context.exposeBinding(BINDING, (_source, report: unknown) => this.hear(guarded, report));
    const attempt = { key: guarded.key, door: guarded.door, binding: BINDING, scope: this.message(guarded, false) };
    await context.addInitScript({ content: `(${script})(${JSON.stringify(attempt)});` });
    this.contexts.add(guarded);
    context.once('close', () => this.contexts.delete(guarded));
  }

  /** A message that only the guard of this context takes, and that each document takes once. */
  private message(guarded: GuardedContext, announce: boolean): string {
    const text = JSON.stringify({ counter: ++guarded.counter, scope: this.scope, announce });
    guarded.scope = this.scope;
    return `${mac(guarded.key, `down.${text}`)}.${text}`;
  }

  /** Hands the scope to every open document and to those that come; with `announce` the open ones report in again. */
  private async tell(guarded: GuardedContext, announce: boolean): Promise<void> {
    const receive = ([door, text]: readonly [string, string]): void => {
      const guard = (globalThis as unknown as Record<string, ((text: string) => void) | undefined>)[door];
      guard?.(text);
    };
    // Init scripts stay for good, so one is added only when later documents would get another scope.
    if (guarded.scope !== this.scope) {
      await guarded.context.addInitScript(receive, [guarded.door, this.message(guarded, false)] as const);
    }
    const argument = [guarded.door, this.message(guarded, announce)] as const;
    const frames: Frame[] = guarded.context.pages().flatMap((page) => page.frames());
    // A frame that navigates away meanwhile gets the scope at its next document start.
    await Promise.all(frames.map((frame) => within(2000, frame.evaluate(receive, argument))));
  }

  // === Reports from pages

  private hear(guarded: GuardedContext, report: unknown): void {
    const reports = typeof report === 'string' ? this.authentic(guarded, report) : null;
    if (!reports) this.dropped++;
    for (const report of reports ?? []) {
      if (report.again) this.standing.add(report.origin ?? '');
      else this.forward(report);
    }
  }

  private authentic(guarded: GuardedContext, report: string): PageReport[] | null {
    const text = report.slice(65);
    const expected = Buffer.from(mac(guarded.key, `up.${text}`));
    const given = Buffer.from(report.slice(0, 64));
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    const [, document = '', counter = '', body = ''] = /^([0-9a-f]+)\.(\d+)\.(.*)$/s.exec(text) ?? [];
    const number = Number(counter);
    const before = guarded.heard.get(document) ?? 0;
    if (number <= before) return null;
    guarded.heard.set(document, number);
    if (number > before + 1) {
      this.failures.push('write guard: a page kept reports of the guard from arriving, so the record is not whole');
    }
    return JSON.parse(body) as PageReport[];
  }

  private forward(report: PageReport): void {
    const interval = this.open ?? this.last;
    if (!interval) {
      if (report.type === 'control') this.unclaimed.push(report);
      return;
    }
    if (report.type === 'control') {
      if (++interval.controls > EVENT_LIMIT) return;
      if (interval === this.open && interval.controls <= SHOWN) this.show(interval.info, report);
    }
    this.waiting.push({ interval, report, at: new Date().toISOString() });
    if (this.sending) return;
    this.sending = this.send().finally(() => (this.sending = null));
    this.track(this.sending);
  }

  private async send(): Promise<void> {
    for (let [first] = this.waiting; first; [first] = this.waiting) {
      const { interval } = first;
      const { attempt } = interval;
      const other = this.waiting.findIndex((entry) => entry.interval !== interval);
      const batch = this.waiting.splice(0, Math.min(BATCH, other === -1 ? BATCH : other));
      const body = batch.map(({ report, at }) => ({ ...report, at, secret: attempt.secret }));
      const answer = await call(this.env, 'POST', `/attempts/${attempt.id}/page`, body);
      if (answer.status === 204) continue;
      if (this.open === interval) this.failures.push(`write guard: a page report was refused: ${refusal(answer)}`);
      this.unclaimed.push(...batch.map(({ report }) => report).filter(({ type }) => type === 'control'));
    }
  }

  /** A step of the test, so that the trace shows at which moment what was blocked. */
  private show({ file, line, column }: TestInfo, report: PageReport): void {
    const nothing = async (): Promise<void> => undefined;
    // Hooks and fixtures that are being taken down may have no place for a step; the annotation is there in any case.
    base.step(`blocked control "${report.label ?? ''}" (${report.reason ?? ''})`, nothing, { location: { file, line, column } }).catch(() => undefined);
  }

  private track(work: Promise<void>): void {
    const tracked: Promise<void> = work
      .catch((error: unknown) => void this.failures.push(error instanceof Error ? error.message : String(error)))
      .finally(() => this.pending.delete(tracked));
    this.pending.add(tracked);
  }

  private async settle(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending);
  }

  /** The end of the worker: what pages reported after its last attempt has no record to go to, so it fails the run. */
  async close(): Promise<void> {
    await this.settle();
    const left = this.unclaimed.map((report) => report.reason ?? 'a control');
    if (left.length > 0) throw new Error(`write guard: blocked after the last attempt: ${left.join('; ')}`);
    const failure = this.failures.shift();
    if (failure !== undefined) throw new Error(failure);
  }

  private async fetchPageGuard(): Promise<string> {
    const answer = await call(this.env, 'GET', '/page-guard');
    if (answer.status !== 200) throw new Error(`write guard: no page script: ${refusal(answer)}`);
    return (answer.body as { page_guard: string }).page_guard;
  }
}

/** What a person who wonders why a click did nothing finds in the report of the test. */
function annotationsOf({ events }: LiveRecord): { type: string; description: string }[] {
  const blocked = events.filter(({ action }) => action === 'block');
  const shown = blocked.slice(0, SHOWN).map(({ kind, reason, label, method, url }) => ({
    type: `blocked ${kind}`,
    description: kind === 'control' ? `${label ?? ''}: ${reason}` : `${method ?? ''} ${url ?? ''}: ${reason}`,
  }));
  const more = blocked.length - shown.length;
  return more > 0 ? [...shown, { type: 'blocked', description: `and ${more} more; writes.json has all of them` }] : shown;
}

function mac(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

/** Waits for `work`, but no longer than this; a failure of it is no failure of the caller. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work.then(() => undefined, () => undefined), late]);
  clearTimeout(timer);
}

/** Patterns go into the record as text, which has no place for flags. */
function sourceOf(url: string | RegExp): string {
  if (typeof url === 'string') return url;
  if (url.flags === '') return url.source;
  throw new Error(`write guard: setScope() takes a pattern without flags, and ${String(url)} has "${url.flags}"; for either case write [Oo]rders`);
}

// === Fixtures

const worker: { guard: GuardWorker | null } = { guard: null };

if (inWorker) {
  const newContext = apiRequest.newContext.bind(apiRequest);
  apiRequest.newContext = async (options = {}) => {
    if (!worker.guard) throw new Error('write guard: request.newContext() before the guard is ready; call it in a test, hook or fixture');
    return newContext(worker.guard.guardedOptions(options, 'request.newContext()'));
  };
}

async function selfTest(browser: Browser, env: Environment): Promise<void> {
  const context = await browser.newContext({
    proxy: { server: env.runProxy },
    ignoreHTTPSErrors: true,
    // Playwright adds what the test asks for where nothing is said; none of that belongs here.
    clientCertificates: [],
    extraHTTPHeaders: {},
    offline: false,
    storageState: { cookies: [], origins: [] },
  });
  try {
    const page = await context.newPage();
    const probe = `${env.control}/probe`;
    const answered = page.waitForResponse(probe, { timeout: 15_000 });
    // In a frame, because for a page of its own the browser would ask for an icon as well.
    await page.setContent(`<iframe src="${probe}"></iframe>`, { waitUntil: 'commit' });
    const response = await answered;
    const answer = (await response.json()) as { guard?: unknown } | null;
    if (answer?.guard !== 'qa-pilot') throw new Error(`the probe answered ${response.status()}`);
  } catch (error) {
    const [line] = String(error instanceof Error ? error.message : error).split('\n');
    throw new Error(
      `write guard: this browser does not go through the guard (${line}); is loopback taken out of the proxy, ` +
        'by PLAYWRIGHT_DISABLE_FORCED_CHROMIUM_PROXIED_LOOPBACK or an argument of the browser?',
    );
  } finally {
    await context.close();
  }
}

/** What `qa-pilot run` puts into meta.json. Workers agree on it, so the last one may win. */
function reportBrowser(browser: Browser, env: Environment): void {
  const told = { name: browser.browserType().name(), version: browser.version() };
  writeWhole(join(env.runDir, 'browser.json'), `${JSON.stringify(told)}\n`);
}

function chromiumArguments(env: Environment): string[] {
  return [
    // Trusts the certificates of this run alone; service workers, cache and HSTS stay as they are.
    `--ignore-certificate-errors-spki-list=${env.spki}`,
    // WebRTC would leave by UDP otherwise.
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  ];
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  launchOptions: [
    async ({ launchOptions, browserName }, use) => {
      const env = environment();
      if (!env) return use(launchOptions);
      const { proxy, ...options } = launchOptions;
      refuseProxyOption(proxy, 'launchOptions', env.runProxy);
      if (browserName === 'chromium') options.args = [...(options.args ?? []), ...chromiumArguments(env)];
      if (browserName === 'firefox') {
        options.firefoxUserPrefs = { ...options.firefoxUserPrefs, 'network.proxy.allow_hijacking_localhost': true };
      }
      await use(options);
    },
    { scope: 'worker' },
  ],

  connectOptions: [
    async ({ connectOptions }, use) => {
      if (connectOptions && declaredPolicy().policy !== 'unrestricted') {
        throw new Error('write guard: connectOptions and PW_TEST_CONNECT_WS_ENDPOINT name a browser elsewhere, which could leave the guard');
      }
      await use(connectOptions);
    },
    { scope: 'worker' },
  ],

  // Comes before the browser is launched, and lets just that launch pass.
  qaPilotLaunch: [
    async ({ launchOptions, browserName }, use) => {
      const env = environment();
      if (!env) throw new Error(HOW_TO_START);
      const complete = chromiumArguments(env).every((argument) => launchOptions.args?.includes(argument));
      if (browserName === 'chromium' && !complete) {
        throw new Error('write guard: test.use({ launchOptions }) replaced the guard\'s; set launchOptions in playwright.config.ts');
      }
      launches.expected = 1;
      await use();
    },
    { scope: 'worker' },
  ],

  qaPilotWorker: [
    async ({}, use) => {
      const env = environment();
      const guard = env && new GuardWorker(env);
      worker.guard = guard;
      await use(guard as GuardWorker);
      worker.guard = null;
      await guard?.close();
    },
    { scope: 'worker' },
  ],

  browser: [
    async ({ qaPilotWorker, qaPilotLaunch: _, browser }, use) => {
      launches.expected = 0;
      const env = environment();
      if (!env) throw new Error(HOW_TO_START);
      await selfTest(browser, env);
      reportBrowser(browser, env);
      qaPilotWorker.wrapBrowser(browser);
      await use(browser);
    },
    { scope: 'worker' },
  ],

  ignoreHTTPSErrors: async ({}, use) => use(true),

  // The scope of an attempt: set up before the context and torn down after it has closed, also for hooks.
  proxy: async ({ proxy, qaPilotWorker }, use, testInfo) => {
    const env = environment();
    if (!env) throw new Error(HOW_TO_START);
    if (testInfo.config.preserveOutput !== 'always') {
      throw new Error(`write guard: preserveOutput is "${testInfo.config.preserveOutput}", which deletes records and traces; set it to "always"`);
    }
    if (PW_TEST_REUSE_CONTEXT) {
      throw new Error('write guard: PW_TEST_REUSE_CONTEXT keeps one context for all tests; each attempt needs its own');
    }
    refuseProxyOption(proxy, 'playwright.config.ts', env.runProxy);
    const attempt = await qaPilotWorker.begin(testInfo);
    await use({ server: attempt.proxy });
    await qaPilotWorker.finish(attempt, testInfo);
  },

  qaPilotAttempt: [
    async ({ proxy, qaPilotWorker }, use) => {
      const attempt = qaPilotWorker?.current;
      if (!attempt || proxy?.server !== attempt.proxy) {
        throw new Error('write guard: this test\'s proxy is not the guard\'s; remove test.use({ proxy }) from the spec');
      }
      await use();
    },
    { auto: true },
  ],

  writeGuard: async ({ proxy: _, qaPilotWorker }, use) => {
    const attempt = qaPilotWorker.current;
    if (!attempt) throw new Error(HOW_TO_START);
    await use({
      policy: attempt.policy,
      setScope: async ({ url }) => qaPilotWorker.setScope(attempt, sourceOf(url)),
      blocked: async () => (await qaPilotWorker.record(attempt)).blocked,
      events: async () => (await qaPilotWorker.record(attempt)).events,
    });
  },

  newGuardedContext: async ({ proxy: _, browser }, use) => {
    const contexts: BrowserContext[] = [];
    await use(async (options) => {
      const context = await browser.newContext(options);
      contexts.push(context);
      return context;
    });
    await Promise.all(contexts.map((context) => context.close()));
  },
});
