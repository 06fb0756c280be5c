// The page guard on its own: the ways in which a control can act, one small page each. Every page says what was blocked and
// what its own handlers heard, so that stopped and not stopped are told apart.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { open, serve, start, stop } from './support/guarded-page.mjs';

before(start);
after(stop);

const prelude = `<!doctype html><script>window.ran = []; const note = (what) => window.ran.push(what); const $ = (id) => document.getElementById(id);</script>`;

/// Opens each page, acts on it, and compares the labels of what was blocked and what the page heard. Pages under the same
/// configuration come after each other in one browser context.
function pages(title, cases) {
  test(title, async (t) => {
    const opened = new Map();
    for (const [name, { html, act, blocked = [], ran = [], config = {} }] of Object.entries(cases)) {
      await t.test(name, async () => {
        const key = JSON.stringify(config);
        if (!opened.has(key)) opened.set(key, await open('', config));
        const guarded = opened.get(key);
        await guarded.load(prelude + html);
        await act(guarded.page, guarded);
        const labels = (await guarded.controls()).map(({ label }) => label);
        assert.deepEqual({ blocked: labels, ran: await guarded.page.evaluate(() => window.ran) }, { blocked, ran });
        assert.deepEqual(guarded.rejected, []);
      });
    }
    for (const guarded of opened.values()) await guarded.close();
  });
}

const click = (selector) => (page) => page.locator(selector).first().click();
const script = (source) => (page) => page.evaluate(source);
const press = (selector, key) => (page) => page.locator(selector).press(key);
async function at(page, selector, how = 'click') {
  const box = await page.locator(selector).boundingBox();
  await page.mouse[how](box.x + 10, box.y + 10);
}

