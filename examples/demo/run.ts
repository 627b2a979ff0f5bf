/**
 * `npm run demo`: the committed bundle, run twice as the runner would, on a small repository with a failing test. A scripted
 * model on this machine answers, so it needs no key and no network. It ends with 0 if both runs ended as expected.
 */
import { startModel } from '../../__tests__/support/fakes/model/server.ts';
import { type Edit, hasBubblewrap, MEND, runDemo, TASK } from './demo.ts';
import { answer } from './model.ts';

interface Scene {
  readonly title: string;
  readonly edits: readonly Edit[];
  readonly exitCode: 0 | 1;
  readonly meaning: string;
}

const SCENES: readonly Scene[] = [
  {
    title: 'The repository as it is: one test fails',
    edits: [],
    exitCode: 1,
    meaning: 'the gate is not met, the step is red',
  },
  {
    title: 'The same repository with the bug mended',
    edits: [MEND],
    exitCode: 0,
    meaning: 'the gate is met, the step is green',
  },
];

const say = (text: string) => console.log(text);
const rule = (text: string) => say(`\n── ${text} ${'─'.repeat(Math.max(0, 96 - text.length))}`);

const model = await startModel(answer);
const inputs = { provider: 'openai-compatible', model: 'scripted-model', 'base-url': `${model.url}/v1` };
say(`task     ${TASK.prompt}`);
say(`answer   a JSON object that satisfies ${TASK.schema.slice(1)}; nothing else counts`);
say(`gate     ${TASK.gate} must be true, or the step is red`);
say('model    a scripted model on this machine: no key, no network');
say(`sandbox  ${hasBubblewrap() ? 'bubblewrap' : 'off, because bubblewrap does not work here'}`);
for (const scene of SCENES) if (!(await play(scene))) process.exitCode = 1;
await model.close();
say(process.exitCode === 1 ? '\nThe demo did not end as expected.' : '\nBoth runs ended as expected.');

async function play(scene: Scene): Promise<boolean> {
  rule(scene.title);
  const result = await runDemo({ edits: scene.edits, inputs, onLine: showLine });
  rule('step outputs');
  for (const [name, value] of result.outputs) say(`${name.padEnd(24)} ${value}`);
  rule('job summary (the Markdown that GitHub renders)');
  say(result.summary.trimEnd());
  rule('verdict');
  const isExpected = result.exitCode === scene.exitCode;
  if (isExpected) say(`exit code ${scene.exitCode}: ${scene.meaning}, as expected.`);
  else say(`exit code ${result.exitCode}, expected was ${scene.exitCode}.`);
  say(result.isClean ? 'The checkout is clean: not one file of it changed.' : 'The checkout was changed.');
  return isExpected && result.isClean;
}

/** Shows a line of the log as GitHub's page would: without what only the runner reads. */
function showLine(line: string): void {
  const [, command, text = ''] = /^::([a-z0-9-]+)(?: [^:]*)?::(.*)$/u.exec(line) ?? [];
  if (command === undefined) say(line);
  else if (command === 'group') say(`▼ ${text}`);
  else if (['error', 'warning', 'notice'].includes(command))
    say(`${command}: ${text.replaceAll('%0A', '\n')}`);
}
