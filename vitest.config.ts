import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['__tests__/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Two cores in CI: more workers than that only make the process-heavy e2e tests wait for each other.
    maxWorkers: 2,
  },
});
