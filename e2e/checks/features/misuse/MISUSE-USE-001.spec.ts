import { test } from '../write-guard';

test.use({ proxy: { server: 'http://127.0.0.1:1' } });

test('MISUSE-USE-001: a proxy by test.use', async ({ page }) => {
  await page.goto('/');
});
