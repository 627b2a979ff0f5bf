import { defineConfig } from 'vitest/config';

/** Whole runs of the committed bundle. */
const E2E = ['__tests__/e2e/**/*.test.ts', '__tests__/examples/**/*.test.ts'];

/** What starts programs of the machine: shells in their sandbox, git, mounts. */
const SANDBOX = [
  ...['sandbox', 'git', 'tools', 'run', 'evidence'].map((folder) => `__tests__/${folder}/**/*.test.ts`),
  ...['fuzz', 'library'].map((name) => `__tests__/${name}.test.ts`),
];

// The build of micromark for development checks itself, and takes twice as long.
process.env['NODE_ENV'] = 'production';

/** `npm run test:all` makes ten times as many random inputs. */
const TIMES = process.env['TEST_ALL'] === '1' ? 10 : 1;

/** Such files share no state, and much of their time would go into loading the same modules again. */
const TOGETHER = { isolate: false };

export default defineConfig({
  test: {
    // For two cores: some tests wait for time to pass.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          ...TOGETHER,
          name: 'unit',
          include: ['__tests__/**/*.test.ts'],
          exclude: [...E2E, ...SANDBOX],
          testTimeout: 30_000 * TIMES,
        },
      },
      {
        extends: true,
        test: { name: 'sandbox', include: SANDBOX, testTimeout: 60_000 * TIMES, hookTimeout: 60_000 },
      },
      {
        extends: true,
        test: {
          ...TOGETHER,
          name: 'e2e',
          include: E2E,
          globalSetup: '__tests__/support/current-dist.ts',
          testTimeout: 90_000 * TIMES,
          hookTimeout: 90_000,
        },
      },
    ],
  },
});
