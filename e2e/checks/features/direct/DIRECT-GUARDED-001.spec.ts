import { expect, test } from '../write-guard';

test('DIRECT-GUARDED-001: keeps the guard', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('status')).toHaveText('12 products');
});
