import { test } from '../write-guard';

test.use({ launchOptions: { args: [] } });

test('MISUSE-ARGS-001: launch options by test.use', async ({ page }) => {
  await page.goto('/');
});
