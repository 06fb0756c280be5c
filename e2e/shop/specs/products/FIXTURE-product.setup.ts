import { expect, saveFixture, test } from '../write-guard';
import { adminUrl, create, rowOf } from './admin';

test('FIXTURE product', async ({ page, writeGuard }) => {
  const name = `QA_TEST_ shared ${Date.now()}`;
  await writeGuard.setScope({ url: `^${adminUrl}/$` });
  await page.goto(adminUrl);
  await create(page, name, '10');
  await expect(rowOf(page, name)).toBeVisible();
  saveFixture('product', { name });
});
