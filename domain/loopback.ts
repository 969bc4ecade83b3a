/** The address by which a machine reaches itself. */
export const LOOPBACK_ADDRESS = '127.0.0.1';

/** `localhost`, or an address that stands for the machine itself; with brackets, as in a URL, or without. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

/** Whether the host is this machine itself, so that others cannot read the traffic on its way. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

/**
 * Whether traffic to an address cannot be read or changed on its way: it is encrypted, or never leaves this machine.
 */
export function isPrivate(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || isLoopback(hostname);
}
