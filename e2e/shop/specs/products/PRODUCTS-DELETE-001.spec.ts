import { expect, loadFixture, test } from '../write-guard';
import { adminUrl, rowOf } from './admin';

test('PRODUCTS-DELETE-001: a product can be kept at the last moment', async ({ page }) => {
  const { name } = loadFixture<{ name: string }>('product');
  await page.goto(adminUrl);
  await rowOf(page, name).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Keep' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
  await expect(rowOf(page, name)).toBeVisible();
});
