// The page guard on its own, in a real browser: which controls it judges, what it blocks and what it reports.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { open, serve, start, stop } from './support/guarded-page.mjs';

before(start);
after(stop);

const log = `<script>window.ran = []; const note = (what) => window.ran.push(what);</script>`;
const ran = (page) => page.evaluate(() => window.ran);

/// Clicks each `[data-n]` of `html` in turn and says for each whether it was blocked, and that block and handler exclude
/// each other.
async function verdicts(html, config, options) {
  const guarded = await open(`${log}${html}`, config, options);
  const { page } = guarded;
  const result = {};
  for (const element of await page.locator('[data-n]').all()) {
    const name = await element.getAttribute('data-n');
    const before = (await guarded.controls()).length;
    const ranBefore = (await ran(page)).length;
    await element.click();
    const events = (await guarded.controls()).length - before;
    const handled = (await ran(page)).length > ranBefore;
    assert.notEqual(events > 0, handled, `${name}: reported ${events} times, handler ran: ${handled}`);
    assert.ok(events <= 1, `${name}: one activation was recorded ${events} times`);
    result[name] = events === 1 ? 'block' : 'allow';
  }
  await guarded.close();
  return result;
}

test('a document reports in once, with its origin', async () => {
  const { page, accepted, url, close } = await open('<p>hello');
  await page.evaluate(() => 0);
  assert.deepEqual(accepted, [{ type: 'installed', origin: new URL(url).origin, again: false }]);
  await page.setContent('<iframe srcdoc="x"></iframe>');
  await page.goto('about:blank');
  assert.equal(accepted.length, 1);
  await close();
});

test('names: words in text, label or title; whole words only; typed values never', async () => {
  const result = await verdicts(`
    <button data-n=text onclick="note(1)">Delete order</button>
    <button data-n=label aria-label="Remove" onclick="note(1)">x</button>
    <button data-n=hidden-by-text aria-label="More" onclick="note(1)">Publish</button>
    <span id=l>Archive</span><button data-n=labelledby aria-labelledby=l onclick="note(1)">y</button>
    <button data-n=title title="Send" onclick="note(1)"></button>
    <input data-n=image type=image alt="Approve" onclick="note(1);return false">
    <input data-n=value type=button value="Pay now" onclick="note(1)">
    <button data-n=alt onclick="note(1)"><img alt="Upload" src="data:,">&nbsp;</button>
    <button data-n=split onclick="note(1)">De<b>le</b>te</button>
    <button data-n=invisible onclick="note(1)">Del&shy;e&#8203;te</button>
    <button data-n=fullwidth onclick="note(1)">Ｄｅｌｅｔｅ</button>
    <button data-n=two onclick="note(1)">Log&nbsp;
       out</button>
    <button data-n=part onclick="note(1)">Deleted orders, payment, updates</button>
    <button data-n=plain onclick="note(1)">Show</button>
    <input data-n=field value="Delete me" onclick="note(1)">
    <textarea data-n=area aria-label="Send a note" onclick="note(1)">delete</textarea>
    <p data-n=paragraph onmousedown="note(1)">How to delete an order</p>
    <div tabindex=-1 onmousedown="note(1)"><p data-n=region>Some text</p><button>Save</button></div>`);
  assert.deepEqual(result, {
    text: 'block', label: 'block', 'hidden-by-text': 'block', labelledby: 'block', title: 'block', image: 'block',
    value: 'block', alt: 'block', split: 'block', invisible: 'block', fullwidth: 'block', two: 'block', part: 'allow',
    plain: 'allow', field: 'allow', area: 'allow', paragraph: 'allow', region: 'allow',
  });
});

