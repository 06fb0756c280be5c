import { expect, test } from '../write-guard';

test.describe.configure({ mode: 'default' });

test.beforeAll(async ({ browser, baseURL }) => {
  const page = await browser.newPage({ baseURL });
  await page.goto('/');
  await page.evaluate(() => fetch('/api/orders?from=PATHS-HOOK-001', { method: 'POST', body: '{}' }));
  await page.close();
});

test('PATHS-HOOK-001: the hook before it wrote', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('status')).toHaveText('12 products');
});

test('PATHS-HOOK-002: the hook before its predecessor wrote', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('status')).toHaveText('12 products');
});
