/** The import rules of AGENTS.md. Type-only imports count. */

/** What every layer may import: nouns, errors, and functions over texts. */
const LEAVES = '^src/(text/|(types|errors)\\.ts$|reporters/report-types\\.ts$)';
/** How files of the machine are read and written: for every layer that may touch files at all. */
const FILES = '^src/files/';
// With or without node_modules: a package that is not installed is told by its bare name.
// GitHub's parser of expressions is no part of it: it asks no runner, and only the check loads it. Nor is the one module
// that reads the proxy variables, which `network/` loads.
const ACTIONS =
  '(^|node_modules/)@actions/(?!(?:exec|expressions|io)(?:/|$)|http-client/lib/proxy(?:\\.(?:d\\.ts|js))?$)';
const MACHINE =
  '^(node:)?(fs|fs/promises|child_process|net|http|https|os|process|timers|timers/promises|perf_hooks|worker_threads)$';

export default {
  forbidden: [
    { name: '1-no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: '1-no-orphans',
      severity: 'error',
      from: { orphan: true, pathNot: '^src/main\\.ts$' },
      to: {},
    },
    { name: '1-leaves', severity: 'error', from: { path: LEAVES }, to: { pathNot: [LEAVES] } },
    {
      name: '1-files',
      comment: 'they serve all layers, so they know none',
      severity: 'error',
      from: { path: FILES },
      to: { path: '^src/', pathNot: [FILES, LEAVES] },
    },
    {
      name: '2-pure-layers',
      comment:
        'contract, providers, agent and evidence touch no file, process, environment or clock of their own',
      severity: 'error',
      from: { path: '^src/(contract|providers|agent|evidence)/' },
      to: { path: [MACHINE, FILES] },
    },
    {
      name: '2-tools-go-through-the-sandbox',
      comment: 'they ask the contract to compile their parameters',
      severity: 'error',
      from: { path: '^src/tools/' },
      to: {
        pathNot: [
          '^src/tools/',
          '^src/(sandbox/sandbox|contract/contract)\\.ts$',
          LEAVES,
          '^(node:)?buffer$',
        ],
      },
    },
    {
      name: '2-only-the-sandbox-spawns',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/sandbox/' },
      to: { path: '^(node:)?child_process$' },
    },
    {
      name: '2-only-the-network-connects',
      comment: 'proxies and certificates are honoured in one place',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/network/' },
      to: { path: '(^|node_modules/)(undici|@actions/http-client|(node:)?(http|http2|https|tls))(/|$)' },
    },
    {
      name: '3-only-providers-import-model-sdks',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/providers/' },
      to: { path: '(^|node_modules/)(openai|@anthropic-ai|@pydantic)(/|$)' },
    },
    {
      name: '3-only-github-imports-octokit',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/github/' },
      to: { path: '(^|node_modules/)@octokit(/|$)' },
    },
    {
      name: '3-only-contract-imports-ajv',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/contract/' },
      to: { path: '(^|node_modules/)(ajv|ajv-formats)(/|$)' },
    },
    {
      name: '3-agent-sees-front-doors',
      severity: 'error',
      from: { path: '^src/agent/' },
      to: {
        path: '^src/(?!agent/)',
        pathNot: [
          '^src/providers/provider\\.ts$',
          '^src/tools/toolbox\\.ts$',
          '^src/contract/contract\\.ts$',
          '^src/evidence/review\\.ts$',
          LEAVES,
        ],
      },
    },
    {
      name: '4-only-the-action-imports-the-toolkit',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: ['^src/action(\\.ts$|/)', '^src/github/'],
      },
      to: { path: ACTIONS },
    },
    {
      name: '4-one-file-starts-helpers-of-the-machine',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/sandbox/host-program\\.ts$' },
      to: { path: '(^|node_modules/)@actions/exec(/|$)' },
    },
    {
      name: '4-the-core-never-reaches-the-toolkit',
      comment: 'a command line loads no @actions package but exec, not even by a detour',
      severity: 'error',
      from: { path: '^src/(run/run|cli)\\.ts$' },
      to: { path: ACTIONS, reachable: true },
    },
    {
      name: '5-nothing-imports-the-entries',
      severity: 'error',
      from: { pathNot: '^src/main\\.ts$' },
      to: { path: '^src/(action|merge/action|cli|library|main)\\.ts$' },
    },
    {
      name: '5-layers-do-not-know-each-other',
      comment: 'the entries, run/ and the features on top of the core join the layers',
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: '^src/(run|action|cli|merge|replay|commands)/' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/$1/',
          LEAVES,
          FILES,
          '^src/(providers/(provider|registry)|tools/toolbox|contract/contract|sandbox/sandbox|evidence/review)\\.ts$',
        ],
      },
    },
    {
      name: '5-the-page-says-it-as-the-reporters-do',
      comment:
        'a transcript, an envelope, numbers, severities, proofs and warnings are what they are for the others',
      severity: 'error',
      from: { path: '^src/commands/report/' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/commands/(report/|flags\\.ts$)',
          FILES,
          '^src/(reporters/(messages|envelope|sentences|findings)|envelope/(envelope|read))\\.ts$',
          LEAVES,
        ],
      },
    },
    {
      name: '5-a-merge-is-computed-from-values',
      comment: 'nothing in merge/ but its entry reads a file, asks the runner or knows the clock',
      severity: 'error',
      from: { path: '^src/merge/', pathNot: '^src/merge/(action|run)\\.ts$' },
      to: { path: MACHINE },
    },
    {
      name: '5-the-core-does-not-know-its-features',
      comment:
        'a feature hands reporters a view of its own; the model of a run may be a recording, or recorded',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: '^src/(main\\.ts$|(merge|replay|commands)/|run/model\\.ts$|(action|cli|library)(\\.ts$|/))',
      },
      to: { path: '^src/(merge|replay)/' },
    },
    {
      name: '5-nothing-but-its-entry-knows-a-merge',
      comment: 'and the check, which explains its inputs',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main\\.ts$|merge/|commands/check/)' },
      to: { path: '^src/merge/' },
    },
    {
      name: '5-run-belongs-to-the-entries',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: '^src/((action|cli|library)\\.ts$|(run|action|cli|merge)/)',
      },
      to: { path: '^src/run/' },
    },
    {
      name: '6-commands-explain-what-is-typed',
      comment:
        'check and init see inputs, outputs, contracts, prices and the table of providers; nothing that runs or connects',
      severity: 'error',
      from: { path: '^src/commands/(check|init)/' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/commands/($1|flags\\.ts$)',
          LEAVES,
          FILES,
          '^src/(config|contract)/',
          '^src/merge/config\\.ts$',
          '^src/providers/(registry|pricing)\\.ts$',
          '^src/reporters/outputs\\.ts$',
          '^src/tools/tool\\.ts$',
        ],
      },
    },
    {
      name: '6-commands-belong-to-the-command-line',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cli(\\.ts$|/)|^src/commands/' },
      to: { path: '^src/commands/(check|init)/' },
    },
    {
      name: '6-only-the-check-reads-yaml',
      comment: 'a run never loads it; type-only imports are no exception, so that it stays in its chunk',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/commands/check/(workflow|usage)\\.ts$' },
      to: { path: '(^|node_modules/)yaml(/|$)' },
    },
    {
      name: '6-only-the-check-reads-expressions',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/commands/check/usage\\.ts$' },
      to: { path: '(^|node_modules/)@actions/expressions(/|$)' },
    },
    { name: 'not-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
