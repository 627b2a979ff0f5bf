/** The build puts Ajv's check of a draft-07 schema here as code; from the sources Ajv makes that code at each start. */
import type { ValidateFunction } from 'ajv';

export const validateSchema: ValidateFunction | null = null;
