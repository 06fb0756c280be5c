import { expect, test } from '../write-guard';

test('PAGE-SEEN-001: a click that does nothing', async ({ page, writeGuard }) => {
  await page.goto('/');
  await page.setContent('<button onclick="document.title = 1">Delete order</button>');
  await page.getByRole('button').click();
  await expect(page).not.toHaveTitle('1');
  expect(await writeGuard.blocked()).toBe(1);
  expect(await page.evaluate(() => fetch('/api/orders', { method: 'POST', body: '{}' }).then((r) => r.status))).toBe(403);
});

test('PAGE-FLOOD-001: more blocks than a record holds', async ({ page, writeGuard }) => {
  await page.goto('/');
  await page.setContent('<button>Delete</button>');
  await page.evaluate(() => {
    const button = document.querySelector('button');
    for (let i = 0; i < 10_500; i++) button?.click();
  });
  expect(await writeGuard.blocked()).toBe(10_000);
});

test('PAGE-FLAGS-001: a scope with flags is refused in the spec', async ({ page, writeGuard }) => {
  await page.goto('/');
  await expect(writeGuard.setScope({ url: /orders/i })).rejects.toThrow('setScope() takes a pattern without flags, and /orders/i has "i"');
  await writeGuard.setScope({ url: /orders\/\d+$/ });
});
