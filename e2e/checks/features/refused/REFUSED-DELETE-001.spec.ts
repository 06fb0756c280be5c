import { expect, test } from '../write-guard';

test('REFUSED-DELETE-001: deletes an order', async ({ page }) => {
  await page.goto('/orders');
  await page.getByRole('row', { name: 'Oak desk' }).getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('row', { name: 'Oak desk' })).toBeVisible(); // the click did nothing
});
