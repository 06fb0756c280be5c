import { expect, test } from '../write-guard';

test('PROTOCOLS-STOCK-001: a WebSocket that no signature can match', async ({ page }) => {
  await page.goto('/live');
  await expect(page.getByRole('status')).toHaveText('live');
  await expect(page.getByText('heard hello')).toBeVisible();
});
