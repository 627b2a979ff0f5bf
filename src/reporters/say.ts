/** How a report in Markdown says a text that is not its own. */

import { cleanText } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';
import { cell, code, inline, prose } from './markdown.ts';

/** Text of the model, of the repository or of an error, without secrets and inert; `max` counts characters. */
export interface Say {
  inline(text: string, max?: number): string;
  /** One line, in which what stands between backticks is code. */
  prose(text: string, max?: number): string;
  /** One line that is code as a whole. */
  code(text: string, max?: number): string;
  cell(text: string, max?: number): string;
  /** Whether a text holds a secret; what is no text to read, such as an address, is left out then. */
  holdsSecret(text: string): boolean;
}

/** Secrets are masked before escaping would hide them, and again where cleaning joined what something invisible split. */
export function createSay(secrets: Secrets): Say {
  const masked = (text: string) => secrets.mask(cleanText(secrets.mask(text)));
  return {
    inline: (text, max) => inline(masked(text), max),
    prose: (text, max) => prose(masked(text), max),
    code: (text, max) => code(masked(text), max),
    cell: (text, max) => cell(masked(text), max),
    holdsSecret: (text) => secrets.mask(text) !== text,
  };
}
