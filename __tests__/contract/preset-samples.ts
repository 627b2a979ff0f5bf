import type { JsonObject } from '../../src/types.ts';
import json from '../fixtures/preset-samples.json' with { type: 'json' };

/** Payloads that a preset must accept or reject. */
interface Samples {
  readonly outputs: readonly string[];
  /** Accepted, and the gate is met. */
  readonly met: readonly JsonObject[];
  /** Accepted, and the gate is not met. */
  readonly unmet: readonly JsonObject[];
  /** They claim to pass despite findings; the model is asked to set `passed` to false. */
  readonly contradictions: readonly JsonObject[];
  readonly refused: readonly JsonObject[];
}

export const samples: Readonly<Record<string, Samples>> = json;
