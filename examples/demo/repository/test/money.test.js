import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, toCents } from '../src/money.js';

test('a price becomes whole cents', () => {
  assert.equal(toCents('12.50'), 1250);
});

test('a price may have one decimal place or none', () => {
  assert.deepEqual([toCents('3'), toCents('3.5')], [300, 350]);
});

test('a text that is no price is refused', () => {
  assert.throws(() => toCents('-1'), RangeError);
});

test('cents are shown with two places', () => {
  assert.equal(format(1205), '12.05');
});