const closedRoot = (host, inside) => `${host.replace('>', ' style="display:inline-block">')}<template shadowrootmode=closed>${inside}</template></${/\w[\w-]*/.exec(host)[0]}>`;
pages('shadow roots that the HTML declares', {
  'open: the control inside is seen': { html: `<div><template shadowrootmode=open><button onclick="note(1)">Delete</button></template></div>`, act: click('button'), blocked: ['Delete'] },
  'open: an innocent one acts': { html: `<div><template shadowrootmode=open><button onclick="note(1)">Show</button></template></div>`, act: click('button'), ran: [1] },
  'open: a submit stays inside and is judged': {
    html: `<div id=h><template shadowrootmode=open><form onsubmit="note(1);return false"><input><button>Save</button></form></template></div>`,
    act: script(() => document.getElementById('h').shadowRoot.querySelector('form').requestSubmit()), blocked: ['Save'],
  },
  'open: a change stays inside and is judged': {
    html: `<div id=h><template shadowrootmode=open><select aria-label="Archive" onchange="note(1)"><option>a<option>b</select></template></div>`,
    act: (page) => page.locator('select').selectOption('b'), blocked: ['Archive'],
  },
  'closed, in a plain element: what is pressed there cannot be judged': { html: closedRoot('<div id=h>', '<button onclick="note(1)">Anything</button>'), act: (page) => at(page, '#h'), blocked: ['<div>'] },
  'closed, in an element that no script defines': { html: closedRoot('<x-card id=h>', '<button onclick="note(1)">Anything</button>'), act: (page) => at(page, '#h'), blocked: ['<x-card>'] },
  'closed, cleared by its name': { html: closedRoot('<x-card id=h>', '<button onclick="note(1)">Anything</button>'), config: { deny_controls: { allow: ['<x-card>'] } }, act: (page) => at(page, '#h'), ran: [1] },
  'closed, in a defined element: the control inside is seen': {
    html: `<script>customElements.define('x-card', class extends HTMLElement {})</script>${closedRoot('<x-card id=h>', '<button onclick="note(1)">Delete</button>')}`,
    act: (page) => at(page, '#h'), blocked: ['Delete'],
  },
  'closed, in a defined element: an innocent one acts, and the page gets its internals': {
    html: `<script>customElements.define('x-card', class extends HTMLElement { connectedCallback() {
        setTimeout(() => this.addEventListener('click', () => { note(this.attachInternals().shadowRoot.firstChild.textContent);
          try { this.attachInternals(); } catch (error) { note(error.name); } })); } })</script>${closedRoot('<x-card id=h>', '<button>Show</button>')}`,
    act: (page) => at(page, '#h'), ran: ['Show', 'NotSupportedError'],
  },
  'closed, reached by its internals: a submit inside is judged': {
    html: `<script>customElements.define('x-card', class extends HTMLElement { inside = this.attachInternals(); })</script>
      ${closedRoot('<x-card id=h>', '<form onsubmit="note(1);return false"><button>Save</button></form>')}`,
    act: script(() => document.getElementById('h').inside.shadowRoot.firstChild.requestSubmit()), blocked: ['Save'],
  },
  'plain empty elements are no hosts': { html: `<div id=e style="width:50px;height:50px" onmousedown="note(1)"></div><p id=p onmousedown="note(2)">Text to delete</p>`, act: async (page) => { await at(page, '#e'); await at(page, '#p'); }, ran: [1, 2] },
  'a name that is put into a slot': {
    html: `<x-b id=h>Delete</x-b><script>$('h').attachShadow({ mode: 'closed' }).innerHTML = '<button onclick="note(1)"><slot></slot></button>'</script>`,
    act: (page) => at(page, '#h'), blocked: ['Delete'],
  },
  'an innocent name that is put into a slot': {
    html: `<x-b id=h>Show</x-b><script>$('h').attachShadow({ mode: 'open' }).innerHTML = '<button onclick="note(1)"><slot>Delete</slot></button>'</script>`,
    act: (page) => at(page, '#h'), ran: [1],
  },
  'a name that comes through two slots': {
    html: `<x-o id=h>Delete</x-o><script>
      const outer = $('h').attachShadow({ mode: 'open' }); outer.innerHTML = '<x-i><slot></slot></x-i>';
      outer.firstChild.attachShadow({ mode: 'closed' }).innerHTML = '<button onclick="note(1)"><slot></slot></button>'</script>`,
    act: (page) => at(page, '#h'), blocked: ['Delete'],
  },
  'a control without a name takes the one of its host': {
    html: `<x-b id=h aria-label="Remove"></x-b><script>$('h').attachShadow({ mode: 'closed' }).innerHTML = '<button onclick="note(1)">&nbsp;&nbsp;&nbsp;&nbsp;</button>'</script>`,
    act: (page) => at(page, '#h'), blocked: ['Remove'],
  },
  'text in a closed root inside a button is its name': {
    html: `<button id=b onclick="note(1)"><x-l></x-l></button><script>document.querySelector('x-l').attachShadow({ mode: 'closed' }).innerHTML = '<b>Delete</b>'</script>`,
    act: click('#b'), blocked: ['Delete'],
  },
});

pages('custom elements', {
  'a role of its internals': {
    html: `<x-b id=h>Delete</x-b><script>customElements.define('x-b', class extends HTMLElement { constructor() { super(); this.attachInternals().role = 'button'; this.onclick = () => note(1); } })</script>`,
    act: click('#h'), blocked: ['Delete'],
  },
  'no role: text that a script listens to': {
    html: `<x-b id=h>How to delete</x-b><script>customElements.define('x-b', class extends HTMLElement { constructor() { super(); this.onclick = () => note(1); } })</script>`,
    act: click('#h'), ran: [1],
  },
  'associated with a form, which it sends': {
    html: `<form aria-label="Profile" onsubmit="note(1);return false"><x-s id=h>Go</x-s><button hidden>Save</button></form><script>
      customElements.define('x-s', class extends HTMLElement { static formAssociated = true; constructor() { super(); const i = this.attachInternals(); this.onclick = () => i.form.requestSubmit(); } })</script>`,
    act: click('#h'), blocked: ['Save'],
  },
  'a label for one': {
    html: `<label for=h id=l>Delete all</label><x-s id=h>.</x-s><script>
      customElements.define('x-s', class extends HTMLElement { static formAssociated = true; constructor() { super(); this.attachInternals().role = 'switch'; this.onclick = () => note(1); } })</script>`,
    act: click('#h'), blocked: ['.'],
  },
});

