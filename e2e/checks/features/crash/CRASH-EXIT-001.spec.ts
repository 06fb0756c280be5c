import { expect, test } from '../write-guard';

test('CRASH-EXIT-001: the worker goes away in the middle of the first attempt', async ({ page }, testInfo) => {
  await page.goto('/');
  if (testInfo.retry === 0) process.exit(7);
  await expect(page.getByRole('status')).toHaveText('12 products');
});
