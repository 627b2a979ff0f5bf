/** Numbers for pairs of ids, in a fraction of the time and memory of a map with joined keys. */

/** Different in each process, so that nobody can choose ids that collide. */
const SEED = Math.floor(Math.random() * 2 ** 32);

/** Pairs of ids, numbered from 0 in the order in which they were added. */
export interface IdPairs {
  /** Returns the number of a pair; -1 if it was not added. */
  find(one: number, other: number): number;
  /** Returns the number of a pair, which is added if it is new. */
  add(one: number, other: number): number;
}

/** @param most how many pairs are added at most. Memory is used for those that are. */
export function createIdPairs(most: number): IdPairs {
  // By number. Pages of an array that are never written take no memory.
  const ones = new Int32Array(most);
  const others = new Int32Array(most);
  let size = 0;
  /** The number of the pair in each slot, plus 1; 0 if it is free. */
  let slots = new Int32Array(1_024);

  /** Returns the slot of a pair, or the free one where it belongs. */
  function slotOf(one: number, other: number): number {
    let hash = Math.imul(one ^ SEED, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 15) ^ other, 0xc2b2ae35);
    const last = slots.length - 1;
    let slot = (hash ^ (hash >>> 15)) & last;
    for (;;) {
      const number = (slots[slot] ?? 0) - 1;
      if (number === -1 || (ones[number] === one && others[number] === other)) return slot;
      slot = (slot + 1) & last;
    }
  }

  function grow(): void {
    slots = new Int32Array(slots.length * 2);
    for (let number = 0; number < size; number++)
      slots[slotOf(ones[number] ?? 0, others[number] ?? 0)] = number + 1;
  }

  return {
    find: (one, other) => (slots[slotOf(one, other)] ?? 0) - 1,
    add(one, other) {
      const found = (slots[slotOf(one, other)] ?? 0) - 1;
      if (found !== -1) return found;
      // Three quarters full.
      if ((size + 1) * 4 > slots.length * 3) grow();
      ones[size] = one;
      others[size] = other;
      size += 1;
      slots[slotOf(one, other)] = size;
      return size - 1;
    },
  };
}