test('kinds of control: roles, links, labels, div buttons, shadow roots, icons', async () => {
  const result = await verdicts(`
    <a data-n=link href="#a" onclick="note(1)">Share</a>
    <div data-n=role role=menuitem onclick="note(1)">Rename</div>
    <label data-n=for-box><input type=checkbox onchange="note(1)"> Publish</label>
    <label data-n=for-text onclick="note(1)">Send to <input></label>
    <div data-n=onclick onclick="note(1)">Duplicate</div>
    <div onclick="note(1)"><span data-n=card-text>Save 20%</span> <button>Show</button></div>
    <div id=pointer style="cursor:pointer"><span data-n=pointer>Import</span></div>
    <div data-n=open-root id=open style="display:inline-block"></div><div data-n=closed-root id=closed style="display:inline-block"></div>
    <button data-n=icon onclick="note(1)"><i class="mdi mdi-delete-outline"></i></button>
    <button data-n=icon-self class="btn fa-trash-can" onclick="note(1)">.</button>
    <button data-n=ligature onclick="note(1)"><span class="material-icons">delete_forever</span></button>
    <button data-n=other-icon onclick="note(1)"><i class="mdi mdi-magnify">.</i></button>
    <script>
      document.getElementById('pointer').addEventListener('click', () => note(1));
      for (const [id, mode] of [['open', 'open'], ['closed', 'closed']]) {
        const root = document.getElementById(id).attachShadow({ mode });
        root.innerHTML = '<button>Delete</button>';
        root.firstChild.addEventListener('click', () => note(1));
      }
    </script>`);
  assert.deepEqual(result, {
    link: 'block', role: 'block', 'for-box': 'block', 'for-text': 'allow', onclick: 'block', 'card-text': 'allow',
    pointer: 'block', 'open-root': 'block', 'closed-root': 'block', icon: 'block', 'icon-self': 'block',
    ligature: 'block', 'other-icon': 'allow',
  });
});

test('shadow roots: submits and changes stay inside them, and are judged there', async () => {
  for (const mode of ['open', 'closed']) {
    const { page, controls, close } = await open(`${log}<div id=host></div><script>
      const root = document.getElementById('host').attachShadow({ mode: '${mode}' });
      root.innerHTML = '<form><input name=q><button>Save</button></form><select aria-label="Update status"><option>a<option>b</select><p></p>';
      const [form, select] = [root.querySelector('form'), root.querySelector('select')];
      form.addEventListener('submit', (event) => (event.preventDefault(), note('submit')));
      select.addEventListener('change', () => note('change'));
      const nested = root.querySelector('p').attachShadow({ mode: '${mode}' });
      nested.innerHTML = '<button>Delete</button>';
      nested.firstChild.addEventListener('click', () => note('click'));
      window.act = { submit: () => form.requestSubmit(), change: () => select.dispatchEvent(new Event('change', { bubbles: true })),
        click: () => nested.firstChild.click() };
    </script>`);
    for (const act of ['submit', 'change', 'change', 'click', 'click']) await page.evaluate((name) => window.act[name](), act);
    assert.deepEqual((await controls()).map(({ label }) => label), ['Save', 'Update status', 'Update status', 'Delete', 'Delete'], mode);
    assert.deepEqual(await ran(page), []);
    await close();
  }
});

test('host words, icons and the allow list', async () => {
  const result = await verdicts(
    `<button data-n=word onclick="note(1)">Freigeben</button>
     <button data-n=icon onclick="note(1)"><i class="shop-bin"></i>.</button>
     <button data-n=cleared onclick="note(1)">Reset filters</button>
     <button data-n=longer onclick="note(1)">Reset filters and orders</button>`,
    { deny_controls: { text: ['^freigeben'], icons: ['shop-bin'], allow: ['Reset filters'] } },
  );
  assert.deepEqual(result, { word: 'block', icon: 'block', cleared: 'allow', longer: 'block' });
});

test('nothing of a press reaches the page, and an observed policy lets all of it through', async () => {
  const types = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick'];
  const html = `${log}<button>Delete</button><script>
    for (const type of ${JSON.stringify(types)}) addEventListener(type, () => note(type), true);</script>`;
  const blocked = await open(html);
  await blocked.page.getByRole('button').click();
  assert.deepEqual(await ran(blocked.page), []);
  const [event] = await blocked.controls();
  assert.equal(event.label, 'Delete');
  assert.match(event.reason, /^read-only: "Delete"/);
  await blocked.close();

  const open_ = await open(html, { policy: 'unrestricted' });
  await open_.page.getByRole('button').dblclick();
  assert.deepEqual(new Set(await ran(open_.page)), new Set(types));
  assert.equal((await open_.controls()).length, 0);
  await open_.close();
});

