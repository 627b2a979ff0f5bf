/** The environment variables of the model's commands: an allow-list, never the runner's own environment. */
import { resolve } from 'node:path';
import { SYSTEM_ENVIRONMENT } from './host-program.ts';
import type { SandboxOptions } from './sandbox.ts';

const listWords = (text: string) => new Set(text.split(/\s+/u));
const PLAIN = listWords(`PATH LANG LANGUAGE TZ TERM CI RUNNER_OS RUNNER_ARCH ImageOS ImageVersion
  GITHUB_ACTIONS GITHUB_ACTOR GITHUB_API_URL GITHUB_BASE_REF GITHUB_EVENT_NAME GITHUB_GRAPHQL_URL GITHUB_HEAD_REF
  GITHUB_JOB GITHUB_REF GITHUB_REF_NAME GITHUB_REF_TYPE GITHUB_REPOSITORY GITHUB_REPOSITORY_OWNER GITHUB_RUN_ATTEMPT
  GITHUB_RUN_ID GITHUB_RUN_NUMBER GITHUB_SERVER_URL GITHUB_SHA GITHUB_WORKFLOW GITHUB_WORKSPACE
  RUSTUP_TOOLCHAIN CARGO_HOME LD_LIBRARY_PATH`);
/** Variables that name a folder of programs. */
const TOOLS =
  listWords(`RUNNER_TOOL_CACHE AGENT_TOOLSDIRECTORY ANDROID_HOME ANDROID_SDK_ROOT DOTNET_ROOT GOMODCACHE GOPATH GOROOT GRADLE_HOME M2_HOME MAVEN_HOME
  NVM_DIR PYENV_ROOT RUSTUP_HOME SDKMAN_DIR VOLTA_HOME pythonLocation Python_ROOT_DIR PNPM_HOME`);
const TOOL_FAMILIES = /^(?:JAVA_HOME(?:_\w+)?|GOROOT_\w+)$/u;
const LOCALE = /^LC_[A-Z]+$/u;
const NETWORK =
  listWords(`HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy NODE_EXTRA_CA_CERTS
  SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO`);

/** git refuses a repository of another owner, unless it is named or all are. */
const GIT = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
};

type EnvironmentOptions = Pick<SandboxOptions, 'environment' | 'passEnv' | 'shellNetwork' | 'isSecret'> & {
  /** The private home and `/tmp`, as commands see them. */
  readonly home: string;
  readonly tmp: string;
};

/** Builds the environment of a command, without values that hold a secret, except for proxies with `shell-network`. */
export function buildEnvironment(options: EnvironmentOptions): Readonly<Record<string, string>> {
  const { environment, shellNetwork, isSecret, home, tmp } = options;
  const passed = new Set(options.passEnv);
  const result: Record<string, string> = { LANG: 'C.UTF-8', TERM: 'dumb' };
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) continue;
    const isNetwork = shellNetwork && NETWORK.has(name);
    const isPlain = PLAIN.has(name) || LOCALE.test(name) || isTool(name) || passed.has(name);
    if (isNetwork || (isPlain && !isSecret(value))) result[name] = value;
  }
  return {
    ...result,
    PATH: listPathFolders(environment['PATH']).join(':') || '/usr/local/bin:/usr/bin:/bin',
    HOME: home,
    TMPDIR: tmp,
    ...GIT,
  };
}

/** The environment of our own scripts: nothing of it comes from the user. */
export function scriptEnvironment(tmp: string): Readonly<Record<string, string>> {
  return {
    ...SYSTEM_ENVIRONMENT,
    HOME: '/nonexistent',
    TMPDIR: tmp,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    ...GIT,
  };
}

/** Returns the absolute folders of a PATH; an empty or relative entry would mean the command's current folder. */
export function listPathFolders(path: string | undefined): readonly string[] {
  return (path ?? '').split(':').filter((folder) => folder.startsWith('/'));
}

/** Returns the folders named by toolchain variables, such as the tool cache, an SDK or a JDK. */
export function listToolFolders(environment: SandboxOptions['environment']): readonly string[] {
  const named = Object.entries(environment).filter(([name]) => isTool(name));
  return [...new Set(named.flatMap(([, value]) => (value?.startsWith('/') ? [resolve(value)] : [])))];
}

function isTool(name: string): boolean {
  return TOOLS.has(name) || TOOL_FAMILIES.test(name);
}
