import { existsSync } from 'node:fs';
import { chromium, defineConfig } from '@playwright/test';

// CHROMIUM, else Playwright's own browser, else the system's.
const system = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
const executablePath = process.env.CHROMIUM ?? (existsSync(chromium.executablePath()) ? undefined : system);

// `qa-pilot run --feature F` names the feature; without one every feature's specs are listed.
const feature = process.env.QA_PILOT_FEATURE ?? '*';

export default defineConfig({
  testDir: 'specs',
  fullyParallel: true,
  workers: 2,
  retries: 1,
  timeout: 30_000,
  expect: { timeout: 5_000 },
  use: {
    baseURL: process.env.SHOP_URL ?? 'https://shop.localhost:7443',
    launchOptions: { executablePath },
  },
  projects: [
    { name: 'authenticate', testMatch: 'authenticate.setup.ts', retries: 0 },
    { name: 'fixtures', testMatch: `${feature}/FIXTURE-*.setup.ts`, teardown: 'fixtures-teardown', retries: 0 },
    { name: 'fixtures-teardown', testMatch: `${feature}/FIXTURE-*.teardown.ts`, retries: 0 },
    {
      name: 'chromium',
      testMatch: `${feature}/*.spec.ts`,
      dependencies: ['authenticate', 'fixtures'],
      use: { storageState: '.auth/customer.json' },
    },
  ],
});
