/** Which hosts `NO_PROXY` takes out of the proxies' hands. */
import { BlockList, isIP } from 'node:net';

/**
 * Whether a URL is asked directly. An entry is `*`, a host (its subdomains with it, with or without a leading dot or
 * `*.`), an address, a range `from-to` or `address/bits`, each with `:port` where only that port is meant. Names are not
 * resolved: an address matches where the URL holds an address.
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
  // An IPv6 address has colons of its own: a port stands behind its brackets only.
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

/** A matcher for an address or several; null where the text is none. */
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
    // A range whose end comes before its start, or more bits than an address has: it holds nothing.
    return () => false;
  }
  return (host) => isIP(host) !== 0 && addresses.check(host, family(host));
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/u, '$1');
}
