/*
 * Whether a write control may act under scoped-write: on a page whose URL is in scope, or when the control's own row or
 * dialog carries the prefix. A row's text is its own: neither a heading nor a neighbour nor an outer row lends a prefix.
 */
(function scoping(page, copies, config) {
  'use strict';

  const { RegExp, WeakMap } = page;
  const { matches, indexOf, mapGet, mapSet, nodeType, parentOf, firstChild, nextSibling, nodeText,
    localName, is, slotOf, openRoot, hostOf, editable, inputType, parentWindow, valueOf,
    defaultValueOf, tagOf, mapHas, silent } = copies;

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

  return { __proto__: null, carriesPrefix, inScope, rememberInitial, setScope };
})
