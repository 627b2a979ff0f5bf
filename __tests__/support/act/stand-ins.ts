/** Replacements for third-party actions on act, which has no GitHub to fetch them from. act skips a checkout without `ref`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** One action: the inputs that the examples use, each with the variable that the script reads it from. */
interface StandIn {
  /** Its path in its repository. */
  readonly file: string;
  /** By input name: the variable and the default. */
  readonly inputs: Readonly<Record<string, { readonly variable: string; readonly default?: string }>>;
  /** The lines of its bash script. */
  readonly run: readonly string[];
}

/** `STAND_IN_REPOSITORY` is the source of a checkout, `STAND_IN_ARTIFACTS` a directory with one directory per artifact. */
const STAND_INS: Readonly<Record<string, StandIn>> = {
  'actions/checkout': {
    file: 'action.yml',
    inputs: {
      ref: { variable: 'REF' },
      'persist-credentials': { variable: 'PERSIST' },
      'allow-unsafe-pr-checkout': { variable: 'ALLOW' },
    },
    run: ['git clone --quiet "$STAND_IN_REPOSITORY" . && git checkout --quiet "$REF"'],
  },
  'github/codeql-action': {
    file: 'upload-sarif/action.yml',
    inputs: { sarif_file: { variable: 'SARIF' } },
    run: [
      `node -e 'const [run] = JSON.parse(require("fs").readFileSync(process.env.SARIF, "utf8")).runs; console.log("uploaded " + run.results.length + " of " + run.automationDetails.id)'`,
    ],
  },
  // An artifact is written once: another with the same name is a conflict unless the first is deleted.
  'actions/upload-artifact': {
    file: 'action.yml',
    inputs: {
      name: { variable: 'ARTIFACT', default: 'artifact' },
      path: { variable: 'FILE' },
      overwrite: { variable: 'OVERWRITE', default: 'false' },
    },
    run: [
      'if [ -z "$FILE" ]; then echo "::error::Input required and not supplied: path"; exit 1; fi',
      `if [[ "$ARTIFACT" == *[\\":\\<\\>\\|\\*\\?\\\\/]* ]]; then echo "::error::The artifact name is not valid: $ARTIFACT"; exit 1; fi`,
      'if [ ! -f "$FILE" ]; then',
      '  echo "::warning::No files were found with the provided path: $FILE. No artifacts will be uploaded."; exit 0',
      'fi',
      'folder=$STAND_IN_ARTIFACTS/$ARTIFACT',
      'if [ "$OVERWRITE" = true ]; then rm -rf "$folder"; fi',
      'mkdir -p "$STAND_IN_ARTIFACTS"',
      'if ! mkdir "$folder"; then',
      '  echo "::error::(409) Conflict: an artifact with this name already exists on the workflow run"; exit 1',
      'fi',
      'cp "$FILE" "$folder/" && echo "Artifact $ARTIFACT has been successfully uploaded"',
    ],
  },
  // Each artifact is in a directory with its name; if only one matches, its files are in `path` itself, and if none
  // matches, there is no directory.
  'actions/download-artifact': {
    file: 'action.yml',
    inputs: { pattern: { variable: 'PATTERN', default: '*' }, path: { variable: 'TO', default: '.' } },
    run: [
      'shopt -s nullglob',
      'found=("$STAND_IN_ARTIFACTS"/$PATTERN)',
      'for each in "${found[@]}"; do',
      '  to=$TO/${each##*/}',
      '  if [ ${#found[@]} -eq 1 ]; then to=$TO; fi',
      '  mkdir -p "$to" && cp -r "$each"/. "$to"',
      'done',
      'echo "Total of ${#found[@]} artifact(s) downloaded"',
    ],
  },
};

/** Writes those that a workflow uses below a directory; returns the values for act's `--local-repository`. */
export function writeStandIns(workflow: string, folder: string): readonly string[] {
  const text = readFileSync(workflow, 'utf8');
  return Object.entries(STAND_INS).flatMap(([name, standIn]) => {
    const commit = new RegExp(`uses: ${name}[\\w/-]*@([0-9a-f]{40})`, 'u').exec(text)?.[1];
    if (commit === undefined) return [];
    const file = path.join(folder, name, standIn.file);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, actionOf(name, standIn));
    return [`${name}@${commit}=${path.join(folder, name)}`];
  });
}

function actionOf(name: string, { inputs, run }: StandIn): string {
  const given = Object.entries(inputs);
  return [
    `name: a stand-in for ${name}`,
    'description: what the examples need of it',
    'inputs:',
    ...given.flatMap(([input, { default: standard = '' }]) => [
      `  ${input}:`,
      '    description: as there',
      '    required: false',
      `    default: ${JSON.stringify(standard)}`,
    ]),
    // act logs a step without a name by its script, whose text does not show that it ran.
    'runs:\n  using: composite\n  steps:\n    - name: stand in\n      shell: bash\n      env:',
    ...given.map(([input, { variable }]) => `        ${variable}: \${{ inputs.${input} }}`),
    '      run: |',
    ...run.map((line) => `        ${line}`),
    '',
  ].join('\n');
}
