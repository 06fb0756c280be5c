/*
 * The page guard: judges what a click, a key or a submit is about to do, before any script of the page can act on it.
 *
 * It is an expression: a function of values that `fixture.rs` and the fixture put together.
 *   parts       the other files of this folder, as functions
 *   defaultsOf  the default write words and icons (controls.json)
 *   config      policy, prefix and the host's own words, icons and signatures (fixture.rs documents the shape)
 *   attempt     { key, door, binding, scope }: made by the fixture for one browser context, never by the page
 * It runs at document start in every frame. The page is not trusted: whatever the guard calls later, it copied here
 * first, and what it reports carries an authentication code that only the fixture can check and only the guard can make.
 *
 * A control is the nearest interactive element on the event's path. It is a write control when its accessible name,
 * its visible text or an icon in it says so, or when its form goes to a listed write. Under read-only a write control
 * is blocked; under scoped-write it is let through on a scope URL, or when its own row or dialog carries the prefix.
 */
(function pageGuard(parts, defaultsOf, config, attempt) {
  'use strict';

  const page = globalThis;
  if (typeof page.document !== 'object' || page[attempt.door]) return;
  const { location } = page;

  const { Element, Event, HTMLFormElement, Proxy, Uint8Array } = page;
  const { builtins, hmac, controls, scoping } = parts;
  const copies = builtins(page);
  const { slice, listen, dispatch, pathOf, prevent, stop, typeOf, targetOf, listenerOf, buttonOf, keyOf, repeats,
    composing, submitterOf, is, tagOf, apply, defineProperty, describe, parse, stringify, own } = copies;
  const { authenticate, hex } = hmac(page, attempt.key);
  const { accessibleName, any, allowed, clean, controlOf, defaultButton, goesToWrite, iconOf, isActing, visibleText, words } =
    controls(page, copies, defaultsOf, config);
  const { carriesPrefix, inScope, rememberInitial, setScope } = scoping(page, copies, config);

  // === Reports

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

  let received = 0;
  function receive(message) {
    const mac = slice(message, 0, 64);
    const text = slice(message, 65);
    if (authenticate(`down.${text}`) !== mac) return;
    const { counter, scope: pattern, announce: again } = parse(text);
    if (counter <= received) return;
    received = counter;
    setScope(pattern);
    if (again) announce(true);
  }
  defineProperty(page, attempt.door, { value: receive });

  function announce(again) {
    if (location.protocol === 'http:' || location.protocol === 'https:') {
      report({ __proto__: null, type: 'installed', origin: location.origin, again });
    }
  }

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

  // The order in which one activation fires its events; what does not come later begins another one.
  const ranks = {
    __proto__: null, pointerdown: 0, keydown: 0, touchstart: 1, mousedown: 2, click: 3, auxclick: 3, drop: 3, dblclick: 4,
    submit: 4, input: 4, change: 5,
  };
  let activation = { control: null, rank: 0, blocked: false };

  function record(control, type, again, verdict) {
    const rank = ranks[type];
    const joins = activation.control === control && (again || rank > activation.rank);
    if (!joins) activation = { control, blocked: false, rank };
    activation.rank = rank;
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
      return isActing(path[0]) ? path[0] : null;
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
    } catch {
      if (config.policy === 'unrestricted') return false;
      verdict = { __proto__: null, reason: `${config.policy}: a ${type} that cannot be judged`, label: '' };
    }
    record(control, type, type === 'keydown' && repeats(event) === true, verdict);
    return verdict !== null;
  }

  // What follows a blocked press on the same control and would let a page act on it after all.
  const followers = { __proto__: null, pointerup: 1, mouseup: 1, touchend: 1, keyup: 1, keypress: 1 };

  // The window sees each event first, but not inside closed shadow roots; there their own listeners do. A listener leaves an
  // event alone that another one has judged with the same target on its way; one that judged it before has it dispatched again.
  const judged = { __proto__: null, event: null, target: null, by: null };

  function onEvent(event) {
    const path = pathOf(event);
    const target = path[0];
    const by = listenerOf(event);
    if (judged.event === event && judged.target === target && judged.by !== by) return;
    judged.event = event;
    judged.target = target;
    judged.by = by;
    const type = typeOf(event);
    if (type === 'beforeinput' || type === 'input') rememberInitial(target);
    if (type === 'beforeinput') return;
    if (!(followers[type] ? follows(path) : consider(event, type, path))) return;
    prevent(event);
    stop(event);
  }

  function follows(path) {
    if (!activation.blocked) return false;
    try {
      return controlOf(path) === activation.control;
    } catch {
      return true;
    }
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

  const observer = new page.MutationObserver(() => rearm());
  const observe = own(page.MutationObserver.prototype.observe);

  // document.open (which page.setContent uses as well) erases every listener of the window. And a browser keeps the window
  // of an empty document for the one that follows in it, without running this script again.
  let guarded = null;
  const onLoad = (event) => {
    if (targetOf(event) === page.document) rearm(); // each image has such an event, too
  };
  function rearm() {
    if (page.document !== guarded) {
      guarded = page.document;
      observe(observer, guarded, { childList: true });
      announce(false);
    }
    heard = false;
    dispatch(page, new Event(canary));
    if (heard) return;
    listen(page, canary, hear);
    listen(page, 'DOMContentLoaded', rearm, capture);
    listen(page, 'load', onLoad, capture);
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

  if (attempt.scope) receive(attempt.scope);
  rearm();
})
