/*
 * Shadow roots. Events that do not leave a root are heard in it, so each root is listened to as soon as a script or an
 * event leads there. Closed roots that a script makes or asks for are known from then on; one that the HTML itself
 * declares gives itself away only by not showing what is put into its host.
 */
(function shadowRoots(page, copies, hook, hookGetter, arm) {
  'use strict';

  const { WeakMap } = page;
  const { mapGet, mapSet, mapHas, indexOf, nodeType, firstChild, nextSibling, nodeText, localName, openRoot, hostOf, apply,
    attachInternals, internalsRoot, internalsRole, internalsLabel, internalsLabels, createElement, append, remove,
    setAttribute, computedStyle, property, tagOf } = copies;

  const closed = new WeakMap(); // host: its root
  const known = new WeakMap(); // element: its ElementInternals
  const lent = new WeakMap(); // element: ElementInternals that the guard asked for, before the page did
  let armed = new WeakMap();

  function meet(root) {
    if (!root || mapHas(armed, root)) return;
    mapSet(armed, root, true);
    arm(root);
  }
  // document.open erases the listeners of the roots below it, too.
  const forget = () => {
    armed = new WeakMap();
  };

  function meetClosed(root) {
    if (!root) return;
    mapSet(closed, hostOf(root), root);
    meet(root);
  }

  hook(page.Element.prototype, 'attachShadow', (target, self, args) => {
    const root = apply(target, self, args);
    if (openRoot(self)) meet(root);
    else meetClosed(root);
    return root;
  });
  hookGetter(page.Element.prototype, 'shadowRoot', (target, self) => {
    const root = apply(target, self, []);
    meet(root);
    return root;
  });
  hookGetter(page.ElementInternals.prototype, 'shadowRoot', (target, self) => {
    const root = apply(target, self, []);
    meetClosed(root);
    return root;
  });
  hook(page.HTMLElement.prototype, 'attachInternals', (target, self, args) => {
    const ours = mapGet(lent, self);
    if (ours) {
      mapSet(lent, self, null);
      return ours;
    }
    const internals = apply(target, self, args);
    mapSet(known, self, internals);
    return internals;
  });

  const rootOfHost = (element) => openRoot(element) || mapGet(closed, element) || null;

  // What a custom element says of itself to assistive technology.
  function internalsOf(element) {
    const internals = mapGet(known, element);
    if (!internals) return null;
    let labels = null;
    try {
      labels = internalsLabels(internals);
    } catch {
      // not associated with forms
    }
    return { __proto__: null, role: internalsRole(internals), label: internalsLabel(internals), labels };
  }

  // Every open root on a path, and the closed one of a custom element that a script has not asked for yet.
  function meetPath(path) {
    for (let i = 0; i < path.length; i++) if (path[i] !== page && nodeType(path[i]) === 11) meet(path[i]);
    const host = path[0];
    const tag = tagOf(host);
    if (tag === '' || indexOf(tag, '-') === -1 || rootOfHost(host)) return;
    try {
      if (!mapHas(known, host)) {
        const internals = attachInternals(host);
        mapSet(known, host, internals);
        mapSet(lent, host, internals);
      }
      meetClosed(internalsRoot(mapGet(known, host)));
    } catch {
      // no custom element that is defined
    }
  }

  const hosts = {
    __proto__: null, article: 1, aside: 1, blockquote: 1, body: 1, div: 1, footer: 1, h1: 1, h2: 1, h3: 1, h4: 1, h5: 1, h6: 1,
    header: 1, main: 1, nav: 1, p: 1, section: 1, span: 1,
  };

  // Whether an element has a closed root that nothing leads to. What is put into such a host without a slot is not part of
  // what is displayed, and then has no style. Only elements that show nothing of their own are tried.
  function hides(element) {
    const tag = tagOf(element);
    if (tag === '' || (!hosts[tag] && indexOf(tag, '-') === -1) || rootOfHost(element)) return false;
    if (hosts[tag] && !isBare(element)) return false;
    const probe = createElement(page.document, 'span');
    setAttribute(probe, 'slot', 'qa-pilot');
    append(element, probe);
    const displayed = property(computedStyle(page, probe), 'display') !== '';
    remove(probe);
    return !displayed;
  }

  function isBare(element) {
    for (let child = firstChild(element); child; child = nextSibling(child)) {
      const type = nodeType(child);
      if (type === 1 && property(computedStyle(page, child), 'display') !== '' && localName(child) !== 'template') return false;
      if (type === 3 && !isBlank(nodeText(child))) return false;
    }
    return true;
  }

  const isBlank = (text) => {
    for (let i = 0; i < text.length; i++) if (indexOf(' \t\n\r\f', text[i]) === -1) return false;
    return true;
  };

  return { __proto__: null, forget, hides, internalsOf, meetPath, rootOfHost };
})
