import { randomInt } from 'node:crypto';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { sendRequest } from '../../sdk/request';

/**
 * Below the ports that systems use for outgoing connections (Linux from 32768, others from 49152), so that none of
 * these takes one meanwhile.
 */
const PORTS = { from: 10_000, below: 32_768 };
const TRIES = 100;

/** Some different ports on which nothing listens now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listenAnywhere()));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** Whether a GET answers 2xx. */
export async function respondsOk(url: string, timeoutMs: number = 2000): Promise<boolean> {
  try {
    return (await sendRequest(url, { redirect: 'follow' }, { timeoutMs, maxBytes: 0 })).ok;
  } catch {
    return false;
  }
}

/** Listens on a random port, so that two searches at the same time hardly ever find the same one. */
async function listenAnywhere(): Promise<Server> {
  for (let left = TRIES; ; left--) {
    try {
      return await listenOn(randomInt(PORTS.from, PORTS.below));
    } catch (error) {
      if (left === 1) throw error;
    }
  }
}

function listenOn(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
