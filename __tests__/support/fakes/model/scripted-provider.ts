import type { Completion, CompletionRequest, Provider } from '../../../../src/providers/provider.ts';
import type { StopReason, ToolCall, Usage } from '../../../../src/types.ts';

/** One response of a scripted model. */
export interface Answer {
  readonly text?: string;
  readonly calls?: readonly Partial<ToolCall>[];
  readonly stopReason?: StopReason;
  readonly usage?: Usage | null;
}

export type Script =
  | readonly Answer[]
  | ((request: CompletionRequest, index: number) => Answer | Promise<Answer>);

/** A provider that responds from a list (repeating the last entry) or with a function, and records its requests. */
export function scriptedProvider(script: Script) {
  const requests: CompletionRequest[] = [];
  const answer = (request: CompletionRequest, at: number) =>
    typeof script === 'function' ? script(request, at) : (script[at] ?? script.at(-1) ?? {});
  const provider: Provider = {
    name: 'openai-compatible',
    model: 'scripted',
    async complete(request): Promise<Completion> {
      const index = requests.push(request) - 1;
      const { text = '', calls = [], stopReason, usage = USAGE } = await answer(request, index);
      return {
        message: {
          role: 'assistant',
          text,
          toolCalls: calls.map((call, at) => ({ ...EMPTY, id: `call_${index}_${at}`, ...call })),
          native: { index },
        },
        stopReason: stopReason ?? (calls.length === 0 ? 'end' : 'tool_calls'),
        usage,
        model: 'scripted',
      };
    },
  };
  return { ...provider, requests: requests as readonly CompletionRequest[] };
}

const USAGE: Usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 0 };
const EMPTY: ToolCall = { id: '', name: '', rawArguments: '{}', status: 'complete' };

/** A call of `structured_output` with these arguments. */
export function submit(payload: unknown): Partial<ToolCall> {
  return { name: 'structured_output', rawArguments: JSON.stringify(payload) };
}

/** A call of a tool. */
export function call(name: string, args: unknown): Partial<ToolCall> {
  return { name, rawArguments: JSON.stringify(args) };
}
