/** The names of tools in `tools` and `exclude-tools`, the same for the action, the command line and the library. */
import { quote } from '../text/messages.ts';
import type { RawInputs } from './inputs.ts';
import { createInputError, readList } from './values.ts';

const ALLOWED = ['read_file', 'edit', 'shell'] as const;

/** The tools that can be allowed. */
export type ToolName = (typeof ALLOWED)[number];

/** The tools of a run. */
export interface ToolLists {
  /** In the order of the documentation. */
  readonly tools: readonly ToolName[];
  /** May name `structured_output` too. */
  readonly excludeTools: readonly string[];
}

/** Each name that is accepted, in lower case: our own, and those that other agents give to the same tools. */
const NAMES: ReadonlyMap<string, ToolName | 'structured_output'> = new Map([
  ['read_file', 'read_file'],
  ['read', 'read_file'],
  ['readfile', 'read_file'],
  ['readfiletool', 'read_file'],
  ['edit', 'edit'],
  ['replace', 'edit'],
  ['edittool', 'edit'],
  ['shell', 'shell'],
  ['bash', 'shell'],
  ['run_shell_command', 'shell'],
  ['shelltool', 'shell'],
  ['structured_output', 'structured_output'],
  ['struct_output', 'structured_output'],
  ['structuredoutput', 'structured_output'],
]);

/** Reads both lists. @throws InputError for a name that is not in the table. */
export function readTools(raw: RawInputs): ToolLists {
  const allowed = raw.has('tools') ? readToolNames(raw, 'tools') : ALLOWED;
  return {
    tools: ALLOWED.filter((tool) => allowed.includes(tool)),
    excludeTools: readToolNames(raw, 'exclude-tools'),
  };
}

function readToolNames(raw: RawInputs, input: 'tools' | 'exclude-tools') {
  return readList(raw, input, /[\s,]+/u).map((entry) => {
    const name = NAMES.get(entry.toLowerCase());
    if (name !== undefined) return name;
    throw createInputError(
      input,
      `names ${quote(entry, 80)}, which is no tool. Use read_file, edit, shell or structured_output.`,
    );
  });
}
