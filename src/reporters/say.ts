/** How a report in Markdown says a text that is not its own. */
import type { Secrets } from '../secrets.ts';
import { cell, inline } from './markdown.ts';
import { cleanText } from './text.ts';

/** Text of the model, of the repository or of an error, without secrets and inert; `max` counts characters. */
export interface Say {
  inline(text: string, max?: number): string;
  cell(text: string, max?: number): string;
}

/** Secrets are masked before escaping would hide them, and again where cleaning joined what something invisible split. */
export function createSay(secrets: Secrets): Say {
  const masked = (text: string) => secrets.mask(cleanText(secrets.mask(text)));
  return {
    inline: (text, max) => inline(masked(text), max),
    cell: (text, max) => cell(masked(text), max),
  };
}
