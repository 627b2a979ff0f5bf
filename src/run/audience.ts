/** The reporters of a run, which are loaded while the model answers. */
import { messageOf } from '../errors.ts';
import type { Reporter, RunEvent } from '../reporters/report-types.ts';
import { once } from '../text/wait.ts';

/** Those who hear of the events of a run. */
export interface Audience {
  /** Tells the reporters of an event, once they have been opened. */
  tell(event: RunEvent): void;
  notice(level: 'info' | 'warning', text: string): void;
  /** Opens the reporters and tells them what has happened so far. */
  readonly open: () => Promise<readonly Reporter[]>;
}

/** @param warn called if a reporter fails on an event. */
export function createAudience(
  openReporters: () => Promise<readonly Reporter[]>,
  warn: (text: string) => void,
): Audience {
  const unheard: RunEvent[] = [];
  let reporters: readonly Reporter[] | null = null;
  const tell = (event: RunEvent) => {
    if (reporters === null) unheard.push(event);
    for (const reporter of reporters ?? []) {
      try {
        reporter.event?.(event);
      } catch (error) {
        // It has a bug, which must not end the run.
        warn(`${reporter.name}: ${messageOf(error)}`);
      }
    }
  };
  const open = once(async () => {
    reporters = await openReporters();
    for (const event of unheard) tell(event);
    return reporters;
  });
  return { tell, notice: (level, text) => tell({ type: 'notice', level, text }), open };
}
