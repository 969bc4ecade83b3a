/** The address by which a machine reaches itself. */
export const LOOPBACK_ADDRESS = '127.0.0.1';

/** `localhost`, or an address that stands for the machine itself; with brackets, as in a URL, or without. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

/** Whether nobody listens between a machine and this host, since it is the machine itself. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

/** Whether nobody reads or changes what goes to an address: it is encrypted, or never leaves this machine. */
export function isPrivate(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || isLoopback(hostname);
}
