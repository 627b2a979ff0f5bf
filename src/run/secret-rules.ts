/** Whether lines of a file hold a secret, by the rules of secretlint. Loaded for the first finding about a secret only. */
import { lintSource } from '@secretlint/core';
import { secretLintProfiler } from '@secretlint/profiler';
import { rules } from '@secretlint/secretlint-rule-preset-recommend';

// Otherwise each look leaves a hundred marks behind in the process.
secretLintProfiler.setEnabled(false);

/** Lets comments of the file, such as `secretlint-disable-line`, switch the other rules off. */
const COMMENT_FILTER = '@secretlint/secretlint-rule-filter-comments';

const config = {
  rules: rules
    .filter(({ meta }) => meta.id !== COMMENT_FILTER)
    .map((rule) => ({ id: rule.meta.id, rule, options: {} })),
};

/** @param text short: the expressions of the rules are other people's, and none is held to linear time. */
export async function holdsSecret(text: string): Promise<boolean> {
  const { messages } = await lintSource({
    source: { content: text, filePath: 'lines.txt', ext: '.txt', contentType: 'text' },
    options: { config, noPhysicFilePath: true, maskSecrets: true },
  });
  return messages.length > 0;
}
