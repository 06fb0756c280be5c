import { expect, test } from '../write-guard';

test('CATALOGUE-SEARCH-002: a search that matches nothing says so', async ({ page }) => {
  await page.goto('/');
  await page.getByLabel('Search').fill('piano');
  await expect(page.getByRole('status')).toHaveText('No product matches');
  await expect(page.getByTestId('product')).toHaveCount(0);
});
