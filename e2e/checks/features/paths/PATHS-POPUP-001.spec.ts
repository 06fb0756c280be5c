import { expect, test } from '../write-guard';

test('PATHS-POPUP-001: a popup', async ({ page, context }) => {
  await page.goto('/outlets?from=PATHS-POPUP-001');
  const [popup] = await Promise.all([context.waitForEvent('page'), page.getByRole('link', { name: 'Offer' }).click()]);
  await expect(popup).toHaveTitle('answered 403');
});
