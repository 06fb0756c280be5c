import { expect, test } from '../write-guard';

const write = () => fetch('/api/orders', { method: 'POST', body: '{}' }).then(({ status }) => status);

test('ENDINGS-FAIL-001: fails', async ({ page }) => {
  await page.goto('/');
  await page.evaluate(write);
  expect(1).toBe(2);
});

test('ENDINGS-TIMEOUT-001: times out', async ({ page }) => {
  test.setTimeout(4_000);
  await page.goto('/');
  await page.evaluate(write);
  await page.getByText('never there').click();
});

test('ENDINGS-SKIP-001: is skipped in its body', async ({ page }) => {
  await page.goto('/');
  await page.evaluate(write);
  test.skip();
});

test('ENDINGS-CLOSED-001: loses its browser', async ({ page, browser }) => {
  await page.goto('/');
  await page.evaluate(write);
  await browser.close();
});
