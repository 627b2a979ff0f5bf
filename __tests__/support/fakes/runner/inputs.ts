/** The configuration of inputs as the runner passes them. */
import { readInputs } from '../../../../src/action/start.ts';
import { INPUTS } from '../../../../src/config/inputs.ts';
import { type Config, parseConfig } from '../../../../src/config/parse-config.ts';
import type { Parsed } from '../../../../src/config/values.ts';
import { type InputError, throwProblems } from '../../../../src/errors.ts';
import { MERGE_NAMES, type MergeConfig, parseMergeConfig } from '../../../../src/merge/config.ts';

type Texts = Readonly<Record<string, string>>;

/** Reads the inputs of the main action in a process with these variables. */
export function readActionInputs(variables: Texts) {
  const names = INPUTS.map(({ name }) => name);
  return readInputs(names, variables);
}

/** The variables that the runner sets for the inputs of a step. */
export function inputVariables(inputs: Texts): Texts {
  const variables = Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
  return Object.fromEntries(variables);
}

/** The configuration of a run and its problems. */
export function parseInputs(inputs: Texts, environment: Texts = {}): Parsed<Config> {
  const { raw, problems } = readActionInputs(inputVariables(inputs));
  return parseConfig(raw, { environment, problems });
}

/** The configuration of a run. @throws InputError that lists all problems. */
export function configFrom(inputs: Texts, environment: Texts = {}): Config {
  const { config, problems } = parseInputs(inputs, environment);
  throwProblems(problems);
  return config;
}

/** The same for a merge. */
export function mergeConfigFrom(inputs: Texts): MergeConfig {
  const { raw, problems: earlier } = readInputs(MERGE_NAMES, inputVariables(inputs));
  const { config, problems } = parseMergeConfig(raw, { problems: earlier });
  throwProblems(problems);
  return config;
}

/** The only problem. */
export function onlyProblem(problems: readonly InputError[]): InputError {
  const [problem] = problems;
  if (problem !== undefined && problems.length === 1) return problem;
  throw new Error(`${problems.length} problems: ${problems.map(({ message }) => message).join(' ')}`);
}
