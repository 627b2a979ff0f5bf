/** GitHub's API as a list of responses by path, for modules that only read; the loopback server is for the others. */
import { GitHubError } from '../../../../src/errors.ts';
import type { GitHub } from '../../../../src/github/api.ts';

/** Responses: JSON for objects, the body for strings, an error response for errors. Keys are paths with their query's `ref`. */
export type Answers = Readonly<Record<string, unknown>>;

/** A client that responds from the list and records its requests. */
export function answering(answers: Answers): { readonly github: GitHub; readonly asked: readonly string[] } {
  const asked: string[] = [];
  const answer = (route: string, parameters: Readonly<Record<string, unknown>> = {}): unknown => {
    const used = new Set<string>();
    const path = route.replace(/\{(\w+)\}/gu, (_, name: string) => {
      used.add(name);
      return String(parameters[name]);
    });
    const ref = used.has('ref') || parameters['ref'] === undefined ? '' : `?ref=${parameters['ref']}`;
    asked.push(path + ref);
    const found = answers[path + ref];
    if (found instanceof Error) throw found;
    if (found === undefined)
      throw new GitHubError('not_found', 'GitHub knows no such thing.', { status: 404 });
    return found;
  };
  const bytes: GitHub['bytes'] = async (route, parameters) =>
    Buffer.from(String(answer(route, parameters)), 'latin1');
  const github: GitHub = {
    request: async (_, route, parameters) => ({ status: 200, data: answer(route, parameters), headers: {} }),
    bytes,
    async paginate(route, parameters) {
      const items = answer(route, parameters);
      return { items: Array.isArray(items) ? items : [], complete: true };
    },
    graphql: () => Promise.reject(new Error('no query is sent here')),
  };
  return { github, asked };
}
