import { expect, test } from '../write-guard';

test('MISUSE-FORGE-001: a page makes up reports', async ({ page, writeGuard }) => {
  await page.goto('/');
  await page.evaluate(() => {
    const own = globalThis as unknown as Record<string, { callBinding?: (name: string, text: string) => void } | undefined>;
    const report = '{"type":"control","reason":"made up","label":"made up"}';
    own['__playwright__binding__controller__']?.callBinding?.('__qa_pilot_report', `${'0'.repeat(64)}.aa.1.${report}`);
  });
  expect(await writeGuard.events()).toEqual([]);
});
