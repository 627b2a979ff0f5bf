/** What macOS makes of a profile, as far as these tests need it: its forms, and which rule decides. */

/** A form of a profile: a word, a string, or a list of forms. */
export type Form = { readonly word: string } | { readonly text: string } | readonly Form[];

/** Reads a profile as Scheme does. @throws Error where it is not balanced, or a string does not end. */
export function readForms(profile: string): readonly Form[] {
  const token = /\s+|;[^\n]*|([()])|#"([^"]*)"|"((?:[^"\\]|\\[\s\S])*)"|([^\s()";]+)/uy;
  const stack: Form[][] = [[]];
  while (token.lastIndex < profile.length) {
    const at = token.lastIndex;
    const match = token.exec(profile);
    if (match === null) throw new Error(`no form at ${at}: ${profile.slice(at, at + 40)}`);
    const [, bracket, raw, quoted, word] = match;
    if (bracket === '(') stack.push([]);
    else if (bracket === ')') {
      const done = stack.pop() ?? [];
      const outer = stack.at(-1);
      if (outer === undefined) throw new Error(`a bracket too many at ${at}`);
      outer.push(done);
    } else if (raw !== undefined) stack.at(-1)?.push({ text: raw });
    else if (quoted !== undefined) stack.at(-1)?.push({ text: quoted.replace(/\\([\s\S])/gu, '$1') });
    else if (word !== undefined) stack.at(-1)?.push({ word });
  }
  const [forms = []] = stack;
  if (stack.length !== 1) throw new Error('a bracket is not closed');
  return forms;
}

/** A rule over paths. */
export interface PathRule {
  readonly verdict: string;
  readonly operations: readonly string[];
  readonly filter: string;
  readonly text: string;
}

/** The rules of a profile whose filters are paths; those with other filters are left out. */
export function pathRules(profile: string): readonly PathRule[] {
  return readForms(profile).flatMap((form) => {
    if (!isList(form)) return [];
    const [verdict = '', ...operations] = form.flatMap((part) => ('word' in part ? [part.word] : []));
    const filters = form.filter(isList).flatMap(([kind, text]) => {
      const isPath = kind !== undefined && 'word' in kind && /^(?:subpath|literal|regex)$/u.test(kind.word);
      return isPath && text !== undefined && 'text' in text ? [{ filter: kind.word, text: text.text }] : [];
    });
    const bare = form.some(isList) ? [] : [{ filter: 'subpath', text: '/' }];
    return [...bare, ...filters].map((filter) => ({ verdict, operations, ...filter }));
  });
}

function isList(form: Form): form is readonly Form[] {
  return Array.isArray(form);
}

/** What the profile says to an operation (`file-read-data`) on a real path: of the rules for it by name the last, else of its family's. */
export function decide(profile: string, operation: string, path: string): string {
  const fits = pathRules(profile).filter(({ filter, text }) => {
    if (filter === 'regex') return new RegExp(text, 'u').test(path);
    return path === text || (filter === 'subpath' && (text === '/' || path.startsWith(`${text}/`)));
  });
  const family = operation.replace(/-[^-]+$/u, '*');
  const named = fits.filter(({ operations }) => operations.includes(operation));
  const wide = fits.filter(({ operations }) => operations.includes(family));
  return (named.at(-1) ?? wide.at(-1))?.verdict ?? 'deny';
}
