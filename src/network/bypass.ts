/** Decides which hosts `NO_PROXY` excludes from proxying. */
import { BlockList, isIP } from 'node:net';

/**
 * Returns a function that tells whether a URL bypasses the proxies. An entry is `*`, a host (including its subdomains,
 * with or without a leading dot or `*.`), an address, or a range `from-to` or `address/bits`, each optionally limited
 * to one port with `:port`. Names are not resolved: an address matches only a URL that contains an address.
 */
export function createBypass(list: string): (url: URL) => boolean {
  const entries = list
    .toLowerCase()
    .split(/[\s,]+/u)
    .filter((entry) => entry !== '')
    .map(parseEntry);
  return (url) => {
    const host = bare(url.hostname.toLowerCase()).replace(/\.$/u, '');
    const port = url.port || (url.protocol === 'https:' ? '443' : '80');
    return entries.some((entry) => (entry.port === null || entry.port === port) && entry.matches(host));
  };
}

interface Entry {
  readonly port: string | null;
  readonly matches: (host: string) => boolean;
}

function parseEntry(entry: string): Entry {
  if (entry === '*') return { port: null, matches: () => true };
  const network = networkOf(entry);
  if (network !== null) return { port: null, matches: network };
  // An IPv6 address contains colons itself, so its port follows the brackets.
  const [, name = entry, port = null] = /^(\[.*\]|[^:]*):(\d+)$/u.exec(entry) ?? [];
  const host = bare(name)
    .replace(/^\*?\./u, '')
    .replace(/\.$/u, '');
  const address = networkOf(host);
  return {
    port: port === null ? null : String(Number(port)),
    matches: address ?? ((asked) => asked === host || (isIP(asked) === 0 && asked.endsWith(`.${host}`))),
  };
}

/** Creates a matcher for an address or a range; null when the text is neither. */
function networkOf(text: string): ((host: string) => boolean) | null {
  const addresses = new BlockList();
  const [from = '', to = ''] = text.split('-').map((part) => bare(part));
  const [base = '', bits = ''] = text.split('/').map((part) => bare(part));
  const family = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
  try {
    if (isIP(bare(text)) !== 0) addresses.addAddress(bare(text), family(bare(text)));
    else if (isIP(from) !== 0 && isIP(from) === isIP(to)) addresses.addRange(from, to, family(from));
    else if (isIP(base) !== 0 && /^\d{1,3}$/u.test(bits))
      addresses.addSubnet(base, Number(bits), family(base));
    else return null;
  } catch {
    // The end of the range precedes its start, or there are too many bits: it matches nothing.
    return () => false;
  }
  return (host) => isIP(host) !== 0 && addresses.check(host, family(host));
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/u, '$1');
}
