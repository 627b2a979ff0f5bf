/**
 * Which files the `.gitattributes` of a base commit mark as generated or vendored. Neither the attributes of the change
 * nor those of the repository's info folder or of the user count: a change must not take its own files out of a review.
 */
import { type RunScript, shellWord } from '../sandbox/sandbox.ts';
import { MAX_FILE_LIST, PRELUDE } from './script.ts';

export type FileMark = 'generated' | 'vendored';

/** The source of the attributes: a commit or ref of the checkout, or the text of the root's `.gitattributes`. */
export type BaseAttributes = { readonly commit: string } | { readonly text: string };

/** The exit code of the script if the commit is not in the checkout. */
const NO_COMMIT = 10;

/**
 * Returns the marked files among the paths, which are relative to the repository root. Nested `.gitattributes` of a
 * commit count as well. Returns `missing` if the commit is not in the checkout, and null if git failed.
 */
export async function findMarkedFiles(
  runScript: RunScript,
  base: BaseAttributes,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, FileMark> | 'missing' | null> {
  if (paths.length === 0) return new Map();
  const text = Buffer.from('text' in base ? base.text : '');
  const input = Buffer.concat([text, ...paths.map((path) => Buffer.from(`${path}\0`))]);
  // git reads them from an index of its own: `check-attr --source` needs git 2.40.
  const script = `${PRELUDE}
prepare
${'commit' in base ? readCommit(base.commit) : readText(text.length)}
tail -c +${text.length + 1} "$INPUT" |
  plain check-attr --cached -z --stdin linguist-generated linguist-vendored`;
  const limits = { input, maxBytes: MAX_FILE_LIST, timeoutMs: 60_000, signal };
  const { exitCode, stdout, isCut } = await runScript(script, limits);
  if (exitCode === NO_COMMIT) return 'missing';
  return exitCode === 0 && !isCut ? readMarks(stdout.toString('utf8')) : null;
}

const readCommit = (commit: string) => `
tree="$(git rev-parse --verify --quiet --end-of-options ${shellWord(`${commit}^{tree}`)})" || exit ${NO_COMMIT}
plain read-tree "$tree"`;

const readText = (length: number) => `
blob="$(head -c ${length} "$INPUT" | plain hash-object -w --stdin)"
plain update-index --add --cacheinfo "100644,$blob,.gitattributes"`;

/** Reads path, attribute and value, each followed by a NUL. */
function readMarks(output: string): ReadonlyMap<string, FileMark> {
  const marks = new Map<string, FileMark>();
  const fields = output.split('\0');
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', attribute, value = ''] = fields.slice(at, at + 3);
    if (value !== 'set' && value !== 'true') continue;
    if (attribute === 'linguist-generated') marks.set(path, 'generated');
    else if (!marks.has(path)) marks.set(path, 'vendored');
  }
  return marks;
}
