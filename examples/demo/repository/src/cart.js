import { discount } from './discount.js';
import { toCents } from './money.js';

/** An empty cart. */
export function createCart() {
  const lines = new Map();
  const subtotal = () => [...lines.values()].reduce((sum, line) => sum + line.cents * line.quantity, 0);
  return {
    add(name, price, quantity = 1) {
      const line = lines.get(name);
      lines.set(name, { cents: toCents(price), quantity: (line?.quantity ?? 0) + quantity });
    },
    remove(name) {
      lines.delete(name);
    },
    count: () => [...lines.values()].reduce((sum, line) => sum + line.quantity, 0),
    subtotal,
    total: () => subtotal() - discount(subtotal()),
  };
}
