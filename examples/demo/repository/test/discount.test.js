import assert from 'node:assert/strict';
import { test } from 'node:test';
import { discount } from '../src/discount.js';

test('a small order gets no discount', () => {
  assert.equal(discount(9_999), 0);
});

test('an order of exactly 100.00 gets the discount', () => {
  assert.equal(discount(10_000), 1_000);
});
