/** The limits that several files share, and those of GitHub. A limit that is used in one file is a constant there. */

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
  /** Clauses, issues and values. */
  several: 10,
  /** Lines and problems, one below the other. */
  many: 20,
} as const;

/** How many bytes are read of files and responses. */
export const READ = {
  /** A schema, a gate, or a prompt: its parser cannot be interrupted. */
  policy: 4 * MIB,
  /** HEAD, a ref, or a file that names a git folder: each holds one path or hash. */
  pointer: 64 * KIB,
  /** git's list of the files of the workspace, enough for about half a million. */
  fileList: 64 * MIB,
  /** The patch of what the agent changed, which is searched for secrets in memory. */
  patch: 32 * MIB,
} as const;

/** Lengths that the schema of the envelope gives, in UTF-16 code units. */
export const WIRE = {
  /** The path of a finding, in `evidence.findings` of the envelope. */
  findingPath: 4_096,
} as const;

/** How much of the files is looked at for evidence. */
export const EVIDENCE = {
  /** Bytes of a file in which quotes are looked up. */
  sourceFile: MIB,
} as const;

/** How long something may take, in milliseconds. */
export const WAIT = {
  /** A validation, with what it awaits: a pattern may take exponential time. */
  validation: 1_000,
  /** The compilation of a schema: large ones are slow, and ones that never finish are refused. */
  compilation: 3_000,
  /** A helper program of the host. */
  helper: 5_000,
  /** git, in the sandbox: a list of all files or a diff. */
  git: 60_000,
  /** The mounts of `unshare`, with a copy of the checkout if no overlay can be mounted. */
  mounts: 300_000,
  /** The end of a sandbox, with the removal of what the agent wrote. */
  sandboxEnd: 5_000,
  /** The search for git folders in a checkout, on a slow disk. */
  gitFolders: 30_000,
  /** A copy of the checkout, if no overlay can be mounted. */
  copy: 300_000,
  /** The self-test of a sandbox. */
  selfTest: 15_000,
  /** A tool that reads or writes a file. */
  fileTool: 30_000,
  /** Between two attempts to kill a command that is just starting. */
  killAgain: 100,
  /** The snapshot of the workspace before the agent's first command. */
  firstSnapshot: 30_000,
  /** The snapshot at the end, which comes after the run's time limit. */
  lastSnapshot: 10_000,
} as const;

/** Lengths and depths of JSON texts. */
export const JSON_TEXT = {
  /** A call's argument text, in UTF-16 code units: its parsers cannot be interrupted. */
  arguments: 2 * MIB,
  /** The name of a call, which is searched for secrets in every sink. */
  callName: 4 * KIB,
  /** Nested arrays and objects of any text. Deeper ones are refused, so that later recursion is safe. */
  depth: 500,
  /**
   * The same for a payload. The envelope holds it one level down and must itself be readable; parsers in other languages
   * also stop early, many between 100 and 500 levels.
   */
  payloadDepth: 100,
} as const;

/** The minimum length of secrets, in characters. */
export const SECRET = {
  /** A value that is masked: shorter ones would mask ordinary words, and the gaps would reveal them. */
  masked: 4,
} as const;

/** What GitHub and its runner accept, or what we publish of it. */
export const GITHUB = {
  /** Bytes of the step summary; the runner rejects a larger one entirely. */
  summary: MIB,
  /**
   * Bytes of a comment without its marker and note. GitHub accepts 65,536 characters, and a text never has fewer bytes
   * in UTF-8, however characters are counted.
   */
  comment: 64_000,
  /** Characters of the description of a commit status. */
  statusDescription: 140,
  /** Bytes of a job output. */
  output: MIB,
  /**
   * Annotations that the runner keeps per level and step (`_maxCountPerIssueType`); the rest appear only in the log.
   * GitHub keeps 50 per job, so a job with many steps may show fewer.
   */
  annotations: 10,
  /** Results of a SARIF log: GitHub rejects more than 25,000 and processes the 5,000 most severe. */
  sarifResults: 5_000,
  /** Bytes of a SARIF log. GitHub accepts 10 MB compressed, and a hostile text may be incompressible. */
  sarif: 9_000_000,
  /** Files that are listed for a pull request. */
  changedFiles: 3_000,
  /** Characters of the description of a pull request. */
  body: 65_536,
  /** Characters of the diff of a pull request; bytes where git makes it. */
  diff: 4_000_000,
} as const;

/** What a merge accepts. */
export const MERGE = {
  /** Characters of the name of a leg or a vote. */
  name: 200,
  /** Findings of one run, and of the merge; more than a reader would go through. */
  findings: 200,
} as const;

/** The tools of the agent. */
export const TOOL = {
  /** Bytes of a command's output that are kept in a file. */
  spill: 64 * MIB,
} as const;
