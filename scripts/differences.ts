/** How two folders of built files differ, in few words: the lines of a bundle are too long for a diff. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** Characters shown before the first difference, and of it. */
const LEAD = 60;
const SHOWN = 200;

/**
 * A text for each file of two flat folders that is not in both with the same bytes and the same right to be executed;
 * none where they are the same.
 */
export function differences(expectedFolder: string, builtFolder: string): string[] {
  const expected = new Set(readdirSync(expectedFolder));
  const built = new Set(readdirSync(builtFolder));
  const found: string[] = [];
  for (const name of [...new Set([...expected, ...built])].sort()) {
    if (!built.has(name)) found.push(`${name} is committed and was not built`);
    else if (!expected.has(name)) found.push(`${name} was built and is not committed`);
    else found.push(...difference(name, path.join(expectedFolder, name), path.join(builtFolder, name)));
  }
  return found;
}

function difference(name: string, expectedFile: string, builtFile: string): string[] {
  const expected = readFileSync(expectedFile);
  const built = readFileSync(builtFile);
  const isExecutable = (file: string) => (statSync(file).mode & 0o100) !== 0;
  if (isExecutable(expectedFile) !== isExecutable(builtFile))
    return [`${name} is executable in one of the two only`];
  if (expected.equals(built)) return [];
  const shortest = Math.min(expected.length, built.length);
  let at = 0;
  while (at < shortest && expected[at] === built[at]) at += 1;
  const excerpt = (bytes: Buffer) =>
    JSON.stringify(bytes.toString('ascii', Math.max(0, at - LEAD), at + SHOWN));
  return [
    `${name}: ${expected.length} bytes committed, ${built.length} built, alike up to byte ${at}`,
    `  committed: ${excerpt(expected)}`,
    `  built:     ${excerpt(built)}`,
  ];
}
