import { expect, test } from '../write-guard';

test('VERSIONS-CLICK-001: a control', async ({ page, writeGuard }) => {
  await page.goto('/');
  await page.setContent('<button onclick="document.title = 1">Delete</button><button onclick="document.title = 2">Show</button>');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(page).toHaveTitle('2');
  expect(await writeGuard.blocked()).toBe(1);
});

test('VERSIONS-REQUEST-001: requests of pages, contexts and none', async ({ page, request, context, playwright, browser, baseURL }) => {
  await page.goto('/');
  expect(await page.evaluate(() => fetch('/api/orders', { method: 'POST', body: '{}' }).then((r) => r.status))).toBe(403);
  for (const from of [request, page.request, context.request]) expect((await from.post('/api/orders', { data: {} })).status()).toBe(403);
  const own = await playwright.request.newContext({ baseURL });
  expect((await own.post('/api/orders', { data: {} })).status()).toBe(403);
  await own.dispose();
  const second = await browser.newContext({ baseURL });
  expect((await second.request.post('/api/orders', { data: {} })).status()).toBe(403);
  await second.close();
  expect(() => playwright.chromium.launch()).toThrow('chromium.launch() could leave the guard');
});

test('VERSIONS-READ-001: only reads', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('status')).toHaveText('12 products');
});
