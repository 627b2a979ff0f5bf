/** Which variables a command of the model gets: an allow-list, never the runner's own. */
import { posix, resolve } from 'node:path';
import { isInside } from '../workspace/path-policy.ts';

/** What a child's environment is made from. */
interface EnvironmentOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly passEnv: readonly string[];
  readonly shellNetwork: boolean;
  /** Whether a value is a secret or holds one. */
  readonly isSecret: (value: string) => boolean;
  /** The private /tmp as the command sees it; HOME lies in it. */
  readonly tmp: string;
  /** git refuses a repository of another owner unless it is named safe. */
  readonly workspace: string;
}

/** The folder of the private home, below the private /tmp. */
export const PRIVATE_HOME = '.home';

const PLAIN = new Set(
  `PATH LANG LANGUAGE TZ TERM CI RUNNER_OS RUNNER_ARCH ImageOS ImageVersion
  GITHUB_ACTIONS GITHUB_ACTOR GITHUB_API_URL GITHUB_BASE_REF GITHUB_EVENT_NAME GITHUB_GRAPHQL_URL GITHUB_HEAD_REF
  GITHUB_JOB GITHUB_REF GITHUB_REF_NAME GITHUB_REF_TYPE GITHUB_REPOSITORY GITHUB_REPOSITORY_OWNER GITHUB_RUN_ATTEMPT
  GITHUB_RUN_ID GITHUB_RUN_NUMBER GITHUB_SERVER_URL GITHUB_SHA GITHUB_WORKFLOW GITHUB_WORKSPACE
  RUSTUP_TOOLCHAIN LD_LIBRARY_PATH`.split(/\s+/u),
);
/** Variables that name a folder of programs, which commands see. */
const TOOLS = new Set(
  `RUNNER_TOOL_CACHE AGENT_TOOLSDIRECTORY ANDROID_HOME ANDROID_SDK_ROOT DOTNET_ROOT GOROOT GRADLE_HOME M2_HOME MAVEN_HOME
  NVM_DIR PYENV_ROOT RUSTUP_HOME SDKMAN_DIR VOLTA_HOME pythonLocation Python_ROOT_DIR`.split(/\s+/u),
);
const TOOL_FAMILIES = /^(?:JAVA_HOME(?:_\w+)?|GOROOT_\w+)$/u;
const FAMILIES = /^LC_[A-Z]+$/u;
const NETWORK = new Set(
  `HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy NODE_EXTRA_CA_CERTS
  SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO`.split(/\s+/u),
);
const NEVER =
  /^(?:INPUT_.*|ACTIONS_.*|STRUCTURED_AGENT_.*|GITHUB_(?:TOKEN|OUTPUT|ENV|PATH|STATE|STEP_SUMMARY)|RUNNER_TEMP|HOME|TMPDIR)$/iu;

/** Whether a variable may be named in `pass-env` at all: never the runner's inputs, tokens and file-command paths. */
export function isPassable(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/u.test(name) && !NEVER.test(name);
}

/**
 * The proxy variables that hold a user name or a password. With `shell-network` commands get them all the same: the proxy
 * lets nothing through without, and whoever has that network has what they open.
 */
export function openProxies(environment: EnvironmentOptions['environment']): readonly string[] {
  return [...NETWORK].filter(
    (name) => /_proxy$/iu.test(name) && !/^no/iu.test(name) && (environment[name] ?? '').includes('@'),
  );
}

/**
 * The whole environment of a command; a value that holds a secret is left out under whatever name, but for the proxy's
 * own with `shell-network`.
 */
export function buildEnvironment(options: EnvironmentOptions): Readonly<Record<string, string>> {
  const { environment, shellNetwork, isSecret, tmp, workspace } = options;
  const passed = new Set(options.passEnv.filter(isPassable));
  const result: Record<string, string> = {
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    ...toolchains(environment['PATH']),
  };
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) continue;
    const network = shellNetwork && NETWORK.has(name);
    const plain = PLAIN.has(name) || FAMILIES.test(name) || isTool(name) || passed.has(name);
    if (network || (plain && !isSecret(value))) result[name] = value;
  }
  const privateHome = `${tmp}/${PRIVATE_HOME}`;
  return {
    ...result,
    PATH: absoluteFolders(environment['PATH']),
    HOME: privateHome,
    TMPDIR: tmp,
    // Not /dev/null: as root without a sandbox, `git config --global` would replace the device by a file.
    GIT_CONFIG_GLOBAL: `${privateHome}/.gitconfig`,
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: workspace,
  };
}

/** The folders of a PATH; an empty or relative one would mean whatever folder a command happens to stand in. */
export function pathFolders(path: string | undefined): readonly string[] {
  return (path ?? '').split(':').filter((folder) => folder.startsWith('/'));
}

/** The folders that variables of toolchains name: the tool cache, an SDK, a JDK. */
export function toolFolders(environment: EnvironmentOptions['environment']): readonly string[] {
  const named = Object.entries(environment).filter(([name]) => isTool(name));
  return [...new Set(named.flatMap(([, value]) => (value?.startsWith('/') ? [resolve(value)] : [])))];
}

function isTool(name: string): boolean {
  return TOOLS.has(name) || TOOL_FAMILIES.test(name);
}

function absoluteFolders(path: string | undefined): string {
  return pathFolders(path).join(':') || '/usr/local/bin:/usr/bin:/bin';
}

/** rustup and pyenv look for themselves in HOME, which is another one here. */
function toolchains(path: string | undefined): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const folder of pathFolders(path)) {
    const match = /^(.+)\/\.(?:(cargo)\/bin$|(pyenv)\/)/su.exec(folder);
    if (match?.[2] !== undefined) found['RUSTUP_HOME'] ??= `${match[1]}/.rustup`;
    if (match?.[3] !== undefined) found['PYENV_ROOT'] ??= `${match[1]}/.pyenv`;
  }
  return found;
}

/** What a command is given of the step's variables. */
interface PreloadOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly passEnv: readonly string[];
  /** Absolute. */
  readonly workspace: string;
}

/** Read by the dynamic linker (ld.so(8), dyld(1)) and by shells as they start (bash(1), POSIX sh). */
const PRELOAD = /^(?:(?:LD|DYLD)_\w+|BASH_ENV|ENV)$/u;

/**
 * The first variable by which files of the workspace come into every program that a command starts: whoever changes those
 * files chooses what git answers. null where there is none.
 */
export function findPreloadVariable({ environment, passEnv, workspace }: PreloadOptions): string | null {
  // The only one of them that commands get unasked.
  const names = ['LD_LIBRARY_PATH', ...passEnv.filter((name) => PRELOAD.test(name))];
  const fromHere = (place: string) => !place.startsWith('/') || isInside(posix.resolve(place), workspace);
  return names.find((name) => foldersIn(environment[name] ?? '').some(fromHere)) ?? null;
}

/** An empty place between two others is the folder in which the program stands. */
function foldersIn(value: string): readonly string[] {
  return value === '' ? [] : value.split(/[:; ]/u);
}
