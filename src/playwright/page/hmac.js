/*
 * Authentication codes for what the page guard reports and hears: HMAC-SHA-256 (RFC 2104, FIPS 180-4) in plain script,
 * because crypto.subtle is asynchronous, and absent on http. Everything it uses is copied when it is made.
 */
(function hmac(page, key) {
  'use strict';

  const { Math, TextEncoder, Uint32Array, Uint8Array } = page;
  const { apply, getOwnPropertyDescriptor: describe, getPrototypeOf } = Reflect;

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
  const { encode: encodeText } = TextEncoder.prototype;
  const encode = (text) => apply(encodeText, encoder, [text]);
  const { get: lengthOf } = describe(getPrototypeOf(Uint8Array.prototype), 'length');
  const byteLength = (bytes) => apply(lengthOf, bytes, []);
  const keyBytes = encode(key); // 64 hexadecimal digits: exactly one block

  function authenticate(text) {
    const message = encode(text);
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

  return { __proto__: null, authenticate, hex };
})
