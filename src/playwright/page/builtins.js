/*
 * The page guard's own copies of what it uses later, taken before any script of the page runs: whatever a page replaces
 * afterwards, the guard does not notice. Methods and getters take their object as the first argument.
 */
(function builtins(page) {
  'use strict';

  const { apply, defineProperty, getOwnPropertyDescriptor: describe } = Reflect;
  const own = (fn) => (self, ...args) => apply(fn, self, args);
  const method = (owner, name) => own(owner.prototype[name]);
  const getter = (owner, name) => own(describe(owner.prototype, name).get);
  const { parse, stringify } = JSON;
  const { Document, Element, ElementInternals, Event, HTMLElement, HTMLFormElement, HTMLInputElement, HTMLSelectElement, MouseEvent,
    Node, RegExp, ShadowRoot, String, URL, WeakMap } = page;

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
  const targetOf = getter(Event, 'target');
  const listenerOf = getter(Event, 'currentTarget');
  // Synthetic events may be of a class that has no such property.
  const lenient = (get) => (event) => {
    try {
      return get(event);
    } catch {
      return undefined;
    }
  };
  const buttonOf = lenient(getter(MouseEvent, 'button'));
  const clientX = lenient(getter(MouseEvent, 'clientX'));
  const clientY = lenient(getter(MouseEvent, 'clientY'));
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
  const documentById = method(Document, 'getElementById');
  const innerText = getter(HTMLElement, 'innerText');
  const editable = getter(HTMLElement, 'isContentEditable');
  const listLength = getter(page.NodeList, 'length');
  const listItem = method(page.NodeList, 'item');
  const computedStyle = own(page.getComputedStyle);
  const matchMedia = own(page.matchMedia);
  const mediaMatches = getter(page.MediaQueryList, 'matches');
  const property = method(page.CSSStyleDeclaration, 'getPropertyValue');
  const inputType = getter(HTMLInputElement, 'type');
  const buttonType = getter(page.HTMLButtonElement, 'type');
  const labelControl = getter(page.HTMLLabelElement, 'control');
  const formElements = getter(HTMLFormElement, 'elements');
  const formAction = getter(HTMLFormElement, 'action');
  const formMethod = getter(HTMLFormElement, 'method');
  const collectionLength = getter(page.HTMLCollection, 'length');
  const collectionItem = method(page.HTMLCollection, 'item');
  const selectedOptions = getter(HTMLSelectElement, 'selectedOptions');
  const slotted = method(page.HTMLSlotElement, 'assignedNodes');
  // A reference by script has no attribute to read; where a browser has no such property there are only attributes.
  const activeOf = describe(Element.prototype, 'ariaActiveDescendantElement');
  const activeDescendant = activeOf ? own(activeOf.get) : () => null;
  const attachInternals = method(HTMLElement, 'attachInternals');
  const internalsRoot = getter(ElementInternals, 'shadowRoot');
  const internalsRole = getter(ElementInternals, 'role');
  const internalsLabel = getter(ElementInternals, 'ariaLabel');
  const internalsLabels = getter(ElementInternals, 'labels');
  const createElement = method(Document, 'createElement');
  const append = method(Node, 'appendChild');
  const remove = method(Element, 'remove');
  const setAttribute = method(Element, 'setAttribute');
  const viewOf = getter(Document, 'defaultView');
  const windowOf = own(describe(page, 'window').get);
  const isPrototypeOf = own(page.Object.prototype.isPrototypeOf);
  const parentWindow = own(describe(page, 'parent').get);
  const hrefOf = getter(URL, 'href');
  const forms = {
    __proto__: null,
    button: page.HTMLButtonElement,
    input: HTMLInputElement,
    select: HTMLSelectElement,
    textarea: page.HTMLTextAreaElement,
  };
  const labelsOf = { __proto__: null };
  const valueOf = { __proto__: null };
  for (const name in forms) {
    labelsOf[name] = getter(forms[name], 'labels');
    valueOf[name] = getter(forms[name], 'value');
  }
  const defaultValueOf = {
    __proto__: null,
    input: getter(HTMLInputElement, 'defaultValue'),
    textarea: getter(page.HTMLTextAreaElement, 'defaultValue'),
  };
  // A list that grows by index; a page may put a setter for one on Array.prototype.
  const list = () => ({ __proto__: null, length: 0 });

  // The window ends each path, and it is no node.
  const tagOf = (node) => (node && node !== page && nodeType(node) === 1 ? localName(node) : '');

  // Elements whose text nobody reads.
  const silent = { __proto__: null, script: 1, style: 1, template: 1, noscript: 1 };

  return {
    __proto__: null,
    matches, charCode, lowerCase, upperCase, normalize, slice, indexOf, mapGet, mapSet, listen, dispatch, pathOf,
    prevent, stop, typeOf, targetOf, listenerOf, buttonOf, clientX, clientY, keyOf, repeats, composing, submitterOf,
    nodeType, parentOf, firstChild, nextSibling, nodeText, baseOf, rootOf, localName, attribute, hasAttribute, is, find,
    findAll, slotOf, openRoot, hostOf, byId, documentById, innerText, editable, listLength, listItem, computedStyle,
    property, inputType, buttonType, labelControl, formElements, formAction, formMethod, collectionLength,
    collectionItem, selectedOptions, slotted, activeDescendant, attachInternals, internalsRoot, internalsRole,
    internalsLabel, internalsLabels, createElement, append, remove, setAttribute, viewOf, windowOf, isPrototypeOf,
    parentWindow, hrefOf, labelsOf, valueOf, defaultValueOf, tagOf, mapHas, apply, defineProperty, describe, parse,
    stringify, own, matchMedia, mediaMatches, list, silent,
  };
})
