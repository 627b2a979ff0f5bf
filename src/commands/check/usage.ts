/** Checks what a workflow does with the verdicts of its steps: conditions, scripts, and jobs that go on regardless. */
import * as ast from '@actions/expressions/ast';
import { StringData } from '@actions/expressions/data/string';
import { Lexer, TokenType } from '@actions/expressions/lexer';
import { Parser } from '@actions/expressions/parser';
import type { Node, Scalar } from 'yaml';
import { DISPLAY } from '../../text/limits.ts';
import { truncate } from '../../text/messages.ts';
import { CONCLUSION, type Output, PAYLOAD, RUN_NAMES } from './outputs.ts';
import { type Fault, JOB, OUTPUT } from './rules.ts';
import {
  entriesOf,
  type Job,
  mentions,
  type Place,
  RUNS_ANYHOW,
  type StepNode,
  scalarAt,
  scalarOf,
  scalarsIn,
  valueAt,
  type Workflow,
} from './workflow.ts';

export function checkUsage(workflow: Workflow): void {
  for (const job of workflow.jobs) {
    for (const [scalar, keys] of scalarsIn(job.node)) {
      const step = keys[0] === 'steps' ? job.steps.find(({ index }) => String(index) === keys[1]) : undefined;
      const key = keys.slice(step === undefined ? 0 : 2).join('.');
      for (const text of expressionsIn(scalarOf(scalar) ?? '', key === 'if'))
        checkExpression({ workflow, job, step: step ?? null, scalar, key }, text.trim());
    }
    checkRegardless(job, workflow);
    for (const step of job.steps) if (step.part !== null) checkForgiven({ workflow, job, step });
  }
}

/** Returns the texts of the expressions in a text; a condition without `${{ }}` is one expression. */
function expressionsIn(text: string, isCondition: boolean): readonly string[] {
  if (isCondition && !text.includes('${{')) return [text];
  const [, ...parts] = text.split('${{');
  return parts.flatMap((part) => /^(?:'[^']*'|[^'}]|\}(?!\}))*(?=\}\})/u.exec(part)?.[0] ?? []);
}

/** Parses an expression; returns null if it is invalid, which other linters report. */
function parseExpression(text: string): ast.Expr | null {
  try {
    const { tokens } = new Lexer(text).lex();
    // Every name is declared to the parser: what exists is not judged here.
    const names = tokens.flatMap(({ type, lexeme }) => (type === TokenType.IDENTIFIER ? [lexeme] : []));
    const call = () => new StringData('');
    const functions = names.map((name) => ({ name, minArgs: 0, maxArgs: 255, call }));
    return new Parser(tokens, names, functions).parse() ?? null;
  } catch {
    return null;
  }
}

/** A name such as `steps.x.outputs.y`, in lower-case segments, with `*` for a filter. */
type Path = readonly string[];

function pathOf(expr: ast.Expr): Path | null {
  if (expr instanceof ast.ContextAccess) return [expr.name.lexeme.toLowerCase()];
  const before = expr instanceof ast.IndexAccess ? pathOf(expr.expr) : null;
  if (!(expr instanceof ast.IndexAccess) || before === null) return null;
  const { index } = expr;
  return [...before, index instanceof ast.Literal ? index.literal.coerceString().toLowerCase() : '*'];
}

/** Returns the paths that an expression reads, each as a whole: not `steps.x` of `steps.x.outputs.y`. */
function readsIn(expr: ast.Expr): readonly Path[] {
  const own = pathOf(expr);
  if (own !== null) return [own];
  if (expr instanceof ast.Grouping) return readsIn(expr.group);
  if (expr instanceof ast.Unary || expr instanceof ast.IndexAccess) return readsIn(expr.expr);
  if (expr instanceof ast.Binary) return [expr.left, expr.right].flatMap(readsIn);
  return expr instanceof ast.Logical || expr instanceof ast.FunctionCall ? expr.args.flatMap(readsIn) : [];
}

/** The position of an expression in a workflow; the step is null for what belongs to the job itself. */
interface Site extends Omit<Place, 'step'> {
  readonly step: StepNode | null;
  readonly scalar: Scalar;
  /** The keys below the step or the job, joined by dots. */
  readonly key: string;
}

