import { expect, test } from '../write-guard';

test('CATALOGUE-SEARCH-001: searching narrows the list', async ({ page }) => {
  await page.goto('/');
  await page.getByLabel('Search').fill('lamp');
  await expect(page.getByTestId('product')).toHaveCount(3);
  for (const product of await page.getByTestId('product').all()) await expect(product).toContainText(/lamp/i);
});
