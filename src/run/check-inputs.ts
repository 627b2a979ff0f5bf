/** Checks what depends on this machine and on the trigger. */
import type { Config } from '../config/parse-config.ts';
import { requireReadableFolders, resolveWorkingDirectory } from '../config/paths.ts';
import type { Parsed } from '../config/values.ts';
import { InputError, throwProblems } from '../errors.ts';
import { isBelow } from '../reporters/places.ts';
import type { World } from './world.ts';

/**
 * Returns the absolute path of the agent's working directory.
 * @throws InputError that lists all problems with the inputs
 */
export async function checkInputs({ config, problems }: Parsed<Config>, world: World): Promise<string> {
  const all = [...problems, ...refusals(config, world)];
  const note = (error: unknown) => {
    if (!(error instanceof InputError)) throw error;
    all.push(error);
    return '';
  };
  await requireReadableFolders(config.sandboxRead).catch(note);
  const folder = await resolveWorkingDirectory(config.workingDirectory, world.workspace).catch(note);
  throwProblems(all);
  return folder;
}

/** Returns an error for each value that is refused here. */
function refusals({ sandbox, replay }: Config, world: World): readonly InputError[] {
  const { privileged, subject, entry, guarded, workspace, recording } = world;
  const isOff = sandbox === 'off';
  const trigger = subject?.event ?? 'this trigger';
  // The agent could change the action, parts of which are loaded after it ran.
  const inside = entry === 'action' ? guarded.find((place) => isBelow(place, workspace)) : undefined;
  const rows: readonly (readonly [applies: boolean, input: string, why: string])[] = [
    [
      replay !== null && privileged,
      'replay',
      `It is refused on ${trigger}: it runs with the repository's rights, and the author of the recording would decide the verdict. Use it on push or pull_request.`,
    ],
    [
      replay !== null && Boolean(recording),
      'replay',
      'A replay cannot be recorded. Leave out record or replay.',
    ],
    [
      isOff && privileged,
      'sandbox',
      `The value off is refused on ${trigger}, which runs with the repository's rights on what a stranger wrote. Use required.`,
    ],
    [
      isOff && inside !== undefined,
      'sandbox',
      `The value off is refused, because ${inside} is in the workspace, where the agent could change it. Use required, or an action that is not checked out (uses: org/structured-agent@v1).`,
    ],
  ];
  return rows.filter(([applies]) => applies).map(([, input, why]) => new InputError(input, why));
}
