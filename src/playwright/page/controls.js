/*
 * What is a control, what it is called, and what makes it sound like a write. `defaultsOf` is controls.json, `config` the
 * host's own words, icons and signatures.
 */
(function controls(page, copies, defaultsOf, config) {
  'use strict';

  const { RegExp, URL } = page;
  const { matches, charCode, lowerCase, upperCase, normalize, indexOf, nodeType, firstChild, nextSibling,
    nodeText, baseOf, rootOf, localName, attribute, hasAttribute, find, findAll, openRoot, byId,
    documentById, innerText, listLength, listItem, computedStyle, cursorOf, inputType, buttonType,
    labelControl, formElements, formAction, formMethod, collectionLength, collectionItem, hrefOf, labelsOf,
    tagOf, silent } = copies;

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
  for (let i = 0; i < defaultsOf.words.length; i++) defaults += (i ? '|' : '') + defaultsOf.words[i];
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

  // Whether a changed field acts by itself: a box, a choice, a file.
  const isActing = (element) => {
    const tag = tagOf(element);
    return tag === 'select' || (tag === 'input' && actingInputs[inputType(element)] === 1);
  };

  return { __proto__: null, accessibleName, any, allowed, clean, controlOf, defaultButton, goesToWrite, iconOf, isActing, visibleText, words };
})