function checkExpression(site: Site, text: string): void {
  const { workflow, job, scalar, key } = site;
  const root = parseExpression(text);
  if (root === null) return;
  const isScript = key === 'run' || key === 'with.script';
  const report = (fault: Fault) => workflow.reportIn(scalar, text, fault);
  for (const path of readsIn(root)) {
    const [, , third = 'outputs', name = '*'] = path;
    const step = third === 'outputs' ? stepOf(path, job) : undefined;
    if (step !== undefined && name === '*' && isScript) report(OUTPUT.script('What is read of the step'));
    if (step !== undefined && name !== '*') checkName(name, step, report);
    const read = readOf(path, job, workflow);
    if (isScript && read?.output.kind === 'text') report(OUTPUT.script(read.output.name));
    if (read !== null && read.job !== job && valueAt(read.job.node, 'strategy', 'matrix') !== null)
      report(OUTPUT.ofMatrix(read.output.name, read.job.id));
  }
  const find: Find = (expr) => readOf(pathOf(expr) ?? [], job, workflow);
  for (const { kind, read } of marksIn(root, false, find)) {
    const { name, values, good } = read.output;
    const shown = truncate(text, DISPLAY.excerpt);
    if (kind === 'bare' && key === 'if') report(OUTPUT.bare(shown, name, values));
    if (kind === 'never') report(OUTPUT.neverTrue(shown, name, values));
    if (kind === 'open') report(OUTPUT.failsOpen(shown, name, good, runsWithoutVerdict(site, read)));
  }
}

/** Returns the step of the action that a path names: `steps.ID` in its own job. */
function stepOf([context, id]: Path, { steps }: Job): StepNode | undefined {
  return context === 'steps' ? steps.find((each) => each.part !== null && each.id === id) : undefined;
}

/** A merge has other outputs about how it ended. */
function checkName(name: string, { part, outputs }: StepNode, report: (fault: Fault) => void): void {
  const names = [...(outputs ?? []).map((each) => each.name), ...RUN_NAMES];
  const isSure = part === 'run' && (outputs !== null || name.startsWith('run-'));
  if (isSure && !names.some((each) => each.toLowerCase() === name)) report(OUTPUT.unknown(name, names));
}

interface Read extends Place {
  readonly output: Output;
}

/** Returns the output that a path reads, of a step in the same job or through the outputs of another job. */
function readOf(path: Path, job: Job, workflow: Workflow): Read | null {
  const [context, id, third, name, ...rest] = path;
  if (third !== 'outputs' || rest.length > 0) return null;
  const needed = context === 'needs' ? workflow.jobs.find((each) => each.id === id) : undefined;
  if (needed !== undefined) {
    const declared = entriesOf(valueAt(needed.node, 'outputs'));
    const value = scalarOf(declared.find(([key]) => key.toLowerCase() === name)?.[1]) ?? '';
    const root = parseExpression(/^\s*\$\{\{(.*)\}\}\s*$/su.exec(value)?.[1] ?? '');
    const inner = root === null ? null : pathOf(root);
    return inner?.[0] === 'steps' ? readOf(inner, needed, workflow) : null;
  }
  const step = stepOf(path, job);
  const outputs = [...(step?.outputs ?? [PAYLOAD]), CONCLUSION];
  const output = outputs.find((each) => each.name.toLowerCase() === name);
  return step === undefined || output === undefined ? null : { workflow, job, step, output };
}

/** Returns the output that an expression is; null for any other expression. */
type Find = (expr: ast.Expr) => Read | null;

interface Mark {
  /** It only asks whether there is a text; no value makes it true; it passes without a verdict; it does not. */
  readonly kind: 'bare' | 'never' | 'open' | 'closed';
  readonly read: Read;
}

