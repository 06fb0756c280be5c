import { expect, test } from '../write-guard';

test.use({
  trace: 'on', screenshot: 'on', locale: 'de-DE', timezoneId: 'Europe/Berlin', viewport: { width: 800, height: 600 }, colorScheme: 'dark',
  userAgent: 'a browser', extraHTTPHeaders: { 'x-extra': '1' }, geolocation: { latitude: 1, longitude: 2 }, permissions: ['geolocation'],
  hasTouch: true, deviceScaleFactor: 2, serviceWorkers: 'block', bypassCSP: true, acceptDownloads: false,
  httpCredentials: { username: 'a', password: 'b' }, contextOptions: { reducedMotion: 'reduce' }, storageState: { cookies: [], origins: [] },
  testIdAttribute: 'data-other', actionTimeout: 5000, navigationTimeout: 10_000,
});

test('PAGE-OPTIONS-001: they stay as they are, and the guard stands', async ({ page }) => {
  await page.goto('/');
  expect(await page.evaluate(() => [navigator.language, navigator.userAgent, innerWidth, matchMedia('(prefers-color-scheme: dark)').matches])).toEqual(['de-DE', 'a browser', 800, true]);
  await page.evaluate(() => document.body.replaceChildren(Object.assign(document.createElement('button'), { textContent: 'Delete' })));
  await page.getByRole('button').tap();
});
