import { type Locator, type Page } from '../write-guard';

export const adminUrl = process.env.ADMIN_URL ?? 'https://admin.localhost:7443';

export const rowOf = (page: Page, name: string): Locator =>
  page.getByRole('row').filter({ has: page.getByRole('cell', { name, exact: true }) });

/** Makes a product through the form. The form has no row of its own, so the page is declared as the spec's scope. */
export async function create(page: Page, name: string, price: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Price').fill(price);
  await page.getByRole('button', { name: 'Save' }).click();
}
