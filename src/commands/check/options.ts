/** What `structured-agent check` is asked for. */

import { parseChoice } from '../../config/values.ts';
import { InputError } from '../../errors.ts';
import { PROVIDERS, type ProviderName } from '../../providers/registry.ts';
import { readFlags } from '../flags.ts';

/** The arguments of a check. */
export interface CheckOptions {
  readonly help: boolean;
  /** As typed; null where none is given. */
  readonly schema: string | null;
  readonly gate: string | null;
  readonly provider: ProviderName | null;
  readonly actions: readonly string[];
  /** The folder that stands for the checkout; null for the repository around each workflow. */
  readonly root: string | null;
  readonly format: 'text' | 'json';
  /** As typed; empty for every workflow of the repository. */
  readonly files: readonly string[];
}

/** @throws InputError that names the flag and the fix. */
export function readOptions(argv: readonly string[]): CheckOptions {
  const flags = readFlags('check', argv, {
    schema: 'text',
    gate: 'text',
    provider: 'text',
    action: 'list',
    root: 'text',
    'output-format': 'text',
    help: 'switch',
  });
  const gate = flags.value('gate');
  const provider = flags.value('provider');
  if (gate !== null && flags.value('schema') === null) {
    throw new InputError(
      'gate',
      '--gate is checked against a schema. Give --schema as well, such as --schema verdict.',
    );
  }
  return {
    help: flags.has('help'),
    schema: flags.value('schema'),
    gate,
    provider: provider === null ? null : parseChoice('provider', provider, PROVIDERS),
    actions: flags.list('action'),
    root: flags.value('root'),
    format: readFormat(flags.value('output-format') ?? 'text'),
    files: flags.positionals,
  };
}

function readFormat(format: string): 'text' | 'json' {
  if (format === 'text' || format === 'json') return format;
  throw new InputError('output-format', `--output-format is ${JSON.stringify(format)}. Use text or json.`);
}

/** The text of `structured-agent check --help`. */
export const CHECK_HELP = `Usage: structured-agent check [flags] [WORKFLOW.yml ...]

Checks a schema, a gate, and the workflows that use the action. Nothing is sent anywhere, no model
is asked. Without a file: every workflow in .github/workflows that uses the action.

  --schema SCHEMA         Inline JSON, a path or a preset. Beside workflows it also stands for schemas
                          that cannot be read here (expressions, other repositories).
  --gate GATE             What must hold: inline JSON, a path, a boolean property, auto or none.
  --provider PROVIDER     How this provider alone will see the schema. Default: each of them.
  --action NAME           What else uses: may say for this action, for example my-org/verdict.
                          Everything that ends in /structured-agent counts anyway. Repeatable.
  --root FOLDER           The folder that stands for the checkout, for the paths in it.
                          Default: the repository that the workflow lies in.
  --output-format FORMAT  text (default) or json.
  -h, --help              This text.

Exit code: 0 where no error was found, warnings or not; 52 where one was, or where nothing could be
checked: the code of a run that is refused for what was typed.
`;
