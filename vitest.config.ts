import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['__tests__/**/*.test.ts'],
    // For what hangs alone: the slowest test takes 5 s, on a machine with a load of ten times its cores two minutes.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Two cores in CI: more workers than that only make the process-heavy e2e tests wait for each other.
    maxWorkers: 2,
  },
});
