import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from './support/surroundings.ts';

const root = path.join(import.meta.dirname, '..');
const depcruise = path.join(root, 'node_modules', '.bin', 'depcruise');

interface Cruise {
  readonly summary: {
    readonly totalCruised: number;
    readonly violations: readonly { readonly rule: { readonly name: string }; readonly from: string }[];
  };
  readonly modules: readonly { readonly source: string }[];
}

function cruise(cwd: string, ...targets: readonly string[]): Cruise {
  const args = ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', ...targets];
  try {
    return JSON.parse(execFileSync(depcruise, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 28 }));
  } catch (error) {
    // A violation gives exit 1 and the same report.
    if (error instanceof Error && 'stdout' in error) return JSON.parse(String(error.stdout));
    throw error;
  }
}

/** A copy of the sources, where a test can break rules in isolation. */
const copy = makeFolder();
for (const name of ['src', 'schemas', 'package.json', 'tsconfig.json', '.dependency-cruiser.mjs']) {
  cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
}
symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));

describe('the import rules', () => {
  it('hold for every source file', () => {
    const { summary, modules } = cruise(root, 'src');
    expect(summary.violations.map((each) => `${each.rule.name}: ${each.from}`)).toEqual([]);
    const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const seen = modules.filter(({ source }) => source.startsWith('src/') && source.endsWith('.ts'));
    expect(files.length).toBeGreaterThan(50);
    expect(seen).toHaveLength(files.length);
  });

  it.each([
    ['src/agent', "import 'node:fs';", '2-pure-layers'],
    ['src/tools', "import 'node:fs';", '2-tools-go-through-the-sandbox'],
    ['src/reporters', "import 'node:child_process';", '2-only-the-sandbox-spawns'],
    ['src/commands/report', "import '../../reporters/summary.ts';", '5-the-page-says-it-as-the-reporters-do'],
    ['src/github', "import 'node:https';", '2-only-the-network-connects'],
    ['src/agent', "import 'openai';", '3-only-providers-import-model-sdks'],
    ['src/providers', "import 'ajv';", '3-only-contract-imports-ajv'],
    ['src/agent', "import type { X } from '../contract/compile.ts';", '3-agent-sees-front-doors'],
    ['src/sandbox', "import '@actions/exec';", '4-one-file-starts-helpers-of-the-machine'],
    ['src/sandbox', "import '@actions/core';", '4-only-the-action-imports-the-toolkit'],
    ['src/config', "import '@actions/expressions';", '6-only-the-check-reads-expressions'],
    ['src/config', "import 'yaml';", '6-only-the-check-reads-yaml'],
    ['src/reporters', "import '@actions/core';", '4-only-the-action-imports-the-toolkit'],
    ['src/config', "import '../action.ts';", '5-nothing-imports-the-entries'],
    ['src/reporters', "import '../agent/agent.ts';", '5-layers-do-not-know-each-other'],
    ['src/config', "import '../run/run.ts';", '5-run-belongs-to-the-entries'],
  ])('report a violation in %s', (folder, text, rule) => {
    const probe = `${folder}/zz-probe.ts`;
    writeFileSync(path.join(copy, probe), `${text} export {};`);
    const { summary } = cruise(copy, probe);
    rmSync(path.join(copy, probe));
    expect(summary.violations.map((each) => each.rule.name)).toContain(rule);
  });
});