test('each activation counts, however it is made', async () => {
  const { page, controls, close } = await open(`${log}<button onclick="note(1)">Delete</button>
    <div role=button tabindex=0 onkeydown="note(2)">Save</div>`);
  const button = page.getByRole('button', { name: 'Delete' });
  await button.click();
  await button.click();
  await button.evaluate((element) => { element.click(); element.click(); });
  await button.dispatchEvent('click');
  await button.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Space');
  assert.equal((await controls()).length, 7);
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await page.getByRole('button', { name: 'Save' }).press('Space');
  await button.click({ button: 'middle' });
  assert.equal((await controls()).length, 10);
  await button.evaluate((element) => {
    const event = new MouseEvent('click', { bubbles: true });
    for (let i = 0; i < 3; i++) element.dispatchEvent(event); // one event object, dispatched again
  });
  assert.equal((await controls()).length, 13);
  await button.click({ button: 'right' });
  await button.press('Tab');
  assert.equal((await controls()).length, 13);
  assert.deepEqual(await ran(page), []);
  await close();
});

test('touch', async () => {
  const { page, controls, close } = await open(
    `${log}<button ontouchstart="note(1)" onclick="note(2)">Delete</button>`, {}, { contextOptions: { hasTouch: true } });
  await page.getByRole('button').tap();
  assert.equal((await controls()).length, 1);
  assert.deepEqual(await ran(page), []);
  await close();
});

test('submits: by button, by Enter, by script, by destination', async () => {
  const form = (button, attributes = '') => `${log}<form ${attributes} onsubmit="note('submit');return false"><input name=q>${button}</form>`;
  const enter = async ({ page }) => page.locator('input[name=q]').press('Enter');
  const script = async ({ page }) => page.evaluate(() => document.forms[0].submit());
  const request = async ({ page }) => page.evaluate(() => document.forms[0].requestSubmit());
  const click = async ({ page }) => page.locator('button').click();
  const config = {
    write_signatures: [{ method: 'POST', url: '/orders$' }],
    allow_signatures: [{ method: 'POST', url: '/search/orders$' }],
  };
  const cases = [
    ['save button, click', '<button>Save</button>', '', click, 1],
    ['save button, enter', '<button>Save</button>', '', enter, 1],
    ['save button, submit()', '<button>Save</button>', '', script, 1],
    ['save button, requestSubmit()', '<button>Save</button>', '', request, 1],
    ['no button, enter', '', '', enter, 0],
    ['listed action, enter', '', 'method=post action=/orders', enter, 1],
    ['listed action, click', '<button>Go</button>', 'method=post action=/orders', click, 1],
    ['allowed action', '<button>Go</button>', 'method=post action=/search/orders', click, 0],
    ['listed action, other method', '<button>Go</button>', 'action=/orders', click, 0],
    ['formaction of the button', '<button formaction=/orders formmethod=post>Go</button>', 'action=/search', click, 1],
    ['clobbered names', '<input name=action><input name=method><input name=elements><button>Go</button>', 'method=post action=/orders', click, 1],
  ];
  for (const [name, button, attributes, act, expected] of cases) {
    const guarded = await open(form(button, attributes), config);
    await act(guarded);
    assert.equal((await guarded.controls()).length, expected, name);
    assert.deepEqual(await ran(guarded.page), expected ? [] : ['submit'], name);
    await guarded.close();
  }
});

test('changes of a control that is itself a write', async () => {
  const { page, controls, close } = await open(`${log}
    <select aria-label="Update status" onchange="note(1)" oninput="note(1)"><option>a<option>b</select>
    <select aria-label="Sort" onchange="note('sort')"><option>a<option>b</select>
    <input type=file aria-label="Import products" onchange="note(2)">
    <label><input type=checkbox onchange="note(3)">Publish</label>`);
  await page.getByLabel('Update status').selectOption('b');
  await page.getByLabel('Import').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('a') });
  await page.getByLabel('Publish').click();
  await page.getByLabel('Sort').selectOption('b');
  assert.deepEqual((await controls()).map((event) => event.label), ['Update status', 'Import products', 'Publish']);
  assert.deepEqual(await ran(page), ['sort']);
  await close();
});

