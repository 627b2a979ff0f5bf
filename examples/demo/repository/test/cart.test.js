import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCart } from '../src/cart.js';

test('the same article twice is one line', () => {
  const cart = createCart();
  cart.add('pen', '1.20');
  cart.add('pen', '1.20', 2);
  assert.equal(cart.count(), 3);
});

test('a removed article costs nothing', () => {
  const cart = createCart();
  cart.add('pen', '1.20');
  cart.remove('pen');
  assert.equal(cart.total(), 0);
});

test('a large order is reduced', () => {
  const cart = createCart();
  cart.add('chair', '60.00', 2);
  assert.equal(cart.total(), 10_800);
});
