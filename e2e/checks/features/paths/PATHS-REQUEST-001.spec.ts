import { expect, test } from '../write-guard';

test('PATHS-REQUEST-001: the request fixture', async ({ page, request }) => {
  await page.goto('/');
  const answer = await request.post('/api/orders?from=PATHS-REQUEST-001', { data: {} });
  expect(answer.status()).toBe(403);
});
