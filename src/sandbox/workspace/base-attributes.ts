/**
 * Which files the `.gitattributes` of a base commit mark as generated or vendored. Neither the attributes of the change
 * nor those of the repository's info folder or of the user count: a change must not take its own files out of a review.
 */
import { randomBytes } from 'node:crypto';
import { READ, WAIT } from '../../text/limits.ts';
import { quote } from '../exec/shell-line.ts';
import type { OpenedSandbox } from '../sandbox.ts';
import { GIT, PLAIN_GIT, SETTINGS } from './git-diff.ts';

export type Mark = 'generated' | 'vendored';

/** The source of the attributes: a commit or ref of the checkout, or the text of the root's `.gitattributes`. */
export type BaseAttributes = { readonly commit: string } | { readonly text: string };

/** The exit code of the script if the commit is not in the checkout. */
const NO_COMMIT = 10;

/**
 * Returns the marked files among the paths, which are relative to the repository root. Nested `.gitattributes` of a
 * commit count as well. Returns `missing` if the commit is not in the checkout, and null if git failed.
 */
export async function findMarkedFiles(
  sandbox: Pick<OpenedSandbox, 'exec' | 'write'>,
  base: BaseAttributes,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Mark> | 'missing' | null> {
  if (paths.length === 0) return new Map();
  // An unpredictable name, so that no program that git started can have created it.
  const folder = `.attributes-${randomBytes(8).toString('hex')}`;
  const given = (name: string, text: string) => sandbox.write(`/tmp/${folder}/${name}`, Buffer.from(text));
  await given('paths', paths.map((path) => `${path}\0`).join(''));
  if ('text' in base) await given('attributes', base.text);
  const script = `set -e
exec 2> /dev/null
${SETTINGS}given="$TMPDIR/${folder}"
work="$(mktemp -d)"
trap 'rm -rf "$work" "$given"' EXIT
${PLAIN_GIT}
init_plain "$work/git"
${'commit' in base ? readCommit(base.commit) : READ_TEXT}
cd "$work/git"
plain check-attr --cached -z --stdin linguist-generated linguist-vendored < "$given/paths"`;
  const limits = { timeoutMs: WAIT.git, maxOutputBytes: READ.fileList, signal };
  const { exitCode, output, totalBytes } = await sandbox.exec(script, limits);
  if (exitCode === NO_COMMIT) return 'missing';
  return exitCode === 0 && totalBytes <= READ.fileList ? readMarks(output) : null;
}

const readCommit = (commit: string) => `
tree="$(${GIT} rev-parse --verify --quiet --end-of-options ${quote(`${commit}^{tree}`)})" || exit ${NO_COMMIT}
objects="$(${GIT} rev-parse --path-format=absolute --git-path objects)"
export GIT_OBJECT_DIRECTORY="$objects"
plain read-tree "$tree"`;

const READ_TEXT = `
blob="$(plain hash-object -w --no-filters "$given/attributes")"
plain update-index --add --cacheinfo "100644,$blob,.gitattributes"`;

/** Reads path, attribute and value, each followed by a NUL. */
function readMarks(output: string): ReadonlyMap<string, Mark> {
  const marks = new Map<string, Mark>();
  const fields = output.split('\0');
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', attribute, value = ''] = fields.slice(at, at + 3);
    if (value !== 'set' && value !== 'true') continue;
    if (attribute === 'linguist-generated') marks.set(path, 'generated');
    else if (!marks.has(path)) marks.set(path, 'vendored');
  }
  return marks;
}
