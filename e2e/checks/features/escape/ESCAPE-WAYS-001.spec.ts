import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { promisify } from 'node:util';
import { test } from '@playwright/test';

const shop = `http://localhost:${process.env.SHOP_PORT}`;
const target = (way: string) => `${shop}/api/orders/1?way=${way}`;

// No guard, on purpose: every way out that goes past it. None is expected to work or to fail here; what arrives counts.
test('ESCAPE-WAYS-001: every way past the guard', async ({ browser }) => {
  const ways: Record<string, () => Promise<unknown>> = {
    raw: () =>
      new Promise((resolve, reject) => {
        const sent = request(target('raw').replace('localhost', '127.0.0.1'), { method: 'DELETE' }, (answer) => resolve(answer.statusCode));
        sent.once('error', reject).end();
      }),
    bypass: async () => {
      const context = await browser.newContext({ proxy: { server: process.env.QA_PILOT_RUN_PROXY ?? '', bypass: 'localhost' } });
      const page = await context.newPage();
      await page.goto(shop);
      return page.evaluate((url) => fetch(url, { method: 'DELETE' }).then(({ status }) => status), target('bypass'));
    },
    curl: () => promisify(execFile)('curl', ['-sS', '--max-time', '5', '--noproxy', '*', '-X', 'DELETE', target('curl').replace('localhost', '127.0.0.1')]),
    udp: () =>
      new Promise((resolve, reject) => {
        const socket = createSocket('udp4');
        socket.send('over udp', Number(process.env.UDP_PORT), '127.0.0.1', (error) => {
          socket.close();
          if (error) reject(error);
          else resolve('sent');
        });
      }),
  };
  const told: Record<string, string> = {};
  for (const [way, go] of Object.entries(ways)) {
    told[way] = await go().then((answer) => JSON.stringify(answer), String);
  }
  writeFileSync(process.env.TOLD ?? '', JSON.stringify(told));
});
