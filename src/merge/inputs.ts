/** The input table of the merge action: merge/action.yml and its part of the documents are made from it. */
import { INPUTS, type Input, type InputName } from '../config/inputs.ts';

/** Inputs that mean here what they mean for a run. */
const SHARED = [
  'signing-key',
  'summary',
  'comment',
  'comment-key',
  'annotations',
  'sarif-file',
  'commit-status',
  'github-token',
  'result-file',
  'log-level',
] as const satisfies readonly InputName[];

/** What only a merge is told, in the order of the documentation. */
const OWN = [
  input(
    'verdicts',
    'The folder of the envelopes that the legs uploaded, as actions/download-artifact lays them out: every .json file in it and below. Required.',
  ),
  input(
    'expect',
    'Which legs there must be: their names, separated by commas or lines. Or how many envelopes there must be in all, as a number. What is missing abstains. Required.',
  ),
  input(
    'votes',
    'How the votes of one leg make its verdict, and how many it has: all of N, any of N, majority of N or weighted:T of N. Without it: one vote a leg.',
  ),
  input(
    'rule',
    'How the legs make the verdict: all, any, majority (more than half of those expected) or weighted:T (the weights of those that pass add up to more than T).',
    'all',
  ),
  input(
    'weights',
    'For weighted rules, one NAME: NUMBER a line: what the legs weigh under rule, and the votes under votes. Without it, and for names not in it: 1.',
  ),
  input(
    'gate',
    "What must hold in a run's payload for the run to pass: auto (the run's own gate or, where it had none, passed is true), none (every accepted payload passes), the name of a boolean property, or a JSON Schema (inline, ./path, @path or @owner/repo/path@ref). A run whose own gate was not met never passes.",
    'auto',
  ),
] as const satisfies readonly Input[];

/** A few of them say it in other words here. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  'signing-key':
    'The secret that the legs signed their envelopes with. Given, an envelope that is not signed with it counts as missing.',
  annotations:
    'Whether findings become annotations on the files: findings or none. Needs the checkout, as sarif-file does.',
  'github-token': 'For the comment and the status, and a gate in another repository; nothing else.',
  'log-level': 'summary, or full to see every vote. Without it: summary, full when the runner debugs.',
};

/** The name of an input of the merge action. */
export type MergeInputName = (typeof OWN)[number]['name'] | (typeof SHARED)[number];

const shared: readonly Input[] = INPUTS.filter(({ name }) => SHARED.some((each) => each === name));

/** Every input of the merge action. */
export const MERGE_INPUTS: readonly Input[] = [...OWN, ...shared.map(forMerge)];

/** Every name, for a reader of inputs. */
export const MERGE_NAMES: readonly MergeInputName[] = [...OWN.map(({ name }) => name), ...SHARED];

function forMerge(given: Input): Input {
  const description = DESCRIPTIONS[given.name];
  return description === undefined ? given : { ...given, description };
}

function input<const N extends string>(name: N, description: string, defaultValue = '') {
  return { name, description, default: defaultValue, where: 'github' } as const;
}
