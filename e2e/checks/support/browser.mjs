// Which Chromium the checks use: CHROMIUM, else Playwright's own when it is installed, else the system's.
import { existsSync } from 'node:fs';
import { chromium } from '@playwright/test';

export function executablePath() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  if (existsSync(chromium.executablePath())) return undefined;
  const found = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
  if (!found) throw new Error('no Chromium: set CHROMIUM to one, or run npx playwright install chromium');
  return found;
}
