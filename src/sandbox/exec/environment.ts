/** The environment variables of the model's commands: an allow-list, never the runner's own environment. */
import { posix, resolve } from 'node:path';
import { isInside } from '../workspace/path-policy.ts';

interface EnvironmentOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names that the configuration has checked. */
  readonly passEnv: readonly string[];
  readonly shellNetwork: boolean;
  /** Returns whether a value is or contains a secret. */
  readonly isSecret: (value: string) => boolean;
  /** The private /tmp as commands see it; HOME is inside it. */
  readonly tmp: string;
  /** git refuses a repository of another owner unless it is listed in `safe.directory`. */
  readonly workspace: string;
}

/** The folder of the private home, relative to the private /tmp. */
export const PRIVATE_HOME = '.home';

const PLAIN = new Set(
  `PATH LANG LANGUAGE TZ TERM CI RUNNER_OS RUNNER_ARCH ImageOS ImageVersion
  GITHUB_ACTIONS GITHUB_ACTOR GITHUB_API_URL GITHUB_BASE_REF GITHUB_EVENT_NAME GITHUB_GRAPHQL_URL GITHUB_HEAD_REF
  GITHUB_JOB GITHUB_REF GITHUB_REF_NAME GITHUB_REF_TYPE GITHUB_REPOSITORY GITHUB_REPOSITORY_OWNER GITHUB_RUN_ATTEMPT
  GITHUB_RUN_ID GITHUB_RUN_NUMBER GITHUB_SERVER_URL GITHUB_SHA GITHUB_WORKFLOW GITHUB_WORKSPACE
  RUSTUP_TOOLCHAIN LD_LIBRARY_PATH`.split(/\s+/u),
);
/** Variables that name a folder of programs which commands can see. */
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
/**
 * Returns the proxy variables that contain a user name or a password. With `shell-network`, commands receive them
 * anyway: the proxy accepts no request without them, and anyone with access to that network has what they grant.
 */
export function openProxies(environment: EnvironmentOptions['environment']): readonly string[] {
  return [...NETWORK].filter(
    (name) => /_proxy$/iu.test(name) && !/^no/iu.test(name) && (environment[name] ?? '').includes('@'),
  );
}

/**
 * Builds the complete environment of a command. Leaves out any variable whose value contains a secret, except for the
 * proxy variables with `shell-network`.
 */
export function buildEnvironment(options: EnvironmentOptions): Readonly<Record<string, string>> {
  const { environment, shellNetwork, isSecret, tmp, workspace } = options;
  const passed = new Set(options.passEnv);
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
    PATH: pathFolders(environment['PATH']).join(':') || '/usr/local/bin:/usr/bin:/bin',
    HOME: privateHome,
    TMPDIR: tmp,
    // Not /dev/null: as root without a sandbox, `git config --global` would replace the device with a file.
    GIT_CONFIG_GLOBAL: `${privateHome}/.gitconfig`,
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: workspace,
  };
}

/** Returns the absolute folders of a PATH; an empty or relative entry would mean the command's current folder. */
export function pathFolders(path: string | undefined): readonly string[] {
  return (path ?? '').split(':').filter((folder) => folder.startsWith('/'));
}

/** Returns the folders named by toolchain variables, such as the tool cache, an SDK or a JDK. */
export function toolFolders(environment: EnvironmentOptions['environment']): readonly string[] {
  const named = Object.entries(environment).filter(([name]) => isTool(name));
  return [...new Set(named.flatMap(([, value]) => (value?.startsWith('/') ? [resolve(value)] : [])))];
}

function isTool(name: string): boolean {
  return TOOLS.has(name) || TOOL_FAMILIES.test(name);
}

/** rustup and pyenv look for their own files in HOME, which is a different folder here. */
function toolchains(path: string | undefined): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const folder of pathFolders(path)) {
    const match = /^(.+)\/\.(?:(cargo)\/bin$|(pyenv)\/)/su.exec(folder);
    if (match?.[2] !== undefined) found['RUSTUP_HOME'] ??= `${match[1]}/.rustup`;
    if (match?.[3] !== undefined) found['PYENV_ROOT'] ??= `${match[1]}/.pyenv`;
  }
  return found;
}

interface PreloadOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names that the configuration has checked. */
  readonly passEnv: readonly string[];
  /** An absolute path. */
  readonly workspace: string;
}

/** Variables read by the dynamic linker (ld.so(8), dyld(1)) and by shells on startup (bash(1), POSIX sh). */
const PRELOAD = /^(?:(?:LD|DYLD)_\w+|BASH_ENV|ENV)$/u;

/**
 * Returns the name of the first variable that loads files from the workspace into every program that a command starts,
 * or null. Anyone who changes those files controls the output of git.
 */
export function findPreloadVariable({ environment, passEnv, workspace }: PreloadOptions): string | null {
  // The only one of these variables that commands receive by default.
  const names = ['LD_LIBRARY_PATH', ...passEnv.filter((name) => PRELOAD.test(name))];
  const fromHere = (place: string) => !place.startsWith('/') || isInside(posix.resolve(place), workspace);
  return names.find((name) => foldersIn(environment[name] ?? '').some(fromHere)) ?? null;
}

/** Splits a search path. An empty entry means the current folder of the program. */
function foldersIn(value: string): readonly string[] {
  return value === '' ? [] : value.split(/[:; ]/u);
}
