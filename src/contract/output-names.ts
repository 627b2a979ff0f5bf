/** Which declared properties get a step output of their own. */
import { quote } from '../text/messages.ts';

/** The names that get their own output, in order, and a sentence for each declared name that does not. */
export interface OutputNames {
  readonly names: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Applies the rules of outputs: a mappable name, no two that differ by case only (the runner's names are
 * case-insensitive), and none that a run's own outputs use.
 */
export function outputNames(declared: readonly string[]): OutputNames {
  const spellings = new Map<string, readonly string[]>();
  for (const name of declared) {
    const folded = name.toLowerCase();
    spellings.set(folded, [...(spellings.get(folded) ?? []), name]);
  }
  const names: string[] = [];
  const warnings: string[] = [];
  for (const name of declared) {
    const objection = objectionTo(name, spellings.get(name.toLowerCase()) ?? []);
    if (objection === null) names.push(name);
    else
      warnings.push(
        `The property ${quote(name)} gets no step output of its own: ${objection}. Read it from structured_output.`,
      );
  }
  return { names, warnings };
}

function objectionTo(name: string, spellings: readonly string[]): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)) {
    return 'the name of an output is a letter or underscore, then letters, digits, underscores and hyphens';
  }
  if (name.toLowerCase() === 'structured_output') return 'structured_output holds the whole payload';
  if (name.toLowerCase().startsWith('run-')) return 'names that begin with run- tell about the run';
  const others = spellings.filter((each) => each !== name);
  const [first, ...more] = others;
  if (first === undefined) return null;
  const rest = more.length === 0 ? 'is' : `and ${more.length} more are`;
  return `outputs ignore case, and ${quote(first)} ${rest} declared too`;
}
