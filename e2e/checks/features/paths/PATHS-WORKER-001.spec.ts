import { expect, test } from '../write-guard';

test('PATHS-WORKER-001: a service worker', async ({ page }) => {
  await page.goto('/outlets?from=PATHS-WORKER-001');
  await page.getByRole('button', { name: 'Work offline' }).click();
  await expect(page.getByRole('status')).toHaveText('worker: 403');
});
