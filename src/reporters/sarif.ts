/** Findings as SARIF 2.1.0: for code scanning, which keeps them as alerts over time, and for any other tool. */

import { realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ReportError } from '../errors.ts';
import { counted } from '../text/messages.ts';
import type { Secrets } from '../text/secrets.ts';
import type { Locate } from './places.ts';
import { writePrivateFile } from './private-file.ts';
import type { Report, Reporter } from './report-types.ts';
import { locateByEvidence } from './resolved-paths.ts';
import { alertsOf } from './sarif-alerts.ts';
import { type SarifFacts, sarifLog } from './sarif-log.ts';

/** The world of a SARIF file. */
export interface SarifOptions extends SarifFacts {
  /** Absolute, its folder's path real. */
  readonly file: string;
  /** null where the repository is not checked out, so that no finding can be placed. */
  readonly locate: Locate | null;
  readonly secrets: Secrets;
  /** Says one plain line in the log. */
  readonly tell: (text: string) => void;
}

const NO_CHECKOUT =
  'No SARIF was written: the repository is not checked out in this job, so that no finding can be placed in it. Add actions/checkout before this step.';

/**
 * Writes the findings of a published payload, readable for its owner only, whole or not at all. Where no payload is
 * published nothing is written, and what stands at the place is taken away, first when the run begins: code scanning
 * closes every alert that an upload does not name, so that a run that judged nothing must leave nothing to upload.
 * (`executionSuccessful: false` is no way out: not every server refuses such a file.) For the same reason nothing is
 * written where no finding could be placed for want of a checkout. `report` rejects with a ReportError then, and when
 * the file cannot be written.
 */
export function createSarif(options: SarifOptions): Reporter {
  const { file, secrets, locate, tell } = options;
  return {
    name: 'sarif-file',
    retold: true,
    event(event) {
      if (event.type === 'run_started') removeFile(file);
    },
    async report(report: Report) {
      removeFile(file);
      if (report.payload === null) {
        tell('No SARIF was written: no payload was published.');
        return;
      }
      if (locate === null) throw new ReportError(NO_CHECKOUT);
      const found = alertsOf(report.payload, locateByEvidence(report, locate), secrets, report);
      const { text, results } = sarifLog(report, found, options);
      try {
        writePrivateFile(file, text);
      } catch (cause) {
        throw problem(file, 'written', cause);
      }
      const lost = found.findings - found.placed;
      const rest =
        lost === 0 ? '' : ` ${counted(lost, 'finding')} without a file of the repository left out.`;
      tell(`SARIF: ${counted(results, 'result')} in ${file}.${rest}${report.view?.sarifNote ?? ''}`);
    },
  };
}

/** @throws ReportError where something stands there that cannot be removed, or a link leads to it. */
function removeFile(file: string): void {
  try {
    const folder = path.dirname(file);
    if (realpathSync.native(folder) !== folder) throw new ReportError(`${folder} leads through a link`);
    rmSync(file, { force: true });
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return;
    throw problem(file, 'removed', cause);
  }
}

function problem(file: string, what: string, cause: unknown): ReportError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ReportError(`${file} could not be ${what}: ${why}`, { cause });
}