pages('keys', {
  'Enter in a listbox acts on the active option': {
    html: `<div role=listbox tabindex=0 aria-activedescendant=o onkeydown="note(1)"><div role=option id=o>Delete</div><div role=option>Show</div></div>`,
    act: press('[role=listbox]', 'Enter'), blocked: ['Delete'],
  },
  'an innocent active option': {
    html: `<div role=listbox tabindex=0 aria-activedescendant=o onkeydown="note(1)"><div role=option>Delete</div><div role=option id=o>Show</div></div>`,
    act: press('[role=listbox]', 'Enter'), ran: [1],
  },
  'a combobox: Enter acts, a space is text': {
    html: `<input role=combobox aria-activedescendant=o onkeydown="note(event.key)"><div role=listbox><div role=option id=o>Archive</div></div>`,
    act: async (page) => { await page.locator('input').press('Space'); await page.locator('input').press('Enter'); }, blocked: ['Archive'], ran: [' '],
  },
  'an active option set by script': {
    html: `<div role=menu tabindex=0 onkeydown="note(1)"><div role=menuitem>Delete</div></div><script>document.querySelector('[role=menu]').ariaActiveDescendantElement = document.querySelector('[role=menuitem]')</script>`,
    act: press('[role=menu]', 'Enter'), blocked: ['Delete'],
  },
  'Space and Enter on a div that is a button': {
    html: `<div role=button tabindex=0 onkeydown="note(1)" onclick="note(2)">Delete</div>`,
    act: async (page) => { await press('[role=button]', 'Enter')(page); await press('[role=button]', 'Space')(page); }, blocked: ['Delete', 'Delete'],
  },
  'other keys, and keys while text is composed, are no activation': {
    html: `<button onkeydown="note(event.key)">Delete</button>`,
    act: async (page) => {
      await press('button', 'Tab')(page);
      await press('button', 'ArrowDown')(page);
      await page.evaluate(() => document.querySelector('button').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true })));
    },
    ran: ['Tab', 'ArrowDown', 'Enter'],
  },
  'Enter in a form without a button': { html: `<form aria-label="Rename" onsubmit="note(1);return false"><input></form>`, act: press('input', 'Enter'), blocked: ['Rename'] },
  'Enter in a search without a button': { html: `<form aria-label="Search" onsubmit="note(1);return false"><input></form>`, act: press('input', 'Enter'), ran: [1] },
  'Enter in a date field sends its form': { html: `<form onsubmit="note(1);return false"><input type=date><button>Save</button></form>`, act: press('input', 'Enter'), blocked: ['Save'] },
  'text in a field that sits in an option': { html: `<div role=option>Delete <input></div>`, act: (page) => page.locator('input').pressSequentially('a b'), },
  'an editable region': { html: `<div role=treeitem>Remove<div contenteditable onkeydown="note(event.key)">x</div></div>`, act: press('[contenteditable]', 'Enter'), ran: ['Enter'] },
  'one Enter that moves the focus to a write control is not an activation of it': {
    html: `<button id=a onkeydown="$('b').focus();event.preventDefault();note(1)">Show</button><button id=b onclick="note(2)">Delete</button>`, act: press('#a', 'Enter'), ran: [1],
  },
});

