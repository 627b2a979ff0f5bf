/** The schemas that are shipped, each with its gate. */
import verdict from '../../schemas/verdict.schema.json' with { type: 'json' };
import type { JsonObject } from '../types.ts';
import type { GateRequest } from './gate.ts';

/** A shipped schema. */
export interface Preset {
  readonly schema: JsonObject;
  /** What `gate: auto` stands for. */
  readonly gate: GateRequest;
}

/** The preset that is used where no schema is given. */
export const defaultPreset = 'verdict';

/** The presets by name. */
export const presets: ReadonlyMap<string, Preset> = new Map([
  [defaultPreset, { schema: verdict, gate: { kind: 'property', name: 'passed' } }],
]);
