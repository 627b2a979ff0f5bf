/** The layers of the wall of macOS, one mutant each: tried without a Mac, by what its profile says. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of source files.
import { type Group, inFile } from './mutant.ts';

/** The profile, the plan and the wall. */
export const mac: Group = {
  name: 'macOS',
  walls: [],
  tests: [
    '__tests__/sandbox/isolation/seatbelt.test.ts',
    '__tests__/sandbox/isolation/seatbelt-plan.test.ts',
    '__tests__/sandbox/isolation/seatbelt-profile.test.ts',
  ],
  mutants: [
    ...inFile('src/sandbox/isolation/seatbelt-profile.ts', [
      ['deny by default', '(deny default)', '(allow default)'],
      ['no network', '(options.shellNetwork ? [NETWORK] : [', '(true ? [NETWORK] : ['],
      ['strings are escaped', `.replace(/["\\\\]/gu, '\\\\$&')}"`, '}"'],
      ['patterns are escaped', 'return `^${escaped(folder)}/(', 'return `^${folder}/('],
      ['names in any case', '/[a-z]/u.test(letter)', 'false'],
      ['no control character', '/[\\u0000-\\u001f\\u007f]/u', '/[]/u'],
    ]),
    ...inFile('src/sandbox/isolation/seatbelt-plan.ts', [
      ['other users', "  '/Users',\n"],
      ['home and RUNNER_TEMP', '...HIDDEN_FOLDERS, home, temp, ', '...HIDDEN_FOLDERS, '],
      ['the checkout beside a copy', 'folders.run, checkout])', 'folders.run])'],
      ['folders by their other name', '[path, DATA_VOLUME + path]', '[path]'],
      ['the nearest folder decides', 'a.path.length - b.path.length ||', 'b.path.length - a.path.length ||'],
      ["toolchains' credentials", "credentials.map(({ path }): Ground => ({ path, level: 'hidden' }))", '[]'],
      ['read-only', "access === 'read-only' ? 'readable' : 'writable'", "'writable'"],
      [
        'toolchains read-only',
        "level === 'writable' ? 'allow' : 'deny'",
        "level === 'hidden' ? 'deny' : 'allow'",
      ],
      ['ways', '...waysTo(open).map(', '...waysTo([]).map('],
      ['protected files', '...(await protectedRules(workspace, repositories)),\n', '\n'],
      [
        'absent ones',
        "    rules.push(rule('deny', 'file-write*', 'regex', namesPattern(top, PROTECTED_NAMES)));\n",
      ],
      ['credential files', 'if (holdsCredentials(name)) rules', 'if (false) rules'],
      ['configs', '...(await configRules(options, repositories)),\n', '\n'],
      ['folders that cannot be moved', '...fixedFolders(workspace, folders.tmp, repositories),\n', '\n'],
      ['unseen', 'unseen: await findUnseen([home, temp], open)', 'unseen: []'],
    ]),
    ...inFile('src/sandbox/isolation/seatbelt.ts', [
      ['the profile is told', "['-p', options.profile, '--',", "['-p', '(version 1)', '--',"],
      ['stray descriptors', 'exec 3<&- 4>&-\n', '\n'],
      ['a parent of its own', '"$@"; exit $?`', 'exec "$@"`'],
      ['children are killed', '...found] : [root, ...found]', '...found] : [...found]'],
      ['what carries the marker', 'marker !== undefined && text.includes(marker)', 'false'],
      ['the group', '        if (pid !== undefined) killOne(-pid);\n'],
      ['came up', 'cameUp: (status) => /^in$/mu.test(status)', 'cameUp: () => true'],
    ]),
  ],
};
