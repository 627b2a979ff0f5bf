/** Coverage as it is in the envelope: written, and read back from files of other jobs. */
import type { Coverage, Json, JsonObject, NotRequired, UnseenFile } from '../types.ts';
import { findObject, readCount, readObject, readObjects, readText } from './json-fields.ts';
import { WIRE } from './limits.ts';
import { truncate } from './messages.ts';

/** Files in each list of `evidence.coverage`: an envelope holds some hundred kilobytes of paths at most. */
const MAX_FILES = 200;
/** Characters of `evidence.coverage.why`. */
const MAX_WHY = 500;

/** The counts of a coverage, without its lists of files. */
export interface CoverageCounts {
  readonly status: Coverage['status'];
  readonly files: Pick<Coverage['files'], 'required' | 'shown'>;
}

export const COVERAGE_STATUSES: Readonly<Record<Coverage['status'], true>> = {
  measured: true,
  partial: true,
  unknown: true,
};

export const NOT_REQUIRED: Readonly<Record<NotRequired, true>> = {
  lock_file: true,
  binary: true,
  generated: true,
  vendored: true,
  outside_working_directory: true,
};

/** Returns a coverage as `evidence.coverage` of the envelope; paths are masked, and cut to the schema's length. */
export function coverageJson({ status, why, files }: Coverage, mask: (text: string) => string): Json {
  const { changed, required, shown, unseen, notRequired } = files;
  const cut = (text: string) => truncate(mask(text), WIRE.findingPath);
  return {
    status,
    why: why === null ? null : truncate(mask(why), MAX_WHY),
    files: {
      changed,
      required,
      shown,
      unseen: unseen.slice(0, MAX_FILES).map(({ path, hunks, shownHunks }) => ({
        path: cut(path),
        hunks,
        shown_hunks: shownHunks,
      })),
      not_required: notRequired.slice(0, MAX_FILES).map(({ path, why }) => ({ path: cut(path), why })),
    },
  };
}

/**
 * Reads `coverage` of the evidence in an envelope, whose strings are hostile; undefined if it is absent, null or not of
 * the documented form. Whether the counts fit each other is for `hasPlausibleCounts`.
 */
export function readCoverage(evidence: JsonObject): Coverage | undefined {
  const value = findObject(evidence, 'coverage');
  const status = value === null ? null : readText(value, 'status');
  if (value === null || status === null || !isStatus(status)) return undefined;
  const files = readObject(value, 'files');
  const changed = readInteger(files, 'changed');
  const required = readInteger(files, 'required');
  const shown = readInteger(files, 'shown');
  if (changed === null || required === null || shown === null) return undefined;
  const why = readText(value, 'why');
  return {
    status,
    why: why === null ? null : truncate(why, MAX_WHY),
    files: {
      changed,
      required,
      shown,
      unseen: readObjects(files, 'unseen').slice(0, MAX_FILES).flatMap(readUnseen),
      notRequired: readObjects(files, 'not_required').slice(0, MAX_FILES).flatMap(readNotRequired),
    },
  };
}

/** Whether no count is larger than the one that it is a part of. Envelopes of this program always are so. */
export function hasPlausibleCounts({ files }: Coverage): boolean {
  const { changed, required, shown, unseen, notRequired } = files;
  return (
    shown <= required &&
    required <= changed &&
    unseen.length <= required - shown &&
    notRequired.length <= changed - required &&
    unseen.every(({ hunks, shownHunks }) => shownHunks <= hunks)
  );
}

function readUnseen(file: JsonObject): readonly UnseenFile[] {
  const path = readText(file, 'path');
  const [hunks, shownHunks] = [readInteger(file, 'hunks'), readInteger(file, 'shown_hunks')];
  return path === null || hunks === null || shownHunks === null
    ? []
    : [{ path: truncate(path, WIRE.findingPath), hunks, shownHunks }];
}

function readNotRequired(file: JsonObject): Coverage['files']['notRequired'] {
  const [path, why] = [readText(file, 'path'), readText(file, 'why')];
  return path === null || why === null || !isNotRequired(why)
    ? []
    : [{ path: truncate(path, WIRE.findingPath), why }];
}

function readInteger(object: JsonObject, name: string): number | null {
  const count = readCount(object, name);
  return Number.isInteger(count) ? count : null;
}

function isStatus(word: string): word is Coverage['status'] {
  return Object.hasOwn(COVERAGE_STATUSES, word);
}

function isNotRequired(word: string): word is NotRequired {
  return Object.hasOwn(NOT_REQUIRED, word);
}