pages('the pointer', {
  'a menu that is dragged open acts where the button is let go': {
    html: `<button id=m onmousedown="note('open')">Menu</button><div style="height:60px"></div><div role=menuitem id=i onmouseup="note('item')">Delete</div>`,
    act: async (page) => { await page.locator('#m').hover(); await page.mouse.down(); await page.locator('#i').hover(); await page.mouse.up(); }, blocked: ['Delete'], ran: ['open'],
  },
  'an innocent entry of it': {
    html: `<button id=m>Menu</button><div style="height:60px"></div><div role=menuitem id=i onmouseup="note('item')">Show</div>`,
    act: async (page) => { await page.locator('#m').hover(); await page.mouse.down(); await page.locator('#i').hover(); await page.mouse.up(); }, ran: ['item'],
  },
  'a control that appears under a press is not pressed': {
    html: `<div style="position:relative"><button id=m style="position:absolute;left:0;top:0;width:90px" onpointerdown="$('i').hidden = false">Menu</button><div role=menuitem id=i hidden style="position:absolute;left:0;top:0;width:90px;height:30px" onmouseup="note('up')">Delete</div></div>`,
    act: async (page) => at(page, '#m'), ran: ['up'],
  },
  'a captured pointer: the click goes to who captured it': {
    html: `<div id=pad style="width:80px;height:40px" onpointerdown="this.setPointerCapture(event.pointerId)">pad</div><button id=d onclick="note(1)" onpointerup="note(2)">Delete</button>`,
    act: async (page) => { await page.locator('#pad').hover(); await page.mouse.down(); await page.locator('#d').hover(); await page.mouse.up(); },
  },
  'a right click acts on nothing; the menu that it opens does': {
    html: `<button id=b oncontextmenu="note('menu');$('i').hidden=false;return false">Delete</button><div role=menuitem id=i hidden onclick="note(1)">Remove</div>`,
    act: async (page) => { await page.locator('#b').click({ button: 'right' }); await page.locator('#i').click(); }, blocked: ['Remove'], ran: ['menu'],
  },
  'the middle button': { html: `<a href="#x" onauxclick="note(1)">Delete</a>`, act: (page) => page.locator('a').click({ button: 'middle' }), blocked: ['Delete'] },
  'hover acts on nothing': { html: `<button onpointerover="note(1)">Delete</button>`, act: (page) => page.locator('button').hover(), ran: [1] },
  'an area of a map': {
    html: `<map name=m><area shape=rect coords=0,0,50,50 href="#a" alt="Delete" onclick="note(1)"><area shape=rect coords=50,0,100,50 href="#b" alt="Show" onclick="note(2)"></map><img usemap=#m width=100 height=50 src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7">`,
    act: async (page) => { const box = await page.locator('img').boundingBox(); await page.mouse.click(box.x + 10, box.y + 10); await page.mouse.click(box.x + 70, box.y + 10); }, blocked: ['Delete'], ran: [2],
  },
  'a link drawn in SVG': { html: `<svg width=200 height=40><a href="#x" onclick="note(1)"><text y=20>Delete order</text></a></svg>`, act: click('svg text'), blocked: ['Delete order'] },
  'a drop on a bin': {
    html: `<div id=d draggable=true>Lamp</div><div id=bin ondragover="event.preventDefault()" ondrop="note(1)">Delete here</div>`,
    act: (page) => page.locator('#d').dragTo(page.locator('#bin')), blocked: ['Delete here'],
  },
  'a drop on a region that is labelled': {
    html: `<div id=d draggable=true>Lamp</div><section aria-label="Archive" id=bin ondragover="event.preventDefault()" ondrop="note(1)"><p id=p>${'Some card. '.repeat(20)}</p></section>`,
    act: (page) => page.locator('#d').dragTo(page.locator('#p')), blocked: [`${'Some card. '.repeat(20).trim()}`.slice(0, 120)],
  },
  'a drop on an innocent list': {
    html: `<div id=d draggable=true>Delete me</div><div id=bin ondragover="event.preventDefault()" ondrop="note(1)">Basket</div>`,
    act: (page) => page.locator('#d').dragTo(page.locator('#bin')), ran: [1],
  },
});

