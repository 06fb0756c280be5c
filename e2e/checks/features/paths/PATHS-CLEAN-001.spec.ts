import { expect, test } from '../write-guard';

for (const n of [1, 2, 3, 4]) {
  test(`PATHS-CLEAN-00${n}: only reads, while its neighbours write`, async ({ page }) => {
    for (const path of ['/', '/basket', '/gallery']) await page.goto(path);
    await expect(page.getByRole('heading')).toHaveText('Gallery');
  });
}
