import { type Page } from '@playwright/test';
import { expect, test } from '../write-guard';

test.describe.configure({ mode: 'serial' });

let page: Page;
test.beforeAll(async ({ browser, baseURL }) => {
  page = await browser.newPage({ baseURL });
  await page.goto('/');
});
test.afterAll(async () => page.close());

test('SHARED-PAGE-001: reads on a page that the hook opened', async () => {
  await expect(page.getByRole('status')).toHaveText('12 products');
});

test('SHARED-PAGE-002: writes on that page', async () => {
  const status = await page.evaluate(() => fetch('/api/orders?from=SHARED-PAGE-002', { method: 'POST', body: '{}' }).then((r) => r.status));
  expect(status).toBe(403);
});

test('SHARED-PAGE-003: reads on that page again', async () => {
  await page.getByLabel('Search').fill('lamp');
  await expect(page.getByTestId('product')).toHaveCount(3);
});