pages('names', {
  'text that a style sheet puts before or after': {
    html: `<style>#a::before { content: "Del" "ete" } #c span::after { content: "Re\\"move" }</style><button id=a onclick="note('a')"></button><button id=b onclick="note('b')">x</button><button id=c onclick="note('c')"><span>y</span></button>`,
    act: async (page) => { for (const id of ['a', 'b', 'c']) await page.locator(`#${id}`).click(); }, blocked: ['Delete'], ran: ['b', 'c'],
  },
  'text of an attribute in a style sheet': { html: `<style>#a::after { content: attr(data-t) }</style><button id=a data-t="Delete" onclick="note('a')"></button>`, act: click('#a'), blocked: ['Delete'] },
  'what is not displayed is no part of a name': { html: `<button onclick="note(1)">Show<span style="display:none">Delete</span></button>`, act: click('button'), ran: [1] },
  'an emoji, as a word of the host': { html: `<button onclick="note(1)">🗑</button><button id=b onclick="note(2)">🗑️ all</button>`, config: { deny_controls: { text: ['🗑️'] } }, act: async (page) => { await click('button')(page); await click('#b')(page); }, blocked: ['🗑', '🗑 all'] },
  'words of another language': { html: `<button onclick="note(1)">Löschen</button><button id=b onclick="note(2)">Zeigen</button>`, config: { deny_controls: { text: ['löschen'] } }, act: async (page) => { await click('button')(page); await click('#b')(page); }, blocked: ['Löschen'], ran: [2] },
  'an option that is chosen': {
    html: `<select aria-label="Bulk action" onchange="note(this.value)"><option>Choose<option>Show<option>Delete</select>`,
    act: async (page) => { await page.locator('select').selectOption('Show'); await page.locator('select').selectOption('Delete'); }, blocked: ['Delete'], ran: ['Show'],
  },
  'opening a select that offers a write': { html: `<select aria-label="Bulk action" onpointerdown="note(1)"><option>Choose<option>Delete</select>`, act: click('select'), ran: [1] },
  'an image for a button without words': { html: `<form onsubmit="note(1);return false"><input type=image alt="Find" src="data:," style="width:30px;height:30px"></form>`, act: click('input'), ran: [1] },
  'an image for a button': { html: `<form onsubmit="note(1);return false"><input type=image title="Upload" src="data:," style="width:30px;height:30px"></form>`, act: click('input'), blocked: ['Upload'] },
});

pages('elements that open and close things', {
  'a popover is opened, and a write in it is not': {
    html: `<button id=o popovertarget=p>Actions</button><div id=p popover><button id=d onclick="note(1)">Delete</button></div>`,
    act: async (page) => { await page.locator('#o').click(); await page.locator('#d').click(); }, blocked: ['Delete'],
  },
  'a command that another button invokes': {
    html: `<button id=o commandfor=p command=show-modal>Open</button><dialog id=p oncommand="note(event.command)"><form method=dialog onsubmit="note('closed')"><button id=n>Cancel</button><button id=y>Confirm</button></form></dialog>`,
    act: async (page) => { await page.locator('#o').click(); await page.locator('#y').click(); await page.locator('#n').click(); }, blocked: ['Confirm'], ran: ['show-modal', 'closed'],
  },
  'a summary': { html: `<details ontoggle="note(1)"><summary>Delete account</summary>text</details>`, act: click('summary'), blocked: ['Delete account'] },
  'a control that is inert is clicked by script': { html: `<div inert><button onclick="note(1)">Delete</button></div>`, act: script(() => document.querySelector('button').click()), blocked: ['Delete'] },
  'a timer of the page clicks': { html: `<button onclick="note(1)">Delete</button><script>setTimeout(() => document.querySelector('button').click(), 50)</script>`, act: (page) => page.waitForTimeout(200), blocked: ['Delete'] },
  'a link that runs script sends a form': { html: `<form name=f aria-label="Publish" action="/nowhere"></form><a href="javascript:document.f.submit()">Go</a>`, act: async (page) => { await page.locator('a').click(); await page.waitForTimeout(100); }, blocked: ['Publish'] },
  'a label that wraps a button': { html: `<label onclick="note('label')">Delete <button onclick="note('button')">Show</button></label>`, act: click('button'), blocked: ['Show'] },
});

