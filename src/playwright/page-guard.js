/*
 * The page guard: judges what a click, a key or a submit is about to do, before any script of the page can act on it.
 *
 * It is an expression: a function of three values that `fixture.rs` and the fixture put together.
 *   controls  the default write words and icons (controls.json)
 *   config    policy, prefix and the host's own words, icons and signatures (fixture.rs documents the shape)
 *   attempt   { key, door, binding, scope }: made by the fixture for one browser context, never by the page
 * It runs at document start in every frame. The page is not trusted: whatever the guard calls later, it copied here
 * first, and what it reports carries an authentication code that only the fixture can check and only the guard can make.
 *
 * A control is the nearest interactive element on the event's path. It is a write control when its accessible name,
 * its visible text or an icon in it says so, or when its form goes to a listed write. Under read-only a write control
 * is blocked; under scoped-write it is let through on a scope URL, or when its own row or dialog carries the prefix.
 */
(function pageGuard(controls, config, attempt) {
  'use strict';

  const page = globalThis;
  if (typeof page.document !== 'object' || page[attempt.door]) return;
  const document = page.document;
  const location = page.location;

  // === Own copies of what is used later

  const { apply, defineProperty, getOwnPropertyDescriptor: describe } = Reflect;
  const own = (fn) => (self, ...args) => apply(fn, self, args);
  const method = (owner, name) => own(owner.prototype[name]);
  const getter = (owner, name) => own(describe(owner.prototype, name).get);
  const { parse, stringify } = JSON;
  const { Element, Event, FormData, HTMLFormElement, HTMLInputElement, Math, Node, Proxy, RegExp, TextEncoder, URL } = page;
  const { ShadowRoot, String, Uint32Array, Uint8Array, WeakMap } = page;

  const exec = method(RegExp, 'exec');
  const matches = (pattern, text) => exec(pattern, text) !== null;
  const charCode = method(String, 'charCodeAt');
  const lowerCase = method(String, 'toLowerCase');
  const upperCase = method(String, 'toUpperCase');
  const normalize = method(String, 'normalize');
  const slice = method(String, 'slice');
  const indexOf = method(String, 'indexOf');
  const mapGet = method(WeakMap, 'get');
  const mapSet = method(WeakMap, 'set');
  const mapHas = method(WeakMap, 'has');

  const listen = method(page.EventTarget, 'addEventListener');
  const dispatch = method(page.EventTarget, 'dispatchEvent');
  const pathOf = method(Event, 'composedPath');
  const prevent = method(Event, 'preventDefault');
  const stop = method(Event, 'stopImmediatePropagation');
  const typeOf = getter(Event, 'type');
  // Synthetic events may be of a class that has no such property.
  const lenient = (get) => (event) => {
    try {
      return get(event);
    } catch {
      return undefined;
    }
  };
  const buttonOf = lenient(getter(page.MouseEvent, 'button'));
  const keyOf = lenient(getter(page.KeyboardEvent, 'key'));
  const repeats = lenient(getter(page.KeyboardEvent, 'repeat'));
  const composing = lenient(getter(page.KeyboardEvent, 'isComposing'));
  const submitterOf = lenient(getter(page.SubmitEvent, 'submitter'));

  const nodeType = getter(Node, 'nodeType');
  const parentOf = getter(Node, 'parentNode');
  const firstChild = getter(Node, 'firstChild');
  const nextSibling = getter(Node, 'nextSibling');
  const nodeText = getter(Node, 'textContent');
  const baseOf = getter(Node, 'baseURI');
  const rootOf = method(Node, 'getRootNode');
  const localName = getter(Element, 'localName');
  const attribute = method(Element, 'getAttribute');
  const hasAttribute = method(Element, 'hasAttribute');
  const is = method(Element, 'matches');
  const find = method(Element, 'querySelector');
  const findAll = method(Element, 'querySelectorAll');
  const slotOf = getter(Element, 'assignedSlot');
  const openRoot = getter(Element, 'shadowRoot');
  const hostOf = getter(ShadowRoot, 'host');
  const byId = method(page.DocumentFragment, 'getElementById');
  const documentById = method(page.Document, 'getElementById');
  const innerText = getter(page.HTMLElement, 'innerText');
  const editable = getter(page.HTMLElement, 'isContentEditable');
  const listLength = getter(page.NodeList, 'length');
  const listItem = method(page.NodeList, 'item');
  const computedStyle = own(page.getComputedStyle);
  const cursorOf = method(page.CSSStyleDeclaration, 'getPropertyValue');
  const inputType = getter(HTMLInputElement, 'type');
  const buttonType = getter(page.HTMLButtonElement, 'type');
  const labelControl = getter(page.HTMLLabelElement, 'control');
  const formElements = getter(HTMLFormElement, 'elements');
  const formAction = getter(HTMLFormElement, 'action');
  const formMethod = getter(HTMLFormElement, 'method');
  const collectionLength = getter(page.HTMLCollection, 'length');
  const collectionItem = method(page.HTMLCollection, 'item');
  const parentWindow = own(describe(page, 'parent').get);
  const hrefOf = getter(URL, 'href');
  const forms = {
    __proto__: null,
    button: page.HTMLButtonElement,
    input: HTMLInputElement,
    select: page.HTMLSelectElement,
    textarea: page.HTMLTextAreaElement,
  };
  const labelsOf = { __proto__: null };
  const valueOf = { __proto__: null };
  const ownerForm = { __proto__: null };
  for (const name in forms) {
    labelsOf[name] = getter(forms[name], 'labels');
    valueOf[name] = getter(forms[name], 'value');
    ownerForm[name] = getter(forms[name], 'form');
  }
  const defaultValueOf = {
    __proto__: null,
    input: getter(HTMLInputElement, 'defaultValue'),
    textarea: getter(page.HTMLTextAreaElement, 'defaultValue'),
  };
  // The window ends each path, and it is no node.
  const tagOf = (node) => (node && node !== page && nodeType(node) === 1 ? localName(node) : '');

  // === Authenticated reports: HMAC-SHA-256 (RFC 2104, FIPS 180-4), because crypto.subtle is asynchronous and absent on http

  const rotate = (x, n) => (x >>> n) | (x << (32 - n));
  const roundConstants = new Uint32Array(64);
  const initialState = new Uint32Array(8);
  for (let candidate = 2, count = 0; count < 64; candidate++) {
    let prime = true;
    for (let factor = 2; factor * factor <= candidate; factor++) if (candidate % factor === 0) prime = false;
    if (!prime) continue;
    if (count < 8) initialState[count] = (Math.pow(candidate, 1 / 2) % 1) * 4294967296;
    roundConstants[count++] = (Math.pow(candidate, 1 / 3) % 1) * 4294967296;
  }

  function sha256(bytes, length) {
    const blocks = ((length + 8) >>> 6) + 1;
    const words = new Uint32Array(blocks * 16);
    for (let i = 0; i < length; i++) words[i >>> 2] |= bytes[i] << (24 - (i & 3) * 8);
    words[length >>> 2] |= 0x80 << (24 - (length & 3) * 8);
    words[blocks * 16 - 1] = length * 8;
    const state = new Uint32Array(8);
    for (let i = 0; i < 8; i++) state[i] = initialState[i];
    const w = new Uint32Array(64);
    const v = new Uint32Array(8);
    for (let block = 0; block < blocks; block++) {
      for (let i = 0; i < 8; i++) v[i] = state[i];
      for (let i = 0; i < 64; i++) {
        if (i < 16) {
          w[i] = words[block * 16 + i];
        } else {
          const a = w[i - 15];
          const b = w[i - 2];
          const s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
          const s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
          w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        const s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        const t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + roundConstants[i] + w[i];
        const s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        const t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        for (let k = 7; k > 0; k--) v[k] = v[k - 1];
        v[4] += t1;
        v[0] = t1 + t2;
      }
      for (let i = 0; i < 8; i++) state[i] += v[i];
    }
    const digest = new Uint8Array(32);
    for (let i = 0; i < 32; i++) digest[i] = state[i >>> 2] >>> (24 - (i & 3) * 8);
    return digest;
  }

  const encoder = new TextEncoder();
  const encode = method(TextEncoder, 'encode');
  const byteLength = getter(Reflect.getPrototypeOf(Uint8Array), 'length');
  const keyBytes = encode(encoder, attempt.key); // 64 hexadecimal digits: exactly one block

  function authenticate(text) {
    const message = encode(encoder, text);
    const length = byteLength(message);
    const inner = new Uint8Array(64 + length);
    const outer = new Uint8Array(96);
    for (let i = 0; i < 64; i++) {
      inner[i] = keyBytes[i] ^ 0x36;
      outer[i] = keyBytes[i] ^ 0x5c;
    }
    for (let i = 0; i < length; i++) inner[64 + i] = message[i];
    const digest = sha256(inner, 64 + length);
    for (let i = 0; i < 32; i++) outer[64 + i] = digest[i];
    return hex(sha256(outer, 96), 32);
  }

  function hex(bytes, length) {
    let text = '';
    for (let i = 0; i < length; i++) text += '0123456789abcdef'[bytes[i] >>> 4] + '0123456789abcdef'[bytes[i] & 15];
    return text;
  }

  // The wrapper that Playwright puts round a binding runs page-visible code, so the native function under it is taken
  // while it can still be trusted; where there is none (another browser, another version) the wrapper has to do.
  const wrapper = page[attempt.binding];
  const native = page.__playwright__binding__;
  delete page[attempt.binding];
  const send =
    typeof native === 'function'
      ? (text) => native(`{"name":${stringify(attempt.binding)},"seq":0,"serializedArgs":[${stringify(text)}]}`)
      : wrapper;

  const documentId = hex(page.crypto.getRandomValues(new Uint8Array(16)), 16);
  let sent = 0;
  function report(body) {
    const text = `${documentId}.${++sent}.${stringify(body)}`;
    send(`${authenticate(`up.${text}`)}.${text}`);
  }

  // === What the fixture tells the guard

  let scope = null;
  let received = 0;
  function receive(message) {
    const mac = slice(message, 0, 64);
    const text = slice(message, 65);
    if (authenticate(`down.${text}`) !== mac) return;
    const { counter, scope: pattern, announce: again } = parse(text);
    if (counter <= received) return;
    received = counter;
    scope = pattern === null ? null : new RegExp(pattern);
    if (again) announce();
  }
  defineProperty(page, attempt.door, { value: receive });

  function announce() {
    if (location.protocol === 'http:' || location.protocol === 'https:') {
      report({ __proto__: null, type: 'installed', origin: location.origin });
    }
  }

  // === Names

  const invisible = (code) =>
    code === 0xad || code === 0x34f || code === 0x61c || code === 0x115f || code === 0x1160 || code === 0x3164 ||
    code === 0xfeff || code === 0xffa0 || (code >= 0x17b4 && code <= 0x17b5) || (code >= 0x180b && code <= 0x180f) ||
    (code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
    (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xfff9 && code <= 0xfffb);
  const space = (code) =>
    code === 32 || (code >= 9 && code <= 13) || code === 0x85 || code === 0xa0 || code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f ||
    code === 0x3000;

  // NFKC, invisible characters out (tags of plane 14 too), white space folded and trimmed.
  function clean(raw) {
    const text = normalize(`${raw}`, 'NFKC');
    let result = '';
    let pending = false;
    for (let i = 0; i < text.length; i++) {
      const code = charCode(text, i);
      if (invisible(code)) continue;
      if (code >= 0xdb40 && code <= 0xdb43) {
        i++;
        continue;
      }
      if (space(code)) {
        pending = result !== '';
        continue;
      }
      result += pending ? ` ${text[i]}` : text[i];
      pending = false;
    }
    return result;
  }

  const silent = { __proto__: null, script: 1, style: 1, template: 1, noscript: 1 };
  const nodeLimit = 2000;

  // Text from content as assistive technology reads it: labels and alternative texts stand for what they name.
  function contentText(node, budget) {
    let text = '';
    for (let child = firstChild(node); child && budget.left > 0; child = nextSibling(child)) {
      budget.left--;
      const type = nodeType(child);
      if (type === 3) text += nodeText(child);
      if (type !== 1 || silent[localName(child)]) continue;
      text += ` ${nativeText(child) || contentText(child, budget)} `;
      const root = openRoot(child);
      if (root) text += contentText(root, budget);
    }
    return text;
  }

  function nativeText(element) {
    const label = attribute(element, 'aria-label');
    if (label !== null && clean(label) !== '') return label;
    const tag = localName(element);
    if (tag === 'img' || tag === 'area') return attribute(element, 'alt') || attribute(element, 'title') || '';
    return '';
  }

  // The order of accname-1.2: labelledby, label, what the platform gives, content, title.
  function accessibleName(element) {
    const budget = { left: nodeLimit };
    const ids = attribute(element, 'aria-labelledby');
    if (ids !== null) {
      const root = rootOf(element);
      let text = '';
      eachToken(ids, (id) => {
        const type = nodeType(root);
        const target = type === 9 ? documentById(root, id) : type === 11 ? byId(root, id) : null;
        if (target) text += ` ${nativeText(target) || contentText(target, budget)}`;
      });
      if (clean(text) !== '') return text;
    }
    const label = nativeText(element);
    if (label !== '') return label;
    const tag = localName(element);
    let text = '';
    if (tag === 'input') {
      const type = inputType(element);
      if (type === 'submit' || type === 'reset' || type === 'button') {
        text = hasAttribute(element, 'value') ? attribute(element, 'value') : type === 'button' ? '' : type;
      } else if (type === 'image') {
        text = attribute(element, 'alt') || '';
      }
    }
    const labels = labelsOf[tag] && labelsOf[tag](element);
    for (let i = 0; labels && i < listLength(labels); i++) text += ` ${contentText(listItem(labels, i), budget)}`;
    if (tag !== 'input' && tag !== 'select') {
      const root = openRoot(element);
      text += contentText(element, budget) + (root ? contentText(root, budget) : '');
    }
    if (clean(text) === '') text = attribute(element, 'title') || '';
    if (clean(text) === '' && tag === 'input' && inputType(element) === 'image') text = 'submit';
    return text;
  }

  function visibleText(element) {
    const tag = localName(element);
    if (tag === 'input' || tag === 'select' || tag === 'form') return '';
    try {
      return innerText(element);
    } catch {
      return nodeText(element); // SVG and other elements that are not HTML
    }
  }

  function eachToken(text, visit) {
    let token = '';
    for (let i = 0; i <= text.length; i++) {
      if (i < text.length && !space(charCode(text, i))) {
        token += text[i];
      } else if (token !== '') {
        visit(token);
        token = '';
      }
    }
  }

  // === Words, icons, signatures

  const edge = '[\\p{L}\\p{N}_]';
  let defaults = '';
  for (let i = 0; i < controls.words.length; i++) defaults += (i ? '|' : '') + controls.words[i];
  const patterns = (sources, wrap) => {
    const compiled = [];
    for (let i = 0; i < sources.length; i++) compiled[i] = new RegExp(wrap ? `^(?:${sources[i]})$` : sources[i], 'i');
    return compiled;
  };
  const words = [new RegExp(`(?<!${edge})(?:${defaults})(?!${edge})`, 'iu')];
  const hostWords = patterns(config.words);
  for (let i = 0; i < hostWords.length; i++) words[words.length] = hostWords[i];
  const allowed = patterns(config.allow, true);
  const icons = [];
  for (let i = 0; i < controls.icons.length; i++) icons[icons.length] = controls.icons[i];
  for (let i = 0; i < config.icons.length; i++) icons[icons.length] = config.icons[i];
  const signatures = (list) => {
    const compiled = [];
    for (let i = 0; i < list.length; i++) compiled[i] = { method: list[i].method, url: new RegExp(list[i].url) };
    return compiled;
  };
  const writes = signatures(config.write_signatures);
  const reads = signatures(config.allow_signatures);

  const any = (list, text) => {
    for (let i = 0; i < list.length; i++) if (matches(list[i], text)) return true;
    return false;
  };

  function iconOf(element) {
    const found = iconAt(element);
    if (found) return found;
    const inside = findAll(element, '[class]');
    for (let i = 0; i < listLength(inside) && i < nodeLimit; i++) {
      const icon = iconAt(listItem(inside, i));
      if (icon) return icon;
    }
    return null;
  }

  function iconAt(element) {
    let icon = null;
    let ligature = false;
    eachToken(attribute(element, 'class') || '', (token) => {
      for (let i = 0; i < icons.length; i++) if (indexOf(token, icons[i]) === 0) icon = icon || token;
      for (let i = 0; i < controls.ligature_classes.length; i++) ligature = ligature || token === controls.ligature_classes[i];
    });
    if (icon || !ligature) return icon;
    const text = clean(nodeText(element));
    for (let i = 0; i < controls.ligatures.length; i++) if (text === controls.ligatures[i]) return text;
    return null;
  }

  function goesToWrite(form, submitter) {
    const given = (name) => submitter && hasAttribute(submitter, name);
    const verb = upperCase(given('formmethod') ? attribute(submitter, 'formmethod') : formMethod(form));
    if (verb === 'DIALOG') return null;
    const target = given('formaction') ? attribute(submitter, 'formaction') : formAction(form);
    const url = hrefOf(new URL(target, baseOf(form)));
    const hit = (list) => {
      for (let i = 0; i < list.length; i++) {
        if ((list[i].method === '*' || list[i].method === verb) && matches(list[i].url, url)) return true;
      }
      return false;
    };
    return hit(writes) && !hit(reads) ? `${verb} ${url}` : null;
  }

  // === Which control an event is about

  const roles = {
    __proto__: null, button: 1, link: 1, menuitem: 1, menuitemcheckbox: 1, menuitemradio: 1, tab: 1, option: 1,
    switch: 1, checkbox: 1, radio: 1, treeitem: 1,
  };
  const actingInputs = {
    __proto__: null, button: 1, submit: 1, reset: 1, image: 1, checkbox: 1, radio: 1, file: 1,
  };
  const interactive =
    'a, area, button, summary, input:not([type=hidden]), select, textarea, label, [role=button], [role=link], ' +
    '[role^=menuitem], [role=tab], [role=option], [role=switch], [role=checkbox], [role=radio], [role=treeitem]';

  const nothing = { __proto__: null, control: null, ends: true };
  const further = { __proto__: null, control: null, ends: false };
  const acts = (control) => ({ __proto__: null, control, ends: true });

  // What an element on the path is by itself: a control, a field for text (which ends the search), or neither.
  function classify(element) {
    const tag = localName(element);
    if (tag === 'label') {
      const labelled = labelControl(element);
      return labelled && labelled !== element ? classify(labelled) : further;
    }
    if (tag === 'button' || tag === 'summary' || tag === 'a' || tag === 'area' || tag === 'select') return acts(element);
    if (tag === 'input') return actingInputs[inputType(element)] ? acts(element) : nothing;
    if (tag === 'textarea') return nothing;
    let role = false;
    eachToken(lowerCase(attribute(element, 'role') || ''), (token) => {
      role = role || roles[token] === 1;
    });
    if (role) return acts(element);
    const edit = attribute(element, 'contenteditable');
    return edit !== null && lowerCase(edit) !== 'false' ? nothing : further;
  }

  function controlOf(path) {
    for (let i = 0; i < path.length; i++) {
      if (!tagOf(path[i])) continue;
      const { control, ends } = classify(path[i]);
      if (ends) return control;
    }
    for (let i = 0; i < path.length; i++) {
      if (tagOf(path[i]) && hasAttribute(path[i], 'onclick') && small(path[i])) return path[i];
    }
    let outermost = null;
    for (let i = 0; i < path.length; i++) {
      const tag = tagOf(path[i]);
      if (!tag && path[i] !== page && nodeType(path[i]) === 11) continue; // a shadow root between two elements
      if (!tag || tag === 'html' || cursorOf(computedStyle(page, path[i]), 'cursor') !== 'pointer') break;
      outermost = path[i];
    }
    return outermost && small(outermost) ? outermost : null;
  }

  const small = (element) => !find(element, interactive) && clean(visibleText(element)).length <= 80;

  function defaultButton(form) {
    const elements = formElements(form);
    for (let i = 0; i < collectionLength(elements); i++) {
      const element = collectionItem(elements, i);
      const tag = localName(element);
      const type = tag === 'button' ? buttonType(element) : tag === 'input' ? inputType(element) : '';
      if (type === 'submit' || type === 'image') return element;
    }
    return null;
  }

  // === Scope: the document's URL, else the control's own row or dialog

  function scopeUrl() {
    let view = page;
    for (let depth = 0; depth < 16; depth++) {
      const href = view.location.href; // throws for a parent of another origin: then there is no scope
      if (href !== 'about:srcdoc' && indexOf(href, 'about:blank') !== 0) return href;
      const parent = parentWindow(view);
      if (parent === view) return href;
      view = parent;
    }
    return '';
  }

  function inScope() {
    if (scope === null) return false;
    try {
      return matches(scope, scopeUrl());
    } catch {
      return false;
    }
  }

  const rowSelector = 'tr, [role=row], li, [role=listitem], .v-list-item';
  const dialogSelector = '[role=dialog], [role=alertdialog], dialog';

  function flatParent(node) {
    if (nodeType(node) === 1) {
      const slot = slotOf(node);
      if (slot) return slot;
    }
    const parent = parentOf(node);
    if (parent) return parent;
    return nodeType(node) === 11 && node !== document ? closedHost(node) : null;
  }

  function closedHost(root) {
    try {
      return hostOf(root);
    } catch {
      return null; // a plain document fragment
    }
  }

  function carriesPrefix(control) {
    const above = [];
    for (let node = control; node; node = flatParent(node)) above[above.length] = node;
    const nearest = (selector) => {
      for (let i = 0; i < above.length; i++) if (nodeType(above[i]) === 1 && is(above[i], selector)) return above[i];
      return null;
    };
    const row = nearest(rowSelector);
    const holder = row || nearest(dialogSelector);
    return holder !== null && indexOf(ownText(holder, above, row !== null), config.prefix) !== -1;
  }

  // The value that a field had before anybody typed: a framework may write what is typed back into the attribute.
  const initialValues = new WeakMap();
  function rememberInitial(field) {
    const tag = tagOf(field);
    if (defaultValueOf[tag] && !mapHas(initialValues, field)) mapSet(initialValues, field, defaultValueOf[tag](field));
  }

  function ownText(node, above, initial) {
    let text = '';
    for (let child = firstChild(node); child; child = nextSibling(child)) {
      const type = nodeType(child);
      if (type === 3) text += nodeText(child);
      if (type !== 1) continue;
      const tag = localName(child);
      if (silent[tag] || (is(child, rowSelector) && !holds(above, child))) continue;
      if (tag === 'input' || tag === 'textarea') {
        if (tag === 'input' && inputType(child) === 'password') continue;
        if (!initial) text += ` ${valueOf[tag](child)} `;
        else text += ` ${mapHas(initialValues, child) ? mapGet(initialValues, child) : defaultValueOf[tag](child)} `;
        continue;
      }
      if (initial && typedInto(child)) continue;
      text += ` ${ownText(child, above, initial)} `;
      const root = openRoot(child);
      if (root) text += ownText(root, above, initial);
    }
    return text;
  }

  function typedInto(element) {
    try {
      return editable(element);
    } catch {
      return false; // not an HTML element
    }
  }

  const holds = (above, element) => {
    for (let i = 0; i < above.length; i++) if (above[i] === element) return true;
    return false;
  };

  // === The decision

  // null: let it through. Else the reason and the label of the block.
  function judge(control, form) {
    if (config.policy === 'unrestricted') return null;
    if (tagOf(control) !== 'form' && is(control, ':disabled')) return null;
    const accessible = clean(accessibleName(control));
    const visible = clean(visibleText(control));
    const named = [accessible, visible];
    let cause = null;
    let cleared = false;
    for (let i = 0; i < 2; i++) {
      if (named[i] === '') continue;
      if (any(allowed, named[i])) cleared = true;
      else if (any(words, named[i])) cause = cause || `"${slice(named[i], 0, 80)}" is a write control`;
    }
    const icon = iconOf(control);
    if (!cause && !cleared && icon) cause = `icon ${slice(icon, 0, 80)} is a write control`;
    const target = form ? goesToWrite(form, control === form ? null : control) : null;
    if (!cause && target) cause = `its form goes to a listed write (${slice(target, 0, 200)})`;
    if (!cause) return null;
    if (config.policy === 'scoped-write' && (inScope() || carriesPrefix(control))) return null;
    const why =
      config.policy === 'scoped-write'
        ? `scoped-write: ${cause}, outside the scope URL and with no ${config.prefix} in its own row or dialog`
        : `${config.policy}: ${cause}`;
    return { __proto__: null, reason: why, label: slice(visible || accessible || icon || '', 0, 120) };
  }

  // === One activation is judged as often as it fires events, and recorded once

  const ranks = {
    __proto__: null, pointerdown: 0, keydown: 0, touchstart: 1, mousedown: 1, click: 2, auxclick: 2, drop: 2,
    dblclick: 3, submit: 3, input: 3, change: 4,
  };
  let activation = { control: null, rank: 0, type: '', blocked: false };

  function record(control, type, again, verdict) {
    const rank = ranks[type];
    const joins =
      activation.control === control && (again || (rank > 0 && rank >= activation.rank && type !== activation.type));
    if (!joins) activation = { control, blocked: false, rank, type };
    activation.rank = rank;
    activation.type = type;
    if (!verdict) return;
    if (!activation.blocked) {
      report({ __proto__: null, type: 'control', reason: verdict.reason, label: verdict.label });
    }
    activation.blocked = true;
  }

  // The control that an event acts on, or null when it acts on none.
  function subjectOf(event, type, path) {
    if (type === 'submit') {
      const form = path[0];
      return tagOf(form) === 'form' ? submitterOf(event) || defaultButton(form) || form : null;
    }
    if (type === 'input' || type === 'change') {
      const tag = tagOf(path[0]);
      const acting = tag === 'select' || (tag === 'input' && actingInputs[inputType(path[0])]);
      return acting ? path[0] : null;
    }
    if (type === 'keydown') {
      const key = keyOf(event);
      if ((key !== 'Enter' && key !== ' ') || composing(event)) return null;
    }
    return controlOf(path);
  }

  function consider(event, type, path) {
    if (buttonOf(event) === 2) return false; // a right click alone acts on nothing
    let control = null;
    let verdict;
    try {
      control = subjectOf(event, type, path);
      if (!control) return false;
      verdict = judge(control, type === 'submit' ? path[0] : null);
    } catch (error) {
      if (config.policy === 'unrestricted') return false;
      verdict = { __proto__: null, reason: `${config.policy}: a ${type} that cannot be judged`, label: '' };
    }
    record(control, type, type === 'keydown' && repeats(event) === true, verdict);
    return verdict !== null;
  }

  // What follows a blocked press on the same control and would let a page act on it after all.
  const followers = { __proto__: null, pointerup: 1, mouseup: 1, touchend: 1, keyup: 1, keypress: 1 };
  const seen = new WeakMap();

  function onEvent(event) {
    const path = pathOf(event);
    const target = path[0];
    if (mapGet(seen, event) === target) return; // the window has judged it with the same view of the path
    mapSet(seen, event, target);
    const type = typeOf(event);
    if (type === 'beforeinput' || type === 'input') rememberInitial(target);
    if (type === 'beforeinput') return;
    const block = followers[type]
      ? activation.blocked && controlOf(path) === activation.control
      : consider(event, type, path);
    if (!block) return;
    prevent(event);
    stop(event);
  }

  // === Being first, and staying there

  const listened = [
    'pointerdown', 'mousedown', 'touchstart', 'pointerup', 'mouseup', 'touchend', 'click', 'auxclick', 'dblclick',
    'keydown', 'keypress', 'keyup', 'beforeinput', 'input', 'change', 'submit', 'drop',
  ];
  const capture = { __proto__: null, capture: true, passive: false };
  const canary = `qa-pilot-${documentId}`;
  let heard = false;
  const hear = () => {
    heard = true;
  };

  function arm(target) {
    for (let i = 0; i < listened.length; i++) listen(target, listened[i], onEvent, capture);
  }

  // document.open (which page.setContent uses as well) erases every listener of the window.
  function rearm() {
    heard = false;
    dispatch(page, new Event(canary));
    if (heard) return;
    listen(page, canary, hear);
    arm(page);
  }

  // Puts a wrapper in place of a function of the page's; the wrapper passes for the native one.
  function hook(owner, name, around) {
    const property = describe(owner, name);
    if (!property || typeof property.value !== 'function') return;
    const value = new Proxy(property.value, { __proto__: null, apply: around });
    defineProperty(owner, name, { __proto__: null, ...property, value });
  }

  hook(page.EventTarget.prototype, 'addEventListener', (target, self, args) => {
    if (self === page || self === undefined || self === null) rearm();
    return apply(target, self, args);
  });
  for (const name of ['open', 'write', 'writeln']) {
    hook(page.Document.prototype, name, (target, self, args) => {
      try {
        return apply(target, self, args);
      } finally {
        rearm();
      }
    });
  }
  own(page.MutationObserver.prototype.observe)(new page.MutationObserver(rearm), document, { childList: true });

  hook(Element.prototype, 'attachShadow', (target, self, args) => {
    const root = apply(target, self, args);
    arm(root);
    return root;
  });

  hook(HTMLFormElement.prototype, 'submit', (target, self, args) => {
    const control = defaultButton(self) || self;
    let verdict;
    try {
      verdict = judge(control, self);
    } catch {
      verdict = { __proto__: null, reason: `${config.policy}: a submit that cannot be judged`, label: '' };
    }
    record(control, 'submit', false, verdict);
    return verdict ? undefined : apply(target, self, args);
  });

  // Under read-only a native dialog still opens and the spec may handle it, but the page always hears "no".
  if (config.policy === 'read-only') {
    hook(page, 'confirm', (target, self, args) => (apply(target, self, args), false));
    hook(page, 'prompt', (target, self, args) => (apply(target, self, args), null));
  }

  rearm();
  if (attempt.scope) receive(attempt.scope);
  announce();
})
