import { expect, test } from '@playwright/test';

test('DIRECT-READ-001: leaves the guard out', async ({ browser }) => {
  const page = await browser.newPage({ ignoreHTTPSErrors: true });
  await page.goto(process.env.SHOP_URL ?? '');
  await expect(page.getByRole('status')).toHaveText('12 products');
});