pages('pages that work on the guard', {
  'functions of another window': {
    html: `<button id=b onclick="note(1)">Delete</button><form aria-label="Publish" id=f action="/nowhere"></form>`,
    act: async (page) => {
      await page.evaluate(() => {
        const frame = document.body.appendChild(document.createElement('iframe'));
        frame.contentWindow.HTMLFormElement.prototype.submit.call(document.getElementById('f'));
      });
    }, blocked: ['Publish'],
  },
  'document.open of another window, and its addEventListener': {
    html: `<p>first</p>`,
    act: async (page) => {
      await page.evaluate(() => {
        const frame = document.body.appendChild(document.createElement('iframe'));
        const { Document, EventTarget } = frame.contentWindow;
        const keep = window.ran;
        Document.prototype.open.call(document);
        EventTarget.prototype.addEventListener.call(window, 'click', () => keep.push('first'), true);
        Document.prototype.write.call(document, '<button onclick="ran.push(1)">Delete</button>');
        document.close();
      });
      await page.locator('button').click();
    },
    blocked: ['Delete'],
  },
  'a setter on Array.prototype': {
    html: `<script>for (const i of [0, 1, 2, 3]) Object.defineProperty(Array.prototype, i, { set() {}, get() { return undefined; }, configurable: true });</script><div role=listbox tabindex=0 aria-activedescendant=o onkeydown="event.key === 'Enter' && note(1)"><div role=option id=o>Delete</div></div><select aria-label="Bulk" onchange="note(1)"><option>a<option>Delete</select>`,
    act: async (page) => {
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      await page.keyboard.type('Delete');
      await page.evaluate(() => { for (const i of [0, 1, 2, 3]) delete Array.prototype[i]; });
    },
    blocked: ['Delete', 'Delete'],
  },
  'listeners of the page on the window, whenever they come': {
    html: `<script>addEventListener('click', () => note('early'), true); onload = () => addEventListener('pointerdown', () => note('late'), true); window.onclick = () => note('attribute')</script><button>Delete</button>`,
    act: click('button'), blocked: ['Delete'],
  },
  'addEventListener replaced by the page': {
    html: `<script>const native = EventTarget.prototype.addEventListener; EventTarget.prototype.addEventListener = function (...all) { return native.apply(this, all); };</script><button>Delete</button><script>addEventListener('click', () => note(1), true)</script>`,
    act: click('button'), blocked: ['Delete'],
  },
  'a method of the guarded page on a detached element acts on nothing of the page': { html: `<p>x`, act: script(() => { const b = document.createElement('button'); b.textContent = 'Delete'; b.onclick = () => window.ran.push(1); b.click(); }), ran: [1] },
});

test('the guard says nothing on the console', async () => {
  const guarded = await open('<p>start');
  const said = [];
  guarded.page.on('console', (message) => said.push(message.text()));
  guarded.page.on('pageerror', (error) => said.push(String(error)));
  const cdp = await guarded.context.newCDPSession(guarded.page);
  cdp.on('Log.entryAdded', ({ entry }) => said.push(entry.text));
  await cdp.send('Log.enable');
  await cdp.send('Log.startViolationsReport', { config: ['longTask', 'longLayout', 'blockedEvent', 'blockedParser', 'handler', 'recurringHandler'].map((name) => ({ name, threshold: 1000 })) });
  await guarded.page.goto(serve('/quiet', '<link rel=icon href="data:,"><button>Delete</button><div id=e style="height:50px"></div>'));
  await guarded.page.getByRole('button').click();
  await at(guarded.page, '#e');
  assert.equal((await guarded.controls()).length, 1);
  assert.deepEqual(said, []);
  await guarded.close();
});

