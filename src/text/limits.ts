/** The limits that several files share, those of JSON texts, and those of GitHub. Others are beside their only use. */

const KIB = 1024;
const MIB = 1024 * KIB;

/** How much of a text is shown to people, in UTF-16 code units. */
export const DISPLAY = {
  /** A tool or model in a line that says more than its name. */
  label: 60,
  /** A leg, or a value of an input that is quoted in a sentence. */
  name: 80,
  /** A property or a JSON value. */
  value: 100,
  /** What a tool call or an expression is about: a command's beginning tells which it is. */
  excerpt: 120,
  /** A title, a JSON Pointer, or the beginning of what a model wrote. */
  phrase: 200,
  /** A sentence of a server, a parser or a validator. */
  sentence: 300,
  /** A path in a sentence. */
  path: 300,
  /** Why something failed. Escaped, a character may take six, and a comment has little room. */
  reason: 500,
  /** A cell of a table. */
  cell: 1_000,
  /** A line of the log or the terminal. */
  line: 2_000,
  /** A message; the runner truncates an annotation at 4,096 characters. */
  message: 4_000,
  /** A path that must stay whole, because a truncated one would name another file. Linux accepts no longer one. */
  wholePath: 4_096,
  /** What is sanitized of a text of which only thousands of characters are shown: megabytes would take seconds. */
  sanitized: 64 * KIB,
  /** A prompt or the output of a tool; tools return less to the model. */
  block: MIB,
} as const;

/** How many entries of a list are shown; the rest are counted. */
export const LISTED = {
  /** Paths or legs in a clause. */
  few: 3,
  /** Files, legs or names in a sentence. */
  some: 5,
  /** Lines and problems, one below the other. */
  many: 20,
} as const;

/** How many bytes are read of files and responses. */
export const READ = {
  /** A schema, a gate, or a prompt: its parser cannot be interrupted. */
  policy: 4 * MIB,
  /** HEAD, a ref, or a file that names a git folder: each holds one path or hash. */
  pointer: 64 * KIB,
} as const;

/** Depths of JSON texts. */
export const JSON_TEXT = {
  /** Nested arrays and objects of any text. Deeper ones are refused, so that later recursion is safe. */
  depth: 500,
  /** The same for a payload: parsers in other languages also stop early, many between 100 and 500 levels. */
  payloadDepth: 100,
} as const;

/** What GitHub and its runner accept, or what we publish of it. */
export const GITHUB = {
  /** Files that are listed for a pull request. */
  changedFiles: 3_000,
  /** Characters of the diff of a pull request; bytes where git makes it. */
  diff: 4_000_000,
} as const;
