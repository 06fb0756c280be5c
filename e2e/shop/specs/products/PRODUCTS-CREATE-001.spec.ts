import { expect, test } from '../write-guard';
import { adminUrl, create, rowOf } from './admin';

test('PRODUCTS-CREATE-001: a new product appears in the table', async ({ page, writeGuard }) => {
  const name = `QA_TEST_ stool ${Date.now()}`;
  await writeGuard.setScope({ url: `^${adminUrl}/$` });
  await page.goto(adminUrl);
  await create(page, name, '25');
  await expect(rowOf(page, name)).toContainText('€ 25');
});
