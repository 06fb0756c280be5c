import { expect, test } from '../write-guard';

test('CATALOGUE-DETAIL-001: the quantity stays within 1 and 9', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('link', { name: 'Reading lamp' }).click();
  const add = page.getByRole('button', { name: 'Add to basket' });
  await page.getByLabel('Quantity').fill('9');
  await add.click();
  await expect(page.getByRole('alert')).toHaveText('9 in the basket');
  await page.getByLabel('Quantity').fill('10');
  await add.click();
  await expect(page.getByRole('alert')).toHaveText('Choose a quantity from 1 to 9');
});
