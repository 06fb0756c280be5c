import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '../write-guard';

test('ESCAPE-INSIDE-001: a server of the test is reached through the guard', async ({ page }) => {
  const server = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<p>from inside</p>'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
  await expect(page.getByText('from inside')).toBeVisible();
  server.close();
});
