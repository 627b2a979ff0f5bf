/** Finds out, without looking at the workspace, how commands can be isolated on this machine. */
import { SandboxError } from '../errors.ts';
import { probeBwrap } from './bwrap.ts';
import { findProgram, runOnHost } from './host-program.ts';
import { describeBroken, describeMissing, describeOtherSystem, isContainer } from './messages.ts';
import type { SandboxOptions } from './sandbox.ts';
import { probeUnshare, type UnsharePrograms } from './unshare.ts';

export type Detected =
  | { readonly kind: 'bwrap'; readonly bwrap: string }
  | { readonly kind: 'unshare'; readonly programs: UnsharePrograms }
  /** Nothing works; the error says what is missing and how to fix it. */
  | { readonly kind: 'none'; readonly error: SandboxError };

export interface DetectOptions extends Pick<SandboxOptions, 'mode' | 'shellNetwork'> {
  /** Absolute paths of the folders in which programs are looked up. Default: the system's own. */
  readonly programFolders?: readonly string[];
  /** The operating system, as in `process.platform`. Default: that of this machine. */
  readonly platform?: NodeJS.Platform;
}

/** Tries bubblewrap as an ordinary user, then util-linux by root or `sudo -n`. Never rejects. */
export async function detectBackend(options: DetectOptions): Promise<Detected> {
  const { mode, shellNetwork, programFolders, platform = process.platform } = options;
  if (mode === 'off') return { kind: 'none', error: new SandboxError('The sandbox is off.') };
  if (platform !== 'linux') return { kind: 'none', error: new SandboxError(describeOtherSystem(platform)) };
  const find = (name: string) => findProgram(name, programFolders);
  const problems: string[] = [];
  const bwrap = process.getuid?.() === 0 ? null : find('bwrap');
  if (bwrap !== null) {
    const problem = await probeBwrap(bwrap, shellNetwork);
    if (problem === null) return { kind: 'bwrap', bwrap };
    problems.push(problem);
  }
  const programs = await findUnshare(find);
  if (programs !== null) {
    const problem = await probeUnshare(programs, shellNetwork);
    if (problem === null) return { kind: 'unshare', programs };
    problems.push(problem);
  }
  const inContainer = await isContainer();
  const text =
    problems.length === 0 ? describeMissing(inContainer) : describeBroken(problems.join('; '), inContainer);
  return { kind: 'none', error: new SandboxError(text) };
}

/** Finds util-linux and a way to be root. Never prompts: `sudo -n` fails if it would need a password. */
async function findUnshare(find: (name: string) => string | null): Promise<UnsharePrograms | null> {
  const [unshare, nsenter, setpriv, sudo] = ['unshare', 'nsenter', 'setpriv', 'sudo'].map(find);
  if (!unshare || !nsenter || !setpriv) return null;
  if (process.getuid?.() === 0) return { unshare, nsenter, setpriv, asRoot: [] };
  if (!sudo || (await runOnHost(sudo, ['-n', 'true']))?.exitCode !== 0) return null;
  return { unshare, nsenter, setpriv, asRoot: [sudo, '-n', '--'] };
}
