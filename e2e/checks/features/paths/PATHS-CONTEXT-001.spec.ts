import { expect, test } from '../write-guard';

test('PATHS-CONTEXT-001: a second context, made by hand, and a page of the browser', async ({ page, browser, baseURL }) => {
  await page.goto('/');
  const second = await browser.newContext({ baseURL });
  const there = await second.newPage();
  await there.goto('/');
  const post = () => fetch('/api/orders?from=PATHS-CONTEXT-001', { method: 'POST', body: '{}' }).then((r) => r.status);
  expect(await there.evaluate(post)).toBe(403);
  await second.close();
  const third = await browser.newPage({ baseURL });
  await third.goto('/');
  expect(await third.evaluate(post)).toBe(403);
  await third.close();
});
