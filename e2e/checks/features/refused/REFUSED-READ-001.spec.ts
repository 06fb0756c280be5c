import { expect, test } from '../write-guard';

test('REFUSED-READ-001: only reads', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('status')).toHaveText('12 products');
  // Sounds like a write, and is not one: the profile allows this search.
  const found = await page.request.post('/api/orders/search', { data: { status: 'open' } });
  expect(await found.json()).toHaveLength(1);
});
