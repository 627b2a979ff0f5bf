/** The file of `--record`: one JSON object per line, each written as soon as it is known. */
import { openPrivateLog } from '../files/private-file.ts';

/**
 * Appends lines to a file that is readable only by its owner. An existing file is replaced when the first line is
 * written, not earlier, so that a run that never called a model leaves an older recording alone. `append` throws
 * an Error about a link, or a file system error.
 * @param file absolute path, whose folder is a real path.
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
