import { type Page } from '@playwright/test';
import { expect, test as base } from '../write-guard';

// A page of the worker's own, opened before the first attempt begins.
const test = base.extend<object, { desk: Page }>({
  desk: [
    async ({ browser }, use) => {
      const page = await browser.newPage();
      await page.goto(process.env.ADMIN_URL ?? '');
      await use(page);
      await page.close();
    },
    { scope: 'worker', auto: true },
  ],
});

test('SHARED-WORKER-001: clicks in a page of the worker', async ({ page, desk, writeGuard }) => {
  await page.goto('/');
  await desk.getByRole('row', { name: 'Oak desk' }).getByRole('button', { name: 'Delete' }).click();
  await expect(desk.getByRole('dialog')).toBeHidden();
  expect((await writeGuard.events()).map(({ kind, label }) => [kind, label])).toEqual([['control', 'Delete']]);
});
