import { expect, test } from '../write-guard';
import { adminUrl } from './admin';

test('PRODUCTS-NAME-001: a product without a name is not saved', async ({ page, writeGuard }) => {
  await writeGuard.setScope({ url: `^${adminUrl}/$` });
  await page.goto(adminUrl);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('alert')).toHaveText('A product needs a name');
});