/** Judges the parts of an expression. Functions are left alone. */
function marksIn(expr: ast.Expr, isNegated: boolean, find: Find): readonly Mark[] {
  const read = find(expr);
  // Whether there is a text at all is a fair question to ask of a text.
  if (read !== null) return read.output.kind === 'text' ? [] : [{ kind: 'bare', read }];
  if (expr instanceof ast.Grouping) return marksIn(expr.group, isNegated, find);
  if (expr instanceof ast.Unary) return marksIn(expr.expr, !isNegated, find);
  if (expr instanceof ast.Binary) return judgeComparison(expr, isNegated, find);
  if (!(expr instanceof ast.Logical)) return [];
  const marks = expr.args.flatMap((each) => marksIn(each, isNegated, find));
  if ((expr.operator.type === TokenType.AND) !== isNegated) {
    // Beside a part that asks for the verdict, it does not matter that another is true without one.
    const isClosed = marks.some(({ kind }) => kind === 'closed');
    return marks.filter(({ kind }) => !isClosed || kind !== 'open');
  }
  // In `x || 'true'` a value that passes takes the place of an empty one.
  const defaults = expr.args.flatMap((each, at): Mark[] => {
    const [before, next] = [find(each), expr.args[at + 1]];
    const passes = next instanceof ast.Literal && next.literal.coerceString() === before?.output.good;
    return before !== null && passes ? [{ kind: 'open', read: before }] : [];
  });
  return [...marks.filter(({ kind }) => kind !== 'closed'), ...defaults];
}

/** Judges a comparison of an output with a literal; any other is left alone. */
function judgeComparison(expr: ast.Binary, isNegated: boolean, find: Find): readonly Mark[] {
  const isLeft = find(expr.left) !== null;
  const read = find(isLeft ? expr.left : expr.right);
  const other = isLeft ? expr.right : expr.left;
  if (read === null || !(other instanceof ast.Literal)) return [];
  const { values, good } = read.output;
  const isText = other.literal instanceof StringData;
  const text = other.literal.coerceString().toLowerCase();
  const operator = expr.operator.lexeme;
  // Beside a number an empty text is 0.
  const isSame = isText ? text === '' : other.literal.number() === 0;
  const isLess = operator.startsWith('<') && isLeft;
  const isTrue = operator === '==' ? isSame : operator === '!=' ? !isSame : isLess;
  if (isText && text === '') return isTrue === isNegated ? [{ kind: 'closed', read }] : [];
  const isListed = isText && values.some((value) => value.toLowerCase() === text);
  const isEquality = operator === (isNegated ? '!=' : '==');
  if (isEquality && values.length > 0 && !isListed) return [{ kind: 'never', read }];
  // `!= 'true'` is true without a verdict too, but asks what does not pass.
  const asksForRed = isText && !isEquality && good?.toLowerCase() === text;
  if (isTrue === isNegated) return [{ kind: 'closed', read }];
  return asksForRed ? [] : [{ kind: 'open', read }];
}

/** Whether the condition is evaluated although the step gave no verdict. */
function runsWithoutVerdict(site: Site, { job, step }: Read): boolean {
  if (isForgiven(step.node) || (site.job !== job && isForgiven(job.node))) return true;
  if (scalarAt(step.node, 'with', 'on-missing-key') === 'skip') return true;
  const condition = scalarAt(site.job === job ? site.step?.node : site.job.node, 'if') ?? '';
  const asksHowItEnded = /\.(?:outcome|conclusion|result)\s*==/iu.test(condition);
  return RUNS_ANYHOW.test(condition) && !asksHowItEnded;
}

function isForgiven(node: Node): boolean {
  return scalarAt(node, 'continue-on-error') === 'true';
}

/** Finds jobs that run after a failed verdict and never ask for it. A merge reads the verdicts from their files. */
function checkRegardless(job: Job, { jobs, report }: Workflow): void {
  if (!RUNS_ANYHOW.test(scalarAt(job.node, 'if') ?? '')) return;
  if (job.steps.some(({ part }) => part === 'merge')) return;
  for (const { id, steps } of jobs) {
    if (!job.needs.includes(id) || steps.every(({ part }) => part === null)) continue;
    const isAsked = [`needs.${id}.`, 'needs.*', 'tojson(needs'].some((part) => mentions(job.node, part));
    if (!isAsked) report(job.node, ['if'], JOB.runsRegardless(id));
  }
}

function checkForgiven({ workflow, job, step }: Place): void {
  const owner = [step.node, job.node].find(isForgiven);
  if (owner === undefined) return;
  const tells = !['never', 'off', null].includes(scalarAt(step.node, 'with', 'comment'));
  const isRead = step.id !== null && mentions(job.node, `steps.${step.id}.out`);
  workflow.report(owner, ['continue-on-error'], JOB.forgiven(isRead || tells));
}
