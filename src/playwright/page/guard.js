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

  const { Event, EventTarget, HTMLFormElement, Proxy, Uint8Array } = page;
  const { builtins, hmac, shadowRoots, naming, controls, scoping } = parts;
  const copies = builtins(page);
  const { slice, listen, dispatch, pathOf, prevent, stop, typeOf, targetOf, listenerOf, buttonOf, clientX, clientY, keyOf,
    repeats, composing, submitterOf, is, localName, tagOf, apply, defineProperty, describe, parse, stringify, own, viewOf,
    windowOf, isPrototypeOf, matchMedia, mediaMatches, list } = copies;

  // Puts a wrapper in place of a function of the page's; the wrapper passes for the native one.
  function hook(owner, name, around, part = 'value') {
    const property = describe(owner, name);
    if (!property || typeof property[part] !== 'function') return;
    const wrapped = new Proxy(property[part], { __proto__: null, apply: around });
    defineProperty(owner, name, { __proto__: null, ...property, [part]: wrapped });
  }
  const hookGetter = (owner, name, around) => hook(owner, name, around, 'get');

  const { authenticate, hex } = hmac(page, attempt.key);
  const roots = shadowRoots(page, copies, hook, hookGetter, arm);
  const names = naming(page, copies, roots);
  const { accessibleName, chosen, clean, visibleText } = names;
  const { activeOption, any, allowed, controlOf, defaultButton, dropTarget, goesToWrite, iconOf, isActing, isField, words } =
    controls(page, copies, roots, names, defaultsOf, config);
  const { carriesPrefix, inScope, rememberInitial, setScope } = scoping(page, copies, roots, config);

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

  // Where no script may run (a sandbox, a browser without scripts), this one does all the same, and its listeners are dead.
  let inert = false;
  const documentId = hex(page.crypto.getRandomValues(new Uint8Array(16)), 16);
  let sent = 0;
  // What one run of a page's script reports goes in one message: a page that clicks in a loop shall not hold up the fixture.
  const soon = own(page.queueMicrotask);
  let unsent = list();
  function report(body) {
    unsent[unsent.length++] = body;
    if (inert) flush(); // nothing runs later where no script may run
    else if (unsent.length === 1) soon(page, flush);
  }
  function flush() {
    let bodies = '';
    for (let i = 0; i < unsent.length; i++) bodies += `${i ? ',' : ''}${stringify(unsent[i])}`;
    unsent = list();
    const text = `${documentId}.${++sent}.[${bodies}]`;
    send(`${authenticate(`up.${text}`)}.${text}`);
  }

  // === What the fixture tells the guard

  let received = 0;
  function receive(message) {
    if (message === undefined) return rearm(); // from the guard of another window
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
    if (inert) {
      if (!again) report({ __proto__: null, type: 'unguarded', url: location.href });
    } else if (location.protocol === 'http:' || location.protocol === 'https:') {
      report({ __proto__: null, type: 'installed', origin: location.origin, again });
    }
  }

  // === The decision

  // null: let it through. Else the reason and the label of the block. `form` is what a submit sends, `choice` what was
  // chosen in a select.
  function judge(control, form, choice) {
    if (config.policy === 'unrestricted') return null;
    if (tagOf(control) !== 'form' && is(control, ':disabled')) return null;
    const accessible = clean(accessibleName(control));
    const visible = clean(visibleText(control));
    const named = list();
    named[named.length++] = accessible;
    named[named.length++] = visible;
    for (let i = 0; choice && i < choice.length; i++) named[named.length++] = clean(choice[i]);
    let cause = null;
    let cleared = false;
    let label = visible || accessible;
    for (let i = 0; i < named.length; i++) {
      if (named[i] === '') continue;
      if (any(allowed, named[i])) {
        cleared = true;
      } else if (!cause && any(words, named[i])) {
        cause = `"${slice(named[i], 0, 80)}" is a write control`;
        if (i > 1) label = named[i];
      }
    }
    const icon = iconOf(control);
    if (!cause && !cleared && icon) cause = `icon ${slice(icon, 0, 80)} is a write control`;
    const target = form ? goesToWrite(form, control === form ? null : control) : null;
    if (!cause && target) cause = `its form goes to a listed write (${slice(target, 0, 200)})`;
    return cause ? verdictOn(control, cause, label || icon || '') : null;
  }

  // What cannot be seen cannot be judged: the host of a closed root stands for all that is in it.
  function judgeHost(host) {
    if (config.policy === 'unrestricted') return null;
    const label = clean(accessibleName(host)) || `<${localName(host)}>`;
    if (any(allowed, label)) return null;
    return verdictOn(host, `"${slice(label, 0, 80)}" holds a closed shadow root, in which nothing can be judged`, label);
  }

  function verdictOn(control, cause, label) {
    if (config.policy === 'scoped-write' && (inScope() || carriesPrefix(control))) return null;
    const why =
      config.policy === 'scoped-write'
        ? `scoped-write: ${cause}, outside the scope URL and with no ${config.prefix} in its own row or dialog`
        : `${config.policy}: ${cause}`;
    return { __proto__: null, reason: why, label: slice(label, 0, 120) };
  }

  // === One activation is judged as often as it fires events, and recorded once

  // The order in which one activation fires its events; what does not come later begins another one.
  const ranks = {
    __proto__: null, pointerdown: 0, keydown: 0, touchstart: 1, mousedown: 2, pointerup: 3, mouseup: 4, click: 5, auxclick: 5,
    drop: 5, dblclick: 6, submit: 6, input: 6, change: 7,
  };
  let activation = { __proto__: null, control: null, rank: 0, blocked: false };

  function record(control, type, again, verdict) {
    const rank = ranks[type];
    const joins = activation.control === control && (again || rank > activation.rank);
    if (!joins) activation = { __proto__: null, control, blocked: false, rank };
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
      if (key === 'Enter' || !isField(path)) return activeOption(path) || controlOf(path);
    }
    return type === 'drop' ? dropTarget(path) : controlOf(path);
  }

  function consider(event, type, path) {
    if (buttonOf(event) === 2) return false; // a right click alone acts on nothing
    let control = null;
    let verdict;
    try {
      control = subjectOf(event, type, path);
      if (control) {
        const choice = (type === 'input' || type === 'change') && tagOf(control) === 'select' ? chosen(control) : null;
        verdict = judge(control, type === 'submit' ? path[0] : null, choice);
      } else {
        control = unseen(event, type, path);
        if (!control) return false;
        verdict = judgeHost(control);
      }
    } catch {
      if (config.policy === 'unrestricted') return false;
      verdict = { __proto__: null, reason: `${config.policy}: a ${type} that cannot be judged`, label: '' };
    }
    record(control, type, type === 'keydown' && repeats(event) === true, verdict);
    return verdict !== null;
  }

  // The host of a closed root in which something was pressed, when nothing leads into it.
  const presses = { __proto__: null, pointerdown: 1, mousedown: 1, touchstart: 1, click: 1, auxclick: 1, keydown: 1 };
  function unseen(event, type, path) {
    if (!presses[type] || (type === 'keydown' && keyOf(event) !== 'Enter') || isField(path)) return null;
    return roots.hides(path[0]) ? path[0] : null;
  }

  // What follows a blocked press on the same control and would let a page act on it after all.
  const followers = { __proto__: null, pointerup: 1, mouseup: 1, touchend: 1, keyup: 1, keypress: 1 };

  // Where a press began. One that is let go somewhere else acts there, on the entry of a menu that was dragged open.
  let pressed = { __proto__: null, x: 0, y: 0, target: null };
  function dragged(event, type, path) {
    if (type !== 'pointerup' && type !== 'mouseup') return false;
    const far = (from, to) => from - to > 5 || to - from > 5;
    return path[0] !== pressed.target && (far(clientX(event), pressed.x) || far(clientY(event), pressed.y));
  }

  // The window sees each event first, but not inside closed shadow roots; there their own listeners do. A listener leaves an
  // event alone that another one has judged with the same path on its way; one that judged it before has it dispatched again.
  const judged = { __proto__: null, event: null, target: null, length: 0, by: null };

  function onEvent(event) {
    const path = pathOf(event);
    const target = path[0];
    const by = listenerOf(event);
    if (judged.event === event && judged.target === target && judged.length >= path.length && judged.by !== by) return;
    if (by === page) roots.meetPath(path);
    judged.event = event;
    judged.target = target;
    judged.length = path.length;
    judged.by = by;
    const type = typeOf(event);
    if (type === 'beforeinput' || type === 'input') rememberInitial(target);
    if (type === 'beforeinput') return;
    if (type === 'pointerdown' || type === 'mousedown') {
      pressed = { __proto__: null, x: clientX(event), y: clientY(event), target };
    }
    const stops = followers[type]
      ? follows(path) || (dragged(event, type, path) && consider(event, type, path))
      : consider(event, type, path);
    if (!stops) return;
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
  const listens = () => {
    heard = false;
    dispatch(page, new Event(canary));
    return heard;
  };
  function rearm() {
    const isNew = page.document !== guarded;
    if (!listens()) {
      roots.forget();
      listen(page, canary, hear);
      listen(page, 'DOMContentLoaded', rearm, capture);
      listen(page, 'load', onLoad, capture);
      arm(page);
      // Listeners are also not called yet in a window that is just being opened, which the media feature tells apart.
      inert = isNew && !listens() && mediaMatches(matchMedia(page, '(scripting: none)'));
    }
    if (!isNew) return;
    guarded = page.document;
    observe(observer, guarded, { childList: true });
    announce(false);
  }

  // Functions of one window work on another of the same origin, which has a guard of its own.
  function rearmIn(view) {
    if (view === page) return rearm();
    try {
      const other = view[attempt.door];
      if (typeof other === 'function') other();
    } catch {
      // of another origin, so that nothing of this window works on it
    }
  }

  hook(EventTarget.prototype, 'addEventListener', (target, self, args) => {
    if (self === page || self === undefined || self === null) {
      rearm();
    } else if (!isPrototypeOf(EventTarget.prototype, self)) {
      const view = windowBehind(self);
      if (view) rearmIn(view);
    }
    return apply(target, self, args);
  });
  function windowBehind(object) {
    try {
      return windowOf(object);
    } catch {
      return null; // a node of another window, or no event target at all
    }
  }
  for (const name of ['open', 'write', 'writeln']) {
    hook(page.Document.prototype, name, (target, self, args) => {
      try {
        return apply(target, self, args);
      } finally {
        rearm();
        const view = viewBehind(self);
        if (view && view !== page) rearmIn(view);
      }
    });
  }
  function viewBehind(object) {
    try {
      return viewOf(object);
    } catch {
      return null; // no document
    }
  }

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
