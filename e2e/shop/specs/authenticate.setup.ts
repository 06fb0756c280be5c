import { expect, test } from './write-guard';

test('authenticate', async ({ page, context }) => {
  await page.goto('/login');
  await page.getByLabel('Account').fill('customer');
  await page.getByLabel('Password').fill('correct horse');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByText('Signed in as customer')).toBeVisible();
  await context.storageState({ path: '.auth/customer.json', indexedDB: true });
});
