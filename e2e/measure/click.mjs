// What the page guard costs in a page:  node measure/click.mjs
// A click on a page of 10,000 nodes: one on a button of the page and one outside the document in turn, 200 times each, and the
// difference. And its script at document start, which is compiled and run once a document: the median of 20 new frames.
import { open, script, start, stop } from '../checks/support/guarded-page.mjs';

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

const source = await script({ policy: 'scoped-write', prefix: 'QA_TEST_' });
const begun = await page.evaluate((text) => {
  const times = [];
  for (let i = 0; i < 20; i++) {
    const view = document.body.appendChild(document.createElement('iframe')).contentWindow;
    view.report = () => undefined;
    const attempt = JSON.stringify({ key: '0'.repeat(64), door: `measured${i}`, binding: 'report', scope: null });
    const started = performance.now();
    view.eval(`(${text})(${attempt})`);
    times.push(performance.now() - started);
    if (typeof view[`measured${i}`] !== 'function') throw new Error('the guard did not start');
  }
  return times.sort((a, b) => a - b)[10];
}, source);
console.log(`${begun.toFixed(1)} ms at document start`);
await close();
await stop();
