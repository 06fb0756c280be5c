import { expect, test } from '../write-guard';

test('CATALOGUE-LOGIN-001: a wrong password is refused', async ({ page }) => {
  await page.goto('/login');
  await page.getByLabel('Account').fill('customer');
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert')).toHaveText('Unknown account or wrong password');
});
