/*
 * Whether a write control may act under scoped-write: on a page whose URL is in scope, or when the control's own row or
 * dialog carries the prefix. A row's text is its own: neither a heading nor a neighbour nor an outer row lends a prefix.
 */
(function scoping(page, copies, roots, config) {
  'use strict';

  const { RegExp, WeakMap } = page;
  const { rootOfHost } = roots;
  const { matches, indexOf, mapGet, mapSet, nodeType, parentOf, firstChild, nextSibling, nodeText,
    localName, is, slotOf, hostOf, editable, inputType, parentWindow, valueOf,
    defaultValueOf, tagOf, mapHas, list, silent } = copies;

  let scope = null;
  const setScope = (pattern) => {
    scope = pattern === null ? null : new RegExp(pattern);
  };

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
    return nodeType(node) === 11 && node !== page.document ? hostOfRoot(node) : null;
  }

  function hostOfRoot(root) {
    try {
      return hostOf(root);
    } catch {
      return null; // a plain document fragment
    }
  }

  function carriesPrefix(control) {
    const above = list();
    for (let node = control; node; node = flatParent(node)) above[above.length++] = node;
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

  // In document order, with a list of what is still to be read instead of a call a level: pages nest deeply.
  function ownText(holder, above, initial) {
    let text = '';
    const open = list();
    const enter = (node) => {
      const root = nodeType(node) === 1 ? rootOfHost(node) : null;
      if (root && firstChild(root)) open[open.length++] = firstChild(root);
      if (firstChild(node)) open[open.length++] = firstChild(node);
    };
    enter(holder);
    while (open.length > 0) {
      const node = open[open.length - 1];
      const next = nextSibling(node);
      if (next) open[open.length - 1] = next;
      else open.length--;
      const type = nodeType(node);
      if (type === 3) text += nodeText(node);
      if (type !== 1) continue;
      const tag = localName(node);
      if (silent[tag] || (is(node, rowSelector) && !holds(above, node))) continue;
      text += ' ';
      if (tag === 'input' || tag === 'textarea') {
        if (tag !== 'input' || inputType(node) !== 'password') text += `${fieldText(node, tag, initial)} `;
      } else if (!initial || !typedInto(node)) {
        enter(node);
      }
    }
    return text;
  }

  function fieldText(field, tag, initial) {
    if (!initial) return valueOf[tag](field);
    return mapHas(initialValues, field) ? mapGet(initialValues, field) : defaultValueOf[tag](field);
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

  return { __proto__: null, carriesPrefix, inScope, rememberInitial, setScope };
})