test('documents that come and go: back and forward, SPA navigation, objects, popups, javascript: frames, sandboxes with scripts', async () => {
  const inner = serve('/inner', '<button>Delete</button>');
  const guarded = await open(`<button id=b>Delete</button><a href="${inner}">next</a>`);
  const { page, context, controls, accepted } = guarded;
  const button = () => page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('link').click();
  await button();
  await page.goBack();
  await button();
  await page.goForward();
  await button();
  assert.equal((await controls()).length, 3);
  assert.equal(accepted.filter(({ type }) => type === 'installed').length, 4);
  await page.evaluate(() => history.pushState({}, '', '/pushed'));
  await button();
  assert.equal((await controls()).length, 4);
  await page.evaluate((url) => {
    document.body.innerHTML = `<object data="${url}"></object><embed src="${url}" type="text/html"><iframe sandbox="allow-scripts" src="${url}"></iframe><iframe sandbox="allow-scripts" srcdoc="<button>Delete</button>"></iframe><iframe src="data:text/html,<button>Delete</button>"></iframe><iframe src="javascript:'<button>Delete</button>'"></iframe>`;
  }, inner);
  let expected = 4;
  await page.waitForFunction(() => document.querySelectorAll('iframe').length === 4);
  await page.waitForTimeout(300);
  assert.equal(page.frames().length, 7);
  for (const frame of page.frames().slice(1)) {
    await frame.getByRole('button').click();
    assert.equal((await controls()).length, ++expected, frame.url());
  }
  const popup = async (open) => {
    const [opened] = await Promise.all([context.waitForEvent('page', { timeout: 5000 }), page.evaluate(open)]);
    const box = await opened.evaluate(() => new Promise((done) => setTimeout(() => done(1), 100)));
    assert.equal(box, 1);
    await opened.mouse.click(20, 20);
    assert.equal((await controls()).length, ++expected, String(open));
    await opened.close();
  };
  await popup(() => void (window.open('').document.body.innerHTML = '<button>Delete</button>'));
  await popup(() => void (window.open('').document.body.attachShadow({ mode: 'closed' }).innerHTML = '<button>Delete</button>'));
  await guarded.close();
});

test('pages cannot make the guard slow, and what would be slow is refused', async () => {
  const scoped = { policy: 'scoped-write', prefix: 'QA_TEST_' };
  const timed = async (html, config, act = (page) => page.evaluate(() => { const b = document.getElementById('b'); const from = performance.now(); b.click(); return performance.now() - from; })) => {
    const guarded = await open(prelude + html, config);
    const took = await act(guarded.page);
    const labels = (await guarded.controls()).map(({ label, reason }) => [label, reason]);
    const ran = await guarded.page.evaluate(() => window.ran);
    await guarded.close();
    return { took, labels, ran };
  };
  const row = await timed(`<div role=row><button id=b onclick="note(1)">Delete</button></div><script>
    let at = document.querySelector('[role=row]').appendChild(document.createElement('div')); at.hidden = true; for (let i = 0; i < 5000; i++) at = at.appendChild(document.createElement('div')); at.textContent = 'QA_TEST_';</script>`, scoped);
  assert.deepEqual([row.labels, row.ran], [[], [1]]);
  const label = await timed(`<button id=b onclick="note(1)">x</button><script>$('b').textContent = 'a '.repeat(40000) + 'Delete'</script>`);
  assert.equal(label.labels.length, 1);
  const giant = await timed(`<button id=b onclick="note(1)">x</button><script>$('b').textContent = 'a '.repeat(100000)</script>`);
  assert.match(giant.labels[0]?.[1] ?? '', /a click that cannot be judged/);
  assert.deepEqual(giant.ran, []);
  const many = await timed(`<a id=b href="#x" onclick="note(1)">x</a><script>$('b').innerHTML = '<i>a</i>'.repeat(6000)</script>`);
  assert.match(many.labels[0]?.[1] ?? '', /a click that cannot be judged/);
  const wrapper = await timed(`<div style="cursor:pointer" onclick="note(1)"><p id=b>${'<span>delete this text </span>'.repeat(10000)}</p></div>`);
  assert.deepEqual([wrapper.labels, wrapper.ran], [[], [1]]);
});