test('scoped-write: own row, own dialog, nothing borrowed', async () => {
  const b = (n, name = 'Delete') => `<button data-n=${n} onclick="note(1)">${name}</button>`;
  const result = await verdicts(
    `<p>QA_TEST_heading</p>${b('outside')}
     <table><tr><td>QA_TEST_one</td><td>${b('own-row')}</td></tr><tr><td>Lamp</td><td>${b('other-row')}</td></tr></table>
     <ul><li>QA_TEST_outer ${b('outer')}<ul><li>Inner ${b('inner')}</li></ul></li>
         <li>Outer ${b('holder')}<ul><li>QA_TEST_inner ${b('nested')}</li></ul></li></ul>
     <div role=row>Value <input value="QA_TEST_v">${b('initial-value')}</div>
     <div role=row>Value <input id=typed>${b('typed-value')}</div>
     <div role=dialog>Delete QA_TEST_two? ${b('own-dialog')}</div>
     <div role=dialog>Orders <ul><li>QA_TEST_three</li></ul>${b('dialog-with-row')}</div>
     <div role=dialog>Name <input value="QA_TEST_four">${b('dialog-value')}</div>
     <div role=row>Lamp<div role=dialog>QA_TEST_five<div role=row>Chair ${b('row-in-dialog')}</div></div></div>
     ${b('read', 'Show')}
     <script>
       const typed = document.getElementById('typed');
       typed.addEventListener('input', () => typed.setAttribute('value', typed.value));
       typed.dispatchEvent(new Event('input'));
     </script>`,
    { policy: 'scoped-write', prefix: 'QA_TEST_' },
  );
  assert.deepEqual(result, {
    outside: 'block', 'own-row': 'allow', 'other-row': 'block', outer: 'allow', inner: 'block', holder: 'block',
    nested: 'allow', 'initial-value': 'allow', 'typed-value': 'block', 'own-dialog': 'allow', 'dialog-with-row': 'block',
    'dialog-value': 'allow', 'row-in-dialog': 'block', read: 'allow',
  });
});

test('scoped-write: typing the prefix into a foreign row unlocks nothing, even when the page mirrors it', async () => {
  const { page, controls, close } = await open(
    `${log}<div role=row>Lamp <input id=f><button onclick="note(1)">Save</button></div>
     <script>f.addEventListener('input', () => f.setAttribute('value', f.value));</script>`,
    { policy: 'scoped-write', prefix: 'QA_TEST_' });
  await page.locator('#f').fill('QA_TEST_mine');
  await page.getByRole('button').click();
  assert.equal((await controls()).length, 1);
  assert.deepEqual(await ran(page), []);
  await close();
});

test('scoped-write: scope URLs, set at install or later, also for srcdoc frames; a page cannot widen them', async () => {
  const html = `${log}<button onclick="note(1)">Save</button><iframe srcdoc="<button onclick='top.ran.push(2)'>Save</button>"></iframe>`;
  const config = { policy: 'scoped-write', prefix: 'QA_TEST_' };
  const first = await open(html, config, { scope: '^http://127' });
  await first.page.getByRole('button').click();
  await first.page.frameLocator('iframe').getByRole('button').click();
  assert.deepEqual(await ran(first.page), [1, 2]);
  await first.close();

  const second = await open(html, config);
  const { page, attempt, down } = second;
  const tell = (message) => page.evaluate(([door, text]) => globalThis[door](text), [attempt.door, message]);
  const button = page.getByRole('button');
  await tell(`${'0'.repeat(64)}.{"counter":9,"scope":"."}`);
  await button.click();
  assert.equal((await second.controls()).length, 1, 'a forged scope was taken');
  const old = down({ scope: '.', announce: false });
  await tell(old);
  await button.click();
  assert.equal((await second.controls()).length, 1);
  await tell(down({ scope: 'never', announce: false }));
  await tell(old);
  await button.click();
  assert.equal((await second.controls()).length, 2, 'a replayed scope was taken');
  await second.close();
});

test('native dialogs: they open, and under read-only the page hears no', async () => {
  const html = `${log}<button onclick="note(confirm('Sure?')); note(prompt('Name?')); alert('x')">Ask</button>`;
  for (const [policy, prefix, expected] of [['read-only', null, [false, null]], ['scoped-write', 'QA_', [true, 'me']]]) {
    const { page, close } = await open(html, { policy, prefix });
    const dialogs = [];
    page.on('dialog', (dialog) => (dialogs.push(dialog.message()), dialog.accept('me')));
    await page.getByRole('button').click();
    assert.deepEqual(await ran(page), expected);
    assert.deepEqual(dialogs, ['Sure?', 'Name?', 'x']);
    await close();
  }
});

