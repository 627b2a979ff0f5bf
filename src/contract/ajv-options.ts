/** How every schema is compiled. */
import type { Options } from 'ajv';

/** Strict, whole and silent: every keyword is known, every issue is told, nothing is changed or printed. */
export const options: Options = {
  strictSchema: true,
  strictRequired: false,
  strictTypes: false,
  strictTuples: false,
  allowUnionTypes: true,
  ownProperties: true,
  allErrors: true,
  verbose: true,
  logger: false,
  // A validator that judges a handful of payloads is not worth polishing: a few milliseconds of the start.
  code: { optimize: false },
};
