import { test } from '../write-guard';

test('PATHS-BEACON-001: a beacon when the page closes', async ({ page }) => {
  await page.goto('/outlets?from=PATHS-BEACON-001#beacon');
});
