/** Secrets of the command line: from variables of the environment, never from arguments. */

import type { InputName } from '../config/inputs.ts';
import { InputError } from '../errors.ts';
import { KEY_VARIABLE } from '../text/naming.ts';
import type { TypedFlag } from './scan.ts';

/** The variable of headers, one `Name: value` a line. */
export const HEADERS_VARIABLE = 'STRUCTURED_AGENT_HEADERS';

/** Names of headers whose value is most likely a secret. */
const SECRET_NAME = /auth|cookie|credential|key|passw|pwd|secret|session|token/iu;

/**
 * Refuses a header that looks like a secret; the flag for a key does not even exist.
 * @throws InputError: other users can read a command line, and shells and logs keep it.
 */
export function refuseSecrets(flags: readonly TypedFlag[]): void {
  for (const { flag, as, value } of flags) {
    if (flag.name !== 'headers') continue;
    for (const line of value.split(/\r?\n/u)) {
      const name = line.includes(':') ? (line.split(':')[0] ?? '').trim().toLowerCase() : '';
      if (!SECRET_NAME.test(name)) continue;
      const shown = /^[a-z0-9-]{1,60}$/u.test(name) ? ` ${name}` : '';
      throw new InputError(
        'headers',
        `${as} gives the header${shown}, which looks like a secret: every user of this machine can read a command line, and shells remember it. Put the line into the variable ${HEADERS_VARIABLE}.`,
      );
    }
  }
}

/** Adds what the two variables hold; headers of both places count. */
export function secretsFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  inputs: Map<InputName, string>,
): void {
  const key = environment[KEY_VARIABLE]?.trim() ?? '';
  if (key !== '') inputs.set('api-key', key);
  const headers = environment[HEADERS_VARIABLE]?.trim() ?? '';
  if (headers !== '')
    inputs.set('headers', [inputs.get('headers') ?? '', headers].filter((lines) => lines !== '').join('\n'));
}
