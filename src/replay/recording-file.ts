/** The file of `--record`: one JSON object a line, each on disk as soon as it is known. */
import { openPrivateLog } from '../files/private-file.ts';

/**
 * Appends lines to a file that only its owner reads. What stood there is replaced with the first line, not before: a run
 * that never came to a model leaves an older recording alone. `append` throws a ReportError or the file system's error.
 * @param file absolute, its folder's path real.
 */
export function createRecordingFile(file: string): { file: string; append: (line: string) => void } {
  let append: ((line: string) => void) | null = null;
  return {
    file,
    append(line) {
      append ??= openPrivateLog(file);
      append(line);
    },
  };
}
