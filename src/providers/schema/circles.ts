/** References that lead through nothing but references. */

/** Those from which each step leads to another and none ever ends. `next` says where a step leads. */
export function endless<T>(next: ReadonlyMap<T, T>): ReadonlySet<T> {
  const ends = new Map<T, boolean>();
  for (const start of next.keys()) {
    const path: T[] = [];
    let at: T | undefined = start;
    for (; at !== undefined && next.has(at) && !ends.has(at); at = next.get(at)) {
      path.push(at);
      ends.set(at, false);
    }
    const isEnded = at !== undefined && (ends.get(at) ?? true);
    for (const each of path) ends.set(each, isEnded);
  }
  return new Set([...ends].filter(([, isEnded]) => !isEnded).map(([each]) => each));
}
