import { expect, request, test } from '../write-guard';

test('PATHS-OWNREQ-001: a request context of its own', async ({ page, playwright, baseURL }) => {
  await page.goto('/');
  for (const maker of [playwright.request, request]) {
    const own = await maker.newContext({ baseURL });
    expect((await own.post('/api/orders?from=PATHS-OWNREQ-001', { data: {} })).status()).toBe(403);
    await own.dispose();
  }
});
