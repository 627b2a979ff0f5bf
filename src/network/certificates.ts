/** Certificate errors: trusts the system's authorities in addition to Node's list, and explains failures. */
import { causeCode, NetworkError } from '../errors.ts';
import { DISPLAY } from '../text/limits.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The codes for a certificate that no trusted authority has signed. */
const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** The other error codes of OpenSSL and Node, with the problem and the fix. */
const WRONG: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired: renew it there, and check the clock of this machine',
  CERT_NOT_YET_VALID: 'is not valid yet: check the clock of this machine',
  CERT_REVOKED: 'was revoked: renew it there',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'was made for another host: check the URL, and what answers in its place between here and there',
  HOSTNAME_MISMATCH:
    'was made for another host: check the URL, and what answers in its place between here and there',
  INVALID_PURPOSE: 'was not made for a server: replace it there',
};

/** Whether an error means that no trusted authority signed a certificate. */
export function isUnknownAuthority(error: unknown): boolean {
  return UNKNOWN_AUTHORITY.has(causeCode(error) ?? '');
}

/** Returns an error that explains a failed connection; null when no certificate caused the failure. */
export function certificateError(
  error: unknown,
  owner: string,
  environment: Environment,
): NetworkError | null {
  const code = causeCode(error);
  if (code === null) return null;
  const wrong = Object.hasOwn(WRONG, code) ? WRONG[code] : undefined;
  if (wrong === undefined && !UNKNOWN_AUTHORITY.has(code)) return null;
  const what = wrong ?? `is signed by nobody that this machine trusts: ${authorityAdvice(environment)}`;
  return new NetworkError(`The certificate of ${owner} ${what} (${code}).`, {
    code,
    passing: false,
    cause: error,
  });
}

function authorityAdvice(environment: Environment): string {
  const given = environment['NODE_EXTRA_CA_CERTS']?.trim();
  if (given !== undefined && given !== '') {
    return `the file that NODE_EXTRA_CA_CERTS names (${given.slice(0, DISPLAY.path)}) does not hold its authority, or cannot be read. It must be the authority's certificate in PEM form, and lie on the runner before this step starts`;
  }
  return "give its authority's certificate, a PEM file on the runner, in the step's env, as in NODE_EXTRA_CA_CERTS: /etc/ssl/certs/company.pem";
}

/**
 * Returns a function that adds the authorities of the system's store to those already trusted. The store is read on the
 * first call only, which takes some tens of milliseconds, so it is used only for connections that failed. The function
 * resolves to false if this Node does not support it (before 24.5) or there is no readable store.
 */
export function createSystemTrust(): () => Promise<boolean> {
  let trusted: Promise<boolean> | null = null;
  const load = async (): Promise<boolean> => {
    const tls = await import('node:tls');
    if (typeof tls.setDefaultCACertificates !== 'function') return false;
    try {
      const system = tls.getCACertificates('system');
      tls.setDefaultCACertificates([...tls.getCACertificates('default'), ...system]);
      return system.length > 0;
    } catch {
      // A store with an unreadable entry is not used: the original failure explains more.
      return false;
    }
  };
  return () => {
    trusted ??= load();
    return trusted;
  };
}
