/*
 * What is a control, and what makes it sound like a write. `defaultsOf` is controls.json, `config` the host's own words,
 * icons and signatures.
 */
(function controls(page, copies, roots, names, defaultsOf, config) {
  'use strict';

  const { RegExp, URL } = page;
  const { matches, lowerCase, upperCase, indexOf, nodeType, nodeText, baseOf, localName, attribute, hasAttribute, find,
    findAll, listLength, listItem, computedStyle, property, inputType, buttonType, labelControl, formElements, formAction,
    formMethod, collectionLength, collectionItem, activeDescendant, parentOf, hrefOf, list, tagOf } = copies;
  const { clean, eachToken, visibleText, accessibleName } = names;

  // === Words, icons, signatures

  const edge = '[\\p{L}\\p{N}_]';
  let defaults = '';
  for (let i = 0; i < defaultsOf.words.length; i++) defaults += (i ? '|' : '') + defaultsOf.words[i];
  // Names have lost what says that a character shall be shown as an emoji, so patterns lose it as well.
  const visible = (source) => {
    let text = '';
    for (let i = 0; i < source.length; i++) if (source[i] !== '\ufe0e' && source[i] !== '\ufe0f') text += source[i];
    return text;
  };
  const patterns = (sources, wrap) => {
    const compiled = [];
    for (let i = 0; i < sources.length; i++) {
      const source = visible(sources[i]);
      compiled[i] = new RegExp(wrap ? `^(?:${source})$` : source, 'i');
    }
    return compiled;
  };
  const words = [new RegExp(`(?<!${edge})(?:${defaults})(?!${edge})`, 'iu')];
  const hostWords = patterns(config.words);
  for (let i = 0; i < hostWords.length; i++) words[words.length] = hostWords[i];
  const allowed = patterns(config.allow, true);
  const icons = [];
  for (let i = 0; i < defaultsOf.icons.length; i++) icons[icons.length] = defaultsOf.icons[i];
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

  const iconLimit = 2000;

  function iconOf(element) {
    const found = iconAt(element);
    if (found) return found;
    const inside = findAll(element, '[class]');
    for (let i = 0; i < listLength(inside) && i < iconLimit; i++) {
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
      for (let i = 0; i < defaultsOf.ligature_classes.length; i++) ligature = ligature || token === defaultsOf.ligature_classes[i];
    });
    if (icon || !ligature) return icon;
    const text = clean(nodeText(element));
    for (let i = 0; i < defaultsOf.ligatures.length; i++) if (text === defaultsOf.ligatures[i]) return text;
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
    const internals = roots.internalsOf(element);
    eachToken(lowerCase(attribute(element, 'role') || (internals && internals.role) || ''), (token) => {
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
      if (!tag || tag === 'html' || property(computedStyle(page, path[i]), 'cursor') !== 'pointer') break;
      outermost = path[i];
    }
    return outermost && small(outermost) ? outermost : null;
  }

  const smallText = 80;
  // What holds very much text is not small, whatever of it is displayed; that is cheaper to find out.
  const small = (element) =>
    !find(element, interactive) && nodeText(element).length <= 100 * smallText && clean(visibleText(element)).length <= smallText;

  // Where something is dropped may be any small or named thing.
  function dropTarget(path) {
    const control = controlOf(path);
    if (control) return control;
    for (let i = 0; i < path.length; i++) {
      const element = path[i];
      if (!tagOf(element) || element === page.document.body) continue;
      if (hasAttribute(element, 'aria-label') || hasAttribute(element, 'aria-labelledby') || hasAttribute(element, 'title')) return element;
      if (small(element) && (clean(accessibleName(element)) !== '' || iconOf(element))) return element;
    }
    return null;
  }

  // The option that a key acts on while the focus stays on the list or the field above it.
  function activeOption(path) {
    for (let i = 0; i < path.length; i++) {
      const active = tagOf(path[i]) && activeDescendant(path[i]);
      if (!active) continue;
      const above = list();
      for (let node = active; node; node = parentOf(node)) above[above.length++] = node;
      return controlOf(above);
    }
    return null;
  }

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

  // Whether keys are text where the path ends.
  const isField = (path) => {
    for (let i = 0; i < path.length; i++) if (tagOf(path[i])) return classify(path[i]) === nothing;
    return false;
  };

  // Whether a changed field acts by itself: a box, a choice, a file.
  const isActing = (element) => {
    const tag = tagOf(element);
    return tag === 'select' || (tag === 'input' && actingInputs[inputType(element)] === 1);
  };

  return {
    __proto__: null, activeOption, any, allowed, controlOf, defaultButton, dropTarget, goesToWrite, iconOf, isActing, isField, words,
  };
})
