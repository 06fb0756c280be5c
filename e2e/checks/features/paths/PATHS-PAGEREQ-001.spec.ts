import { expect, test } from '../write-guard';

test('PATHS-PAGEREQ-001: the request of a page and of its context', async ({ page, context }) => {
  await page.goto('/');
  expect((await page.request.post('/api/orders?from=PATHS-PAGEREQ-001', { data: {} })).status()).toBe(403);
  expect((await context.request.delete('/api/orders/101?from=PATHS-PAGEREQ-001')).status()).toBe(403);
});
