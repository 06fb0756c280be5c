import { expect, test } from '../write-guard';

test('CATALOGUE-FILTER-001: filters combine and can be reset', async ({ page }) => {
  await page.goto('/');
  await page.getByLabel('Category').selectOption('Furniture');
  await page.getByLabel('Search').fill('desk');
  await expect(page.getByTestId('product')).toHaveCount(1);
  await page.getByRole('button', { name: 'Reset filters' }).click();
  await expect(page.getByRole('status')).toHaveText('12 products');
});
