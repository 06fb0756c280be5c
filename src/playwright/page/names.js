/*
 * What a control is called: its accessible name (accname-1.2) and the text that is seen on it.
 */
(function naming(page, copies, roots) {
  'use strict';

  const { charCode, normalize, slice, nodeType, firstChild, nextSibling, nodeText, rootOf, hostOf, localName, attribute,
    hasAttribute, byId, documentById, innerText, listLength, listItem, computedStyle, property, inputType, labelsOf,
    slotted, collectionLength, collectionItem, selectedOptions, list, silent } = copies;
  const { rootOfHost, internalsOf } = roots;

  const invisible = (code) =>
    code === 0xad || code === 0x34f || code === 0x61c || code === 0x115f || code === 0x1160 || code === 0x3164 ||
    code === 0xfeff || code === 0xffa0 || (code >= 0x17b4 && code <= 0x17b5) || (code >= 0x180b && code <= 0x180f) ||
    (code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
    (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xfff9 && code <= 0xfffb);
  const space = (code) =>
    code === 32 || (code >= 9 && code <= 13) || code === 0x85 || code === 0xa0 || code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f ||
    code === 0x3000;

  // A name beyond these cannot be judged in reasonable time: then the control is refused.
  const nodeLimit = 5000;
  const textLimit = 100000;
  // How many elements of a name are asked for their style.
  const styleLimit = 200;

  // NFKC, invisible characters out (tags of plane 14 too), white space folded and trimmed.
  function clean(raw) {
    if (raw.length > textLimit) throw new page.Error('a name too long to judge');
    const text = normalize(raw, 'NFKC');
    let result = '';
    let start = 0; // of the run of characters that stay as they are
    let pending = false;
    for (let i = 0; i <= text.length; i++) {
      const code = i < text.length ? charCode(text, i) : 32;
      const blank = space(code);
      const tags = code >= 0xdb40 && code <= 0xdb43;
      if (!blank && !tags && !invisible(code)) continue;
      if (i > start) {
        result += (pending && result !== '' ? ' ' : '') + slice(text, start, i);
        pending = false;
      }
      if (tags) i++;
      pending = pending || blank;
      start = i + 1;
    }
    return result;
  }

  const isShown = (style) => property(style, 'display') !== 'none';

  // The strings that style sheets put before or after an element.
  function generated(element, where) {
    const value = property(computedStyle(page, element, where), 'content');
    if (value === 'none' || value === 'normal' || value === '') return '';
    let text = '';
    let quoted = false;
    for (let i = 0; i < value.length; i++) {
      const character = value[i];
      if (character === '"') {
        quoted = !quoted;
      } else if (quoted) {
        text += character === '\\' ? value[++i] : character;
      } else if (slice(value, i, i + 5) === 'attr(') {
        const from = (i += 5);
        while (i < value.length && value[i] !== ')' && value[i] !== ',' && value[i] !== ' ') i++;
        text += attribute(element, slice(value, from, i)) || '';
      }
    }
    return text;
  }

  // Text from content as assistive technology reads it: labels and alternative texts stand for what they name, slots show
  // what is put into them, and what is not displayed has no part in it.
  function contentText(node, budget) {
    let text = '';
    for (let child = firstChild(node); child; child = nextSibling(child)) text += textOf(child, budget);
    return text;
  }

  function textOf(node, budget) {
    if (--budget.nodes < 0) throw new page.Error('a name with too much in it to judge');
    const type = nodeType(node);
    if (type === 3) return nodeText(node);
    if (type !== 1 || silent[localName(node)]) return '';
    const styled = --budget.styles >= 0;
    if (styled && !isShown(computedStyle(page, node))) return '';
    return styled ? ` ${generated(node, '::before')}${innerTextOf(node, budget)}${generated(node, '::after')} ` : ` ${innerTextOf(node, budget)} `;
  }

  function innerTextOf(element, budget) {
    const label = nativeText(element);
    if (label) return label;
    if (localName(element) === 'slot') {
      const nodes = slotted(element);
      let text = '';
      for (let i = 0; i < nodes.length; i++) text += textOf(nodes[i], budget);
      if (nodes.length > 0) return text;
    }
    const root = rootOfHost(element);
    return contentText(root || element, budget);
  }

  function nativeText(element) {
    const label = attribute(element, 'aria-label');
    if (label !== null && clean(label) !== '') return label;
    const tag = localName(element);
    if (tag === 'img' || tag === 'area') return attribute(element, 'alt') || attribute(element, 'title') || '';
    return '';
  }

  // The order of accname-1.2: labelledby, label, what the platform gives, content, title. A control in a shadow root that
  // has no name of its own takes its host's.
  function accessibleName(element) {
    const name = ownName(element);
    if (clean(name) !== '') return name;
    const root = rootOf(element);
    return nodeType(root) === 11 ? nativeText(hostOf(root)) || attribute(hostOf(root), 'title') || '' : name;
  }

  function ownName(element) {
    const budget = { __proto__: null, nodes: nodeLimit, styles: styleLimit };
    const ids = attribute(element, 'aria-labelledby');
    if (ids !== null) {
      const root = rootOf(element);
      let text = '';
      eachToken(ids, (id) => {
        const type = nodeType(root);
        const target = type === 9 ? documentById(root, id) : type === 11 ? byId(root, id) : null;
        if (target) text += ` ${innerTextOf(target, budget)}`;
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
    const internals = internalsOf(element);
    const labels = labelsOf[tag] ? labelsOf[tag](element) : internals && internals.labels;
    for (let i = 0; labels && i < listLength(labels); i++) text += ` ${contentText(listItem(labels, i), budget)}`;
    if (internals) text += ` ${internals.label || ''}`;
    if (tag !== 'input' && tag !== 'select' && tag !== 'form') {
      text += generated(element, '::before') + innerTextOf(element, budget) + generated(element, '::after');
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

  // What is chosen in a select, as one text an option.
  function chosen(select) {
    const options = selectedOptions(select);
    const texts = list();
    for (let i = 0; i < collectionLength(options); i++) {
      const option = collectionItem(options, i);
      texts[texts.length++] = attribute(option, 'label') || nodeText(option);
    }
    return texts;
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

  return { __proto__: null, accessibleName, chosen, clean, eachToken, visibleText };
})
