/** The layers that no namespace makes, one mutant each: files, the log, secrets, tampering. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of source files.
import { type Group, inFile, words } from './mutant.ts';

const confine = 'src/sandbox/workspace/path-policy.ts';
const names = 'src/files/names.ts';
const files = 'src/sandbox/workspace/files.ts';
const tamper = 'src/sandbox/workspace/tamper.ts';

const selfTest: Group = {
  name: 'self-test',
  walls: [],
  tests: ['__tests__/sandbox/open.test.ts'],
  mutants: inFile('src/sandbox/isolation/self-test.ts', [
    ['its verdict', "result.exitCode !== 0 || verdict !== 'walls stand'", 'false'],
    ['the listener outside', '!options.shellNetwork && listener.reached()', 'false'],
  ]),
};

const fileRules: Group = {
  name: 'files',
  walls: ['bwrap'],
  attacks: '[AB]',
  tests: [
    '__tests__/sandbox/workspace/files.test.ts',
    '__tests__/files/names.test.ts',
    '__tests__/sandbox/workspace/repositories.test.ts',
    '__tests__/tools/edit.test.ts',
    '__tests__/tools/read-file.test.ts',
  ],
  mutants: [
    ...inFile(confine, [
      ['no control character', 'if (refusal !== null) deny(path, refusal);', ''],
      ['closed folders by name', 'if (isClosed(view, tree.view, options)) deny(asked, CLOSED);', ''],
      ['closed folders by place', 'if (isClosed(host, tree.host, options)) deny(asked, CLOSED);', ''],
      ['names of components', 'if (refusal !== null) deny(asked, refusal);', ''],
      [
        'read-only workspace',
        'inWorkspace && options.readOnlyWorkspace',
        'inWorkspace && options.readOnlyWorkspace && false',
      ],
      [
        'symbolic links walked',
        'if (stats.isSymbolicLink()) {',
        'if (stats.isSymbolicLink() && index < 0) {',
      ],
      [
        'git folders under any name',
        'if (options.gitFolders.some((folder) => isInside(host, folder))) deny(asked, GIT_CLOSED);',
        '',
      ],
      [
        'frozen paths under any name',
        'options.frozen.some((path) => isInside(host, path))',
        'options.frozen.some(() => false)',
      ],
      ['a bound on links', 'links <= MAX_LINKS', 'links >= 0'],
    ]),
    ...inFile(names, [
      ['backslashes', "path.includes('\\\\')", 'path.length < 0'],
      ['invisible characters', "component.replace(IGNORED, '')", 'component'],
      ['forms of Unicode', ".normalize('NFKC')"],
      ['case', '.toLowerCase()'],
      ['streams', ".split(':', 1)[0]", ".split('\\0', 1)[0]"],
      ['dots and blanks at the end', "stream.replace(/[. ]+$/u, '')", 'stream'],
      ['.git', "name === '.git' || ", ''],
      ['git~1', " || name === 'git~1'", ''],
      ['credential files', 'CREDENTIALS.has(name) || ', ''],
      ['gha-creds', ' || /^gha-creds-.*\\.json$/u.test(name)', ''],
      ['.github', "folded.some((name) => name === '.github')", 'false'],
      ['action.yml', "top === 'action.yml' || ", ''],
    ]),
    ...inFile(files, [
      ['O_NOFOLLOW at reading', 'O_RDONLY | O_NOFOLLOW | O_NONBLOCK', 'O_RDONLY | O_NONBLOCK'],
      ['O_NONBLOCK at reading', 'O_RDONLY | O_NOFOLLOW | O_NONBLOCK', 'O_RDONLY | O_NOFOLLOW'],
      ['no special file, before', 'true);\n  refuseSpecial(place.stats, asked);', 'true);'],
      ['no special file, opened', '      refuseSpecial(stats, asked);\n', ''],
      [
        'what was opened is what was judged',
        'if (!(await isAt(handle, stats, place.host)))',
        'if (false as boolean)',
      ],
      ['no special file, written', 'if (place.stats !== null) refuseSpecial(place.stats, asked);', ''],
      ['the folder is what was judged', 'if ((await realpath(folder)) !== folder)', 'if (false as boolean)'],
      [
        'O_EXCL, O_NOFOLLOW at writing',
        'O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW',
        'O_WRONLY | O_CREAT | (O_EXCL & O_NOFOLLOW)',
      ],
      [
        'a new file, then a rename',
        "const temporary = join(folder, `.structured-agent-${randomBytes(8).toString('hex')}`);",
        'const temporary = place.host;',
      ],
    ]),
  ],
};

const log: Group = {
  name: 'log',
  walls: [],
  tests: ['__tests__/reporters'],
  mutants: [
    ...inFile('src/reporters/log.ts', [
      [
        'markers broken',
        'breakCommands(secrets.mask(cleanText(secrets.mask(text))))',
        'secrets.mask(cleanText(secrets.mask(text)))',
      ],
      [
        'masked before it is cleaned',
        'secrets.mask(cleanText(secrets.mask(text)))',
        'secrets.mask(cleanText(text))',
      ],
      [
        'masked after it was cleaned',
        'secrets.mask(cleanText(secrets.mask(text)))',
        'cleanText(secrets.mask(text))',
      ],
      ['cleaned', 'secrets.mask(cleanText(secrets.mask(text)))', 'secrets.mask(secrets.mask(text))'],
      ['lines prefixed', 'map((each) => `${PREFIX}${each}`.trimEnd())', 'map((each) => each.trimEnd())'],
      ['commands off', 'write(`::stop-commands::${token}\\n${lines', 'write(`${lines'],
      ['a token that the text does not hold', 'lower.includes(word.toLowerCase())', 'lower.length < 0'],
      [
        'annotations escaped',
        'escapeData(cutText(harmless(message).trim(), MAX_MESSAGE))',
        'cutText(harmless(message).trim(), MAX_MESSAGE)',
      ],
      ['properties escaped', "replaceAll(':', '%3A').replaceAll(',', '%2C')", "replaceAll(':', '%3A')"],
    ]),
    ...inFile('src/text/sanitize.ts', [
      ['`::` broken', "replace(/:(?=:)/g, ': ')", "replace(/:(?=::::)/g, ': ')"],
      ['`##[` broken', "replace(/##(?=\\[)/g, '## ')", "replace(/##(?=\\[\\[\\[)/g, '## ')"],
      ['every line break', '[\\n\\v\\f\\r\\u0085\\u2028\\u2029]', '[\\n\\r]'],
      ['invisible characters', "\n    .replace(INVISIBLE, '')", ''],
    ]),
  ],
};

const secretForms: Group = {
  name: 'secrets',
  walls: [],
  tests: [
    '__tests__/text/secrets.test.ts',
    '__tests__/run/finish.test.ts',
    '__tests__/run/finish-signal.test.ts',
    '__tests__/run/run.test.ts',
  ],
  mutants: [
    ...inFile('src/text/secrets.ts', [
      ['plain', "{ encoding: 'plain', see: (text) => text, needles: values },"],
      [
        'plain with blanks',
        'see: squeeze,\n      needles: values.map(squeeze)',
        'see: squeeze,\n      needles: values.slice(0, 0).map(squeeze)',
      ],
      [
        'reversed',
        "{ encoding: 'reversed', see: (text) => text, needles: values.map(reverse) },",
        '...(values.length < 0 ? reverse("") : []),',
      ],
      ['base64', 'needles: values.flatMap(base64Forms),', 'needles: [],'],
      ['base64 of URLs', 'see: (text) => toStandardAlphabet(squeeze(text))', 'see: squeeze'],
      ['hex', "needles: values.map((value) => bytesOf(value).toString('hex'))", 'needles: []'],
      ['URL-encoded', "{ encoding: 'URL-encoded', see: decodePercent, needles: values },"],
      ['rot13', 'needles: values.map(rot13)', 'needles: []'],
      ['parts of a key', 'for (const part of keyParts(trimmed)) plain.add(part);', ''],
      [
        'names of properties',
        'if (!isList && visitor(key, () => `in the name of a property of ${pointer(path)}`)) return true;',
        '',
      ],
    ]),
    ...inFile('src/run/finish.ts', [
      [
        'looked for in the payload',
        'if (where !== null) checked =',
        'if (where !== null && ending.kind !== ending.kind) checked =',
      ],
      [
        'children dead before it is published',
        'state.sandbox?.close() ?? Promise.resolve()',
        'Promise.resolve()',
      ],
    ]),
  ],
};

const tampering: Group = {
  name: 'tamper',
  walls: [],
  tests: [
    '__tests__/sandbox/workspace/tamper.test.ts',
    '__tests__/run/finish.test.ts',
    '__tests__/run/finish-signal.test.ts',
    '__tests__/run/run.test.ts',
  ],
  mutants: [
    ...words(
      tamper,
      ['config', 'config.worktree', 'hooks', 'info/attributes', 'HEAD.lock', 'commondir'],
      (name) => (name === 'commondir' ? `, 'commondir'` : `'${name}', `),
    ),
    ...inFile(tamper, [
      ['.github, absent too', "['.git', '.github', 'action.yml'", "['.git', 'action.yml'"],
      ['.git, what it is', "tops: tops.map((top) => join(top, '.git'))", 'tops: []'],
      ['other spellings that are new', 'whole: [...watched.whole, ...fresh]', 'whole: watched.whole'],
      [
        'the mode of a file',
        'return `file ${mode} ${await hash(path)}`',
        'return `file ${await hash(path)}`',
      ],
      ['large files', '${mode} ${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}', '${mode}'],
      ['our own files', 'new Set<string>(extra)', 'new Set<string>()'],
      ['credential files', 'holdsCredentials(name) || ', ''],
    ]),
    ...inFile('src/run/finish.ts', [
      ['its verdict counts', "else if (file !== null) checked = { kind: 'tampered', file };", ''],
      [
        'no time is no all-clear',
        "if (file === undefined) checked = { kind: 'unchecked' };\n    else if",
        'if',
      ],
    ]),
    ...inFile('src/run/run.ts', [
      ['off refused on privileged triggers', "config.sandbox === 'off' && world.privileged", 'false'],
    ]),
  ],
};

/** Every one of these layers. */
export const RULE_GROUPS: readonly Group[] = [selfTest, fileRules, log, secretForms, tampering];
