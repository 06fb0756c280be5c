import { expect, loadFixture, test } from '../write-guard';
import { adminUrl, rowOf } from './admin';

test('FIXTURE product teardown', async ({ page }) => {
  const { name } = loadFixture<{ name: string }>('product');
  await page.goto(adminUrl);
  await rowOf(page, name).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(rowOf(page, name)).toHaveCount(0);
});