test('setContent, document.open and document.write leave the guard in place, and first', async () => {
  const body = `${log}<script>addEventListener('click', () => note('window'), true)</script><button onclick="note(1)">Delete</button>`;
  const guarded = await open('<p>first');
  const { page, controls } = guarded;
  await page.setContent(body);
  await page.getByRole('button').click();
  assert.equal((await controls()).length, 1);
  assert.deepEqual(await ran(page), []);
  await page.evaluate((html) => { document.open(); document.write(html); document.close(); }, body);
  await page.getByRole('button').click();
  assert.equal((await controls()).length, 2);
  assert.deepEqual(await ran(page), []);
  await guarded.close();
});

test('every frame and popup: same and other origin, about:blank, srcdoc', async () => {
  const inner = serve('/inner', '<button>Delete</button>').replace('127.0.0.1', 'localhost');
  const { page, context, controls, accepted, close } = await open(`
    <iframe name=cross src="${inner}"></iframe><iframe name=doc srcdoc="<button>Delete</button>"></iframe>
    <iframe name=blank></iframe>
    <script>onload = () => { const d = frames.blank.document; d.open(); d.write('<button>Delete</button>'); d.close(); };</script>
    <button onclick="window.open('').document.body.innerHTML = '<button>Delete</button>'">Open</button>`);
  for (const name of ['cross', 'doc', 'blank']) await page.frameLocator(`[name=${name}]`).getByRole('button').click();
  assert.equal((await controls()).length, 3);
  const [popup] = await Promise.all([context.waitForEvent('page'), page.getByRole('button', { name: 'Open' }).click()]);
  await popup.getByRole('button').click();
  assert.equal((await controls()).length, 4);
  const installed = () => accepted.filter((report) => report.type === 'installed').length;
  assert.equal(installed(), 2);
  // The window of an empty document may be kept for the document that follows.
  const opened = context.waitForEvent('page');
  await page.evaluate((url) => {
    window.open(url);
    const frame = document.body.appendChild(document.createElement('iframe'));
    frame.name = 'kept';
    frame.contentWindow.location.replace(url);
  }, new URL(inner).pathname);
  const kept = await opened;
  await kept.waitForLoadState();
  await kept.getByRole('button').click();
  await page.frameLocator('[name=kept]').getByRole('button').click();
  assert.equal((await controls()).length, 6);
  assert.equal(installed(), 4);
  await close();
});

test('a page can neither forge nor replay reports, nor blind the guard by replacing built-ins', async () => {
  const { page, accepted, rejected, controls, attempt, close } = await open(`${log}<script>
    const nothing = () => undefined;
    JSON.stringify = () => '{}';
    RegExp.prototype.exec = RegExp.prototype.test = () => null;
    String.prototype.normalize = String.prototype.toLowerCase = String.prototype.indexOf = nothing;
    Element.prototype.closest = Element.prototype.matches = Element.prototype.getAttribute = () => null;
    Event.prototype.composedPath = () => [];
    Event.prototype.preventDefault = Event.prototype.stopImmediatePropagation = nothing;
    Array.prototype[Symbol.iterator] = Function.prototype.call = Function.prototype.apply = Reflect.apply = nothing;
    Object.defineProperty(HTMLElement.prototype, 'innerText', { get: () => 'Show' });
    Object.prototype.toJSON = () => 'x';
    WeakMap.prototype.get = WeakMap.prototype.set = Map.prototype.get = nothing;
    TextEncoder.prototype.encode = () => new Uint8Array(0);
  </script><button onclick="ran.push(1)">Delete</button>`);
  // Playwright's own scripts depend on what this page broke, so nothing but raw input is used.
  const box = await page.evaluateHandle(() => 0).then(() => ({ x: 20, y: 20 }), () => ({ x: 20, y: 20 }));
  await page.mouse.click(box.x, box.y);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(accepted.filter((report) => report.type === 'control').length, 1);
  assert.equal(rejected.length, 0);
  await close();

  const forged = await open('<p>x');
  await forged.page.evaluate((binding) => {
    const control = globalThis.__playwright__binding__controller__;
    try { control.callBinding(binding, `${'0'.repeat(64)}.x.1.{"type":"installed"}`); } catch { /* no such controller */ }
  }, attempt.binding);
  assert.equal((await forged.controls()).length, 0);
  assert.equal(forged.rejected.length, 1);
  assert.equal(await forged.page.evaluate((name) => typeof globalThis[name], attempt.binding), 'undefined');
  await forged.close();
});
