/** The reporters that write to the results folder, of which the action and the command line have the same. */
import path from 'node:path';
import { createReportPage } from '../commands/report/report-page.ts';
import { writeResultFile } from '../reporters/envelope.ts';
import { createTranscript } from '../reporters/messages.ts';
import { RESULT_FILES } from '../reporters/outputs.ts';
import type { Reporter } from '../reporters/report-types.ts';
import { createSarif, type SarifOptions } from '../reporters/sarif.ts';
import type { JsonObject } from '../types.ts';

export interface ResultFilesOptions extends Omit<SarifOptions, 'file' | 'locate'> {
  readonly results: string;
  readonly workspace: string;
  /** null without a checkout, in which findings could be placed. */
  readonly locate: SarifOptions['locate'] | null;
  readonly isMerge: boolean;
  /** Returns the signature of an envelope. */
  readonly sign?: ((whole: JsonObject) => string) | null;
}

export function createResultFiles(options: ResultFilesOptions): readonly Reporter[] {
  const { results, workspace, locate, isMerge, version, secrets, sign } = options;
  const file = (name: keyof typeof RESULT_FILES) => path.join(results, RESULT_FILES[name]);
  const messages = { version, cwd: workspace, mask: secrets.mask };
  // Without an agent there is no conversation to write down.
  const ofRun = [
    createTranscript(file('transcript'), messages),
    createReportPage({ file: file('page'), secrets, ...messages }),
  ];
  return [
    { name: 'envelope', publish: (report) => writeResultFile(report, secrets, sign) },
    ...(isMerge ? [] : ofRun),
    ...(locate === null ? [] : [createSarif({ ...options, file: file('sarif'), locate })]),
  ];
}
