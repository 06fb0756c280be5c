import { expect, test } from '../write-guard';

test('REFUSED-ORDER-001: places an order', async ({ page }) => {
  await page.goto('/basket');
  await page.getByRole('button', { name: 'Place order' }).click();
  await expect(page.getByRole('status')).toHaveText('The order could not be placed');
});
