// What judging a click costs on a page of 10,000 nodes:  node measure/click.mjs
// Clicks a button of the page and one outside the document in turn, 200 times each, and prints the difference.
import { open, start, stop } from '../checks/support/guarded-page.mjs';

await start();
const rows = Array.from({ length: 2500 }, (_, i) => `<tr><td>${i}<td><button>Show</button></tr>`).join('');
const { page, close } = await open(`<table>${rows}</table>`, { policy: 'scoped-write', prefix: 'QA_TEST_' });
const cost = await page.evaluate(() => {
  const button = document.querySelectorAll('button')[1200];
  const time = (target) => {
    const started = performance.now();
    for (let i = 0; i < 200; i++) target.click();
    return (performance.now() - started) / 200;
  };
  time(button);
  return time(button) - time(document.createElement('button'));
});
console.log(`${(cost * 1000).toFixed(0)} µs a click`);
await close();
await stop();
