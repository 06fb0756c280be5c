import { expect, test } from '../write-guard';

test('CATALOGUE-LIST-001: the catalogue lists every product with its price', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('status')).toHaveText('12 products');
  await expect(page.getByTestId('product').filter({ hasText: 'Oak desk' })).toContainText('€ 349');
});
