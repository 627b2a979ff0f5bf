/** The parts of a world in which nobody asks GitHub anything. */
import type { Files } from '../../../../src/contract/source.ts';
import type { World } from '../../../../src/run/world.ts';

/** Files of this machine only. */
export function localFiles(readFile: Files['readFile']): Files {
  return { readFile, readElsewhere: async () => ({ ok: false, problem: 'there is no other repository' }) };
}

/** No pull request. */
export const noPullRequest: Pick<World, 'findContext' | 'findPolicyChanges'> = {
  findContext: async () => null,
  findPolicyChanges: async () => [],
};
