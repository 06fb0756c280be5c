import { expect, test } from '../write-guard';

test('CATALOGUE-ORDERS-001: orders are shown to their owner alone', async ({ page, newGuardedContext }) => {
  const stranger = await newGuardedContext({ storageState: undefined });
  const strangersPage = await stranger.newPage();
  await strangersPage.goto('/orders');
  await expect(strangersPage.getByText('Sign in to see your orders')).toBeVisible();

  await page.goto('/orders');
  await expect(page.getByRole('row')).toHaveCount(3);
});
