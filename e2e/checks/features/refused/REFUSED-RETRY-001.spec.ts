import { expect, test } from '../write-guard';

test('REFUSED-RETRY-001: writes on its first attempt alone', async ({ page }, testInfo) => {
  await page.goto('/basket');
  if (testInfo.retry === 0) {
    await page.evaluate(() => fetch('/api/orders?from=REFUSED-RETRY-001', { method: 'POST', body: '{}' }));
    expect(testInfo.retry, 'the first attempt fails').toBe(1);
  }
});
