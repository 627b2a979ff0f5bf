/** GitHub's API as a list of answers by path, for modules that only read; the loopback server is for the others. */
import { createGitHub, type GitHub } from '../../../../src/github/client.ts';

/** JSON for objects, the body for strings, a status for numbers. Keys are paths with the `ref` of their query. */
export type Answers = Readonly<Record<string, unknown>>;

/** A client that gets these answers, or else status 404, and the requests that it makes. */
export function answering(answers: Answers): { readonly github: GitHub; readonly asked: readonly string[] } {
  const asked: string[] = [];
  const send: typeof fetch = async (input) => {
    const { pathname, searchParams } = new URL(String(input));
    const ref = searchParams.get('ref');
    const path = decodeURIComponent(pathname) + (ref === null ? '' : `?ref=${ref}`);
    asked.push(path);
    const answer = answers[path] ?? 404;
    if (typeof answer === 'string') return new Response(Buffer.from(answer, 'latin1'));
    if (typeof answer !== 'number') return Response.json(answer);
    return Response.json({ message: 'No.' }, { status: answer });
  };
  const options = { apiUrl: 'https://api.github.com', userAgent: 'structured-agent/0.1.0' };
  return { github: createGitHub({ ...options, token: 'test-token', fetch: send }), asked };
}
