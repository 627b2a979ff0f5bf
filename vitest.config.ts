import { defineConfig, type Plugin } from 'vitest/config';

export default defineConfig({
  plugins: [tellEnvelopes()],
  test: {
    include: ['__tests__/**/*.test.ts'],
    setupFiles: ['__tests__/support/schemas/seen-envelopes.ts'],
    // For what hangs alone: the slowest test takes 5 s, on a machine with a load of ten times its cores two minutes.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Two cores in CI: more workers than that only make the process-heavy e2e tests wait for each other.
    maxWorkers: 2,
  },
});

/** Has each envelope that is made in a test's process told to `seen-envelopes.ts`; nothing else about it changes. */
function tellEnvelopes(): Plugin {
  const head = 'export function envelope(';
  return {
    name: 'tell-envelopes',
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith('/src/reporters/envelope.ts')) return null;
      if (!code.includes(head)) throw new Error(`${id} has no "${head}": tell tellEnvelopes its new name.`);
      const made = code.replace(head, 'function madeEnvelope(');
      return `${made}
export function envelope(report: Report, mask: (text: string) => string): JsonObject {
  const made = madeEnvelope(report, mask);
  globalThis.seeEnvelope?.(made);
  return made;
}
`;
    },
  };
}
