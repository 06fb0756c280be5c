import { chromium, expect, firefox, loadFixture, saveFixture, test } from '../write-guard';

test('MISUSE-LAUNCH-001: browsers of its own are refused', async ({ browser, playwright }) => {
  expect(() => chromium.launch()).toThrow('write guard: chromium.launch() could leave the guard');
  expect(() => playwright.chromium.launchPersistentContext('')).toThrow('launchPersistentContext() could leave');
  expect(() => firefox.launchServer()).toThrow('launchServer() could leave');
  expect(() => chromium.connect('ws://127.0.0.1:1')).toThrow('connect() could leave');
  expect(() => chromium.connectOverCDP('http://127.0.0.1:1')).toThrow('connectOverCDP() could leave');
  await expect(browser.newBrowserCDPSession()).rejects.toThrow('newBrowserCDPSession() could leave');
});

test('MISUSE-OPTION-001: proxies of its own are refused', async ({ browser, playwright }) => {
  const proxy = { server: 'http://127.0.0.1:1' };
  await expect(browser.newContext({ proxy })).rejects.toThrow('hand a further one to qa-pilot with --upstream-proxy');
  await expect(browser.newPage({ proxy })).rejects.toThrow('hand a further one to qa-pilot with --upstream-proxy');
  await expect(playwright.request.newContext({ proxy })).rejects.toThrow('hand a further one to qa-pilot with --upstream-proxy');
});

test('MISUSE-NOPROXY-001: leaving the proxy out leads nowhere', async ({ browser, baseURL }) => {
  const context = await browser.newContext({ proxy: undefined, baseURL });
  const page = await context.newPage();
  await page.goto('/');
  expect(await page.evaluate(() => fetch('/api/orders?from=MISUSE-NOPROXY-001', { method: 'POST', body: '{}' }).then((r) => r.status))).toBe(403);
  await context.close();
});

test('MISUSE-SCOPE-001: a scope that does not compile throws in the spec', async ({ writeGuard }) => {
  await expect(writeGuard.setScope({ url: '(' })).rejects.toThrow('Invalid regular expression');
});

test('MISUSE-FIXTURE-001: fixture names stay in their folder', async () => {
  expect(() => saveFixture('../x', {})).toThrow('is no fixture name');
  expect(() => loadFixture('never-saved')).toThrow('no fixture "never-saved" in this run');
  saveFixture('kept', { id: 7 });
  expect(loadFixture('kept')).toEqual({ id: 7 });
});
