const FROM_CENTS = 10_000;
const PERCENT = 10;

/** The cents taken off a total: orders of 100.00 or more get 10 percent. */
export function discount(totalCents) {
  return totalCents > FROM_CENTS ? Math.floor((totalCents * PERCENT) / 100) : 0;
}
