import { expect, test } from '../write-guard';

const adminUrl = process.env.ADMIN_URL ?? '';

test('OUTSIDE-ROW-001: deletes a product that is not its own', async ({ page }) => {
  await page.goto(adminUrl);
  await page.getByRole('row', { name: 'Oak desk' }).getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
});
