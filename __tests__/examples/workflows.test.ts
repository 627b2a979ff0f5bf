import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OUTPUTS } from '../../scripts/generate.ts';
import { INPUTS } from '../../src/config/inputs.ts';
import { presets } from '../../src/contract/presets.ts';
import { MERGE_NAMES } from '../../src/merge/config.ts';
import { configFrom, mergeConfigFrom } from '../support/fakes/runner/inputs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OURS = 'org/structured-agent@v1';
const MERGE = 'org/structured-agent/merge@v1';

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Workflow {
  readonly name: string;
  readonly text: string;
  readonly events: readonly string[];
  readonly jobs: readonly Job[];
}

interface Job {
  readonly id: string;
  readonly outputs: readonly string[];
  readonly steps: readonly Step[];
  /** Those of the job, or of the workflow. */
  readonly permissions: unknown;
  readonly condition: string;
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

const string = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function readStep(value: unknown): Step {
  const { id, uses, run, with: given } = members(value);
  const [i, u, r] = [string(id), string(uses), string(run)];
  return {
    ...(i === undefined ? {} : { id: i }),
    ...(u === undefined ? {} : { uses: u }),
    ...(r === undefined ? {} : { run: r }),
    ...(given === undefined ? {} : { with: members(given) }),
  };
}

function readWorkflow(folder: string, file: string): Workflow {
  const text = readFileSync(path.join(ROOT, folder, file), 'utf8');
  const workflow = members(parse(text));
  const jobs = Object.entries(members(workflow['jobs']));
  return {
    name: `${folder}/${file}`,
    text,
    events: typeof workflow['on'] === 'string' ? [workflow['on']] : Object.keys(members(workflow['on'])),
    jobs: jobs.map(([id, job]) => {
      const { steps, outputs, permissions = workflow['permissions'], if: condition } = members(job);
      return {
        id,
        outputs: Object.keys(members(outputs)),
        steps: Array.isArray(steps) ? steps.map(readStep) : [],
        permissions,
        condition: string(condition) ?? '',
      };
    }),
  };
}

function readFolder(folder: string): readonly Workflow[] {
  const files = readdirSync(path.join(ROOT, folder)).filter((file) => file.endsWith('.yml'));
  return files.map((file) => readWorkflow(folder, file));
}

const examples = readFolder('examples');
const workflows = [...examples, ...readFolder('.github/workflows')];

/** The outputs of a step of ours: those about the run, and those of its schema. */
function outputsOf(step: Step): readonly string[] {
  const about = Object.keys(OUTPUTS).filter(
    (name) => name.startsWith('run-') || name === 'structured_output',
  );
  const schema = string(step.with?.['schema']) ?? 'verdict';
  const preset = presets.get(schema);
  if (preset !== undefined) return [...about, ...Object.keys(members(preset.schema['properties']))];
  const text = schema.startsWith('@')
    ? readFileSync(path.join(ROOT, 'examples/demo/repository', schema.slice(1)), 'utf8')
    : schema;
  return [...about, ...Object.keys(members(members(JSON.parse(text))['properties']))];
}

describe('the example workflows', () => {
  it('exist', () => {
    expect(examples.length).toBeGreaterThan(10);
  });

  it('show each preset with its own gate', () => {
    const shown = examples.flatMap(({ jobs }) => jobs.flatMap(({ steps }) => steps));
    for (const name of presets.keys()) {
      const step = shown.find((each) => each.uses === OURS && each.with?.['schema'] === name);
      expect([name, step?.with?.['gate'] ?? 'auto']).toEqual([
        name,
        step === undefined ? 'no example' : 'auto',
      ]);
    }
  });

  describe.each(examples)('$name', (workflow) => {
    const steps = workflow.jobs.flatMap((job) => job.steps);
    const ours = steps.filter((step) => step.uses === OURS);
    const merges = steps.filter((step) => step.uses === MERGE);

    it('uses the action once, with inputs that action.yml declares', () => {
      expect(ours).toHaveLength(1);
      const known: readonly string[] = INPUTS.map((input) => input.name);
      for (const step of ours) expect(known).toEqual(expect.arrayContaining(Object.keys(step.with ?? {})));
      for (const { with: given = {} } of merges)
        expect(MERGE_NAMES).toEqual(expect.arrayContaining(Object.keys(given)));
    });

    it('gives the action a valid configuration', () => {
      const values: Readonly<Record<string, string>> = {
        'secrets.ANTHROPIC_API_KEY': 'key',
        'vars.MODEL_BASE_URL': 'http://127.0.0.1:1/v1',
        'vars.MODEL_NAME': 'model',
        'secrets.SIGNING_KEY': 'k'.repeat(64),
        'matrix.leg': 'security',
        'matrix.vote': '1',
        'matrix.side': 'security',
        'matrix.question': 'Is it safe?',
        'runner.temp': '/home/runner/work/_temp',
      };
      const inputsOf = (step: Step) =>
        Object.fromEntries(
          Object.entries(step.with ?? {}).map(([name, value]) => [
            name,
            String(value).replace(
              /\$\{\{ (.+?) \}\}/gu,
              (_, expression: string) => values[expression] ?? `unknown ${expression}`,
            ),
          ]),
        );
      const configs = [
        ...ours.map((step) => configFrom(inputsOf(step))),
        ...merges.map((step) => mergeConfigFrom(inputsOf(step))),
      ];
      expect(JSON.stringify(configs)).not.toContain('unknown ');
    });

    it('reads only outputs that exist', () => {
      const read = [...workflow.text.matchAll(/steps\.([\w-]+)\.outputs\.([\w-]+)/gu)];
      expect(read).not.toEqual([]);
      for (const [expression, id, output] of read) {
        const step = steps.find((each) => each.id === id);
        const written = /\b(\w+)=%s\\n.*GITHUB_OUTPUT/u.exec(step?.run ?? '')?.[1];
        const declared = step === undefined ? [] : outputsOf(step);
        const outputs = written === undefined ? declared : [written];
        expect(outputs, expression).toContain(output);
      }
      for (const [expression, id, output] of workflow.text.matchAll(/needs\.([\w-]+)\.outputs\.([\w-]+)/gu)) {
        expect(workflow.jobs.find((job) => job.id === id)?.outputs, expression).toContain(output);
      }
    });

    it('compares outputs with == only, so that a run without a verdict does not pass', () => {
      expect(workflow.text).not.toMatch(/outputs\.[\w-]+ *!=/u);
    });
  });
});

/** Events of a pull request. Reading its files and diff in a private repository needs a permission. */
const ABOUT_PULL_REQUESTS = new Set(['pull_request', 'merge_group', 'workflow_run', 'issue_comment']);
/** Events that combine secrets and permissions with untrusted content. */
const PRIVILEGED = new Set(['pull_request_target', 'workflow_run', 'issue_comment']);

describe('the example workflows of privileged triggers', () => {
  const privileged = examples.filter(({ events }) => events.some((event) => PRIVILEGED.has(event)));

  it('exist', () => {
    expect(privileged.map(({ name }) => name)).toEqual([
      'examples/after-ci.yml',
      'examples/review-command.yml',
    ]);
  });

  it.each(privileged)(
    '$name runs nothing that it checks out, and uses the policy of the base',
    ({ jobs, events }) => {
      const [job, ...others] = jobs;
      expect(others).toEqual([]);
      const steps = job?.steps ?? [];
      const checkout = steps.findIndex((step) => step.uses?.startsWith('actions/checkout@'));
      const [agent, ...after] = steps.slice(checkout + 1);
      expect(agent).toMatchObject({
        uses: OURS,
        with: { 'trusted-files': 'base', sandbox: 'required', 'commit-status': 'Agent review' },
      });
      // A commit, so that the status is set on what was judged.
      expect(steps[checkout]?.with?.['ref']).toMatch(
        /^\$\{\{ (?:steps\.head\.outputs\.sha|github\.event\.workflow_run\.head_sha) \}\}$/u,
      );
      for (const step of after) expect(step.run).toMatch(/^printf /u);
      expect(job?.condition).toContain(
        events.includes('issue_comment') ? 'author_association' : "event == 'pull_request'",
      );
    },
  );
});

describe.each(workflows)('$name', (workflow) => {
  const steps = workflow.jobs.flatMap((job) => job.steps);

  it('has the permissions that its inputs need, and no others', () => {
    const pulls = workflow.events.some((event) => ABOUT_PULL_REQUESTS.has(event));
    for (const job of workflow.jobs) {
      const uses = (test: (step: Step) => boolean) => job.steps.some(test);
      const comments = uses(({ with: given }) => given?.['comment'] !== undefined);
      const statuses = uses(({ with: given }) => given?.['commit-status'] !== undefined);
      const uploads = uses((step) => step.uses?.startsWith('github/codeql-action/upload-sarif@') === true);
      const reads = pulls && uses((step) => step.uses === OURS);
      const needed = {
        ...(comments || reads ? { 'pull-requests': comments ? 'write' : 'read' } : {}),
        ...(statuses ? { statuses: 'write' } : {}),
        ...(uploads ? { 'security-events': 'write' } : {}),
      };
      const releases = uses((step) => step.run?.includes('gh release create') === true);
      if (releases) {
        expect(job.permissions).toEqual({ contents: 'write', 'id-token': 'write', attestations: 'write' });
        continue;
      }
      // A job without a checkout may have fewer.
      const { contents = 'read', ...others } = members(job.permissions);
      expect([job.id, contents, others]).toEqual([job.id, 'read', needed]);
    }
  });

  it('pins every third-party action to a commit, with its version in a comment', () => {
    const lines = workflow.text
      .split('\n')
      .filter((line) => /^\s*(?:- )?uses: /u.test(line) && !line.includes(OURS) && !line.includes(MERGE));
    expect(lines).not.toEqual([]);
    for (const line of lines)
      expect(line).toMatch(/uses: [\w.-]+\/[\w.-]+(?:\/[\w.-]+)?@[0-9a-f]{40} # v\d+\.\d+\.\d+$/u);
  });

  it('keeps no credentials in the checkout', () => {
    const checkouts = steps.filter((step) => step.uses?.startsWith('actions/checkout@'));
    expect(checkouts).not.toEqual([]);
    for (const step of checkouts) expect(step.with).toMatchObject({ 'persist-credentials': false });
  });

  it('uses no expression in a script', () => {
    for (const step of steps) expect(step.run ?? '').not.toContain('${{');
  });
});
