import { expect, test } from '../write-guard';

test('PAGE-SANDBOX-001: frames in which no script may run', async ({ page }) => {
  await page.goto('/');
  await page.evaluate(() => {
    document.body.insertAdjacentHTML('beforeend', `
      <iframe id=a sandbox srcdoc="<button>Delete</button>"></iframe><iframe id=b sandbox="allow-forms" src="/basket"></iframe>
      <iframe id=c sandbox="allow-scripts" srcdoc="<button>Delete</button>"></iframe><iframe id=d srcdoc="<button>Delete</button>"></iframe>`);
  });
  for (const id of ['a', 'c', 'd']) await page.frameLocator(`#${id}`).getByRole('button').click();
  await expect(page.frameLocator('#b').getByRole('heading')).toBeVisible();
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });
  test('PAGE-NOSCRIPT-001: a browser that runs none', async ({ page }) => {
    await page.goto('/basket');
    await expect(page.getByRole('heading')).toBeVisible();
  });
});
