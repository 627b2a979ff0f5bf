/** What proves nothing: lines that no change removed, and searches that were broken off. */
import { describe, expect, it } from 'vitest';
import { groundFindings } from '../../src/evidence/grounding.ts';
import { changeOf, filesOf, makeClaim } from './files.ts';

describe('the old side of a change proves', () => {
  // As after a rebase: the lines around the removed ones are in the diff, and no longer in the file.
  const files = filesOf({ 'src/a.ts': 'export const fresh = "all of it";\n' });
  const change = changeOf({
    'src/a.ts':
      '@@ -1,4 +1,3 @@\n const before = "unchanged";\n-const gone = load("gone");\n const after = "unchanged, too";\n const last = 1;\n',
  });

  it.each([
    ['a removed line', 'const gone = load("gone");', 'exact'],
    ['a part of it', 'const gone = load("go', 'exact'],
    [
      'a removed line with those around it',
      'const before = "unchanged";\nconst gone = load("gone");',
      'exact',
    ],
    ['no line that only stands beside it', 'const before = "unchanged";', 'ungrounded'],
    ['no two of them', 'const after = "unchanged, too";\nconst last = 1;', 'ungrounded'],
    ['no part of one', 'const after = "unchanged, t', 'ungrounded'],
  ])('%s', async (_, quote, status) => {
    const [grounded] = await groundFindings([makeClaim({ quote })], files, change);
    expect(grounded?.status).toBe(status);
  });
});

describe('a file with CRLF', () => {
  const files = filesOf({ 'src/a.ts': 'const one = "first";\r\nconst key = "hunter2-\r\nthe end";\r\n' });

  it('has the lines that are quoted with and without their endings', async () => {
    const quotes = ['const one = "first";', 'const one = "first";\r\n', 'const one  = "first";'];
    const claims = quotes.map((quote) => makeClaim({ quote }));
    const grounded = await groundFindings(claims, files, null);
    expect(grounded.map(({ status, line }) => [status, line])).toEqual(Array(3).fill(['exact', 1]));
  });

  it('has lines with a secret, which are looked at without their endings', async () => {
    const seen: string[] = [];
    const holdsSecret = (text: string) => seen.push(text) > 0;
    const claim = makeClaim({ line: 2, endLine: 3, isSecret: true });
    await groundFindings([claim], { ...files, holdsSecret }, null);
    expect(seen).toEqual(['const key = "hunter2-\nthe end";']);
  });
});

describe('the rules for secrets', () => {
  it('are not asked about other findings', async () => {
    const holdsSecret = () => {
      throw new Error('They were asked.');
    };
    const files = { ...filesOf({ 'src/a.ts': 'const one = "first";\n' }), holdsSecret };
    const claims = [makeClaim({ quote: 'const one = "first";', line: 1 }), makeClaim({ line: 1 })];
    const grounded = await groundFindings(claims, files, null);
    expect(grounded.map(({ status }) => status)).toEqual(['exact', 'unproven']);
  });
});

describe('a run that has done the work it may do', () => {
  it('proves and refutes nothing any more', async () => {
    const files = filesOf({
      'src/a.ts': 'the same line of code\n'.repeat(500_000),
      'src/b.ts': 'once and only once\n',
      'src/c.ts': 'once and only once\n',
    });
    const there = { path: 'src/b.ts', quote: 'once and only once' };
    const never = { path: 'src/b.ts', quote: 'not in any of the files' };
    const late = { path: 'src/c.ts' };
    // The same quote is looked for once, unless its findings differ.
    const costly = Array.from({ length: 10 }, (_, at) =>
      makeClaim({ quote: 'the same line of code', line: 600_000 + at }),
    );
    const grounded = await groundFindings(
      [
        makeClaim({ ...there, line: 1 }),
        makeClaim({ ...never, line: 1 }),
        ...costly,
        makeClaim({ ...there, ...late }),
        makeClaim({ ...never, ...late }),
      ],
      files,
      null,
    );
    const statuses = grounded.map(({ status }) => status);
    expect(statuses.slice(0, 2)).toEqual(['exact', 'ungrounded']);
    // Each of them costs some 50 of 400 million. The eighth is broken off, and could have found the first of two places.
    expect(statuses.slice(2, 12)).toEqual([...Array(7).fill('ambiguous'), ...Array(3).fill('unproven')]);
    expect(statuses.slice(12)).toEqual(['unproven', 'unproven']);
  });
});

describe('the files of a large change', () => {
  it('are read once for the findings about them, and once for all that are nowhere', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `src/${at}.ts`);
    const files = filesOf(Object.fromEntries(names.map((name) => [name, `const one = "${name}";\n`])));
    const change = changeOf(
      Object.fromEntries(names.map((name) => [name, '@@ -0,0 +1 @@\n+const one = 1;\n'])),
    );
    const read: string[] = [];
    const text = (path: string) => {
      read.push(path);
      return files.text(path);
    };
    const quotes = Array.from({ length: 20 }, (_, at) => `never there in any of them ${at}`);
    const claims = [
      ...quotes.map((quote) => makeClaim({ path: 'src/0.ts', quote })),
      makeClaim({ path: 'src/1.ts', quote: 'const one = "src/29.ts";' }),
      makeClaim({ path: null, missing: { path: null, text: 'never there either' } }),
      makeClaim({ path: null, missing: { path: null, text: '"src/28.ts"' } }),
    ];
    const grounded = await groundFindings(claims, { ...files, text }, change);
    expect(grounded.map(({ status }) => status)).toEqual([
      ...quotes.map(() => 'ungrounded'),
      'moved',
      'unproven',
      'refuted',
    ]);
    expect(grounded[20]?.path).toBe('src/29.ts');
    expect(read).toEqual(['src/0.ts', 'src/1.ts', ...names]);
  });
});
