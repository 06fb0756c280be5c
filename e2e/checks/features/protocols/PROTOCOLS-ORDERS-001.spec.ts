import { expect, test } from '../write-guard';

test('PROTOCOLS-ORDERS-001: a WebSocket over which orders are placed', async ({ page }) => {
  await page.goto('/live#orders');
  await expect(page.getByRole('status')).toHaveText('refused');
});
