import { expect, test } from '../write-guard';

const adminUrl = process.env.ADMIN_URL ?? '';

test('OUTSIDE-OWN-001: makes and deletes a product of its own', async ({ page, writeGuard }) => {
  const name = 'QA_TEST_ own';
  await page.request.post(`${adminUrl}/api/products`, { data: { name, price: 1 } });
  await page.goto(adminUrl);
  await page.getByRole('row', { name }).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('row', { name })).toHaveCount(0);
  expect(await writeGuard.blocked()).toBe(0);
  expect((await writeGuard.events()).map((event) => `${event.action} ${event.method}`)).toEqual(['observe POST', 'observe DELETE']);
});
