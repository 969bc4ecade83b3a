import type { Balancer } from './balancer';
import { runToEnd } from './runProgram';

/**
 * Any other load balancer, by a program that is called as `<program> drain|undrain|out <host>…`. It ends with 0 once the host is out or back. `out` prints
 * those of the hosts that are out of service, one a line. Any other code, or no end in time, stops the change of this host.
 */
export function createHook(argv: readonly string[], timeoutMs: number): Balancer {
  const call = async (verb: string, hosts: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runToEnd([...argv, verb, ...hosts], { timeoutMs });
    if (code === 0) return stdout;
    throw new Error(
      `${argv[0]} ${verb} ended with the code ${code}: ${(stderr.trim() || stdout.trim()).slice(0, 300)}`,
    );
  };
  return {
    drain: async (host) => void (await call('drain', [host])),
    undrain: async (host) => void (await call('undrain', [host])),
    listOut: async (hosts) => {
      const named = (await call('out', hosts)).split('\n').map((line) => line.trim());
      return new Set(hosts.filter((host) => named.includes(host)));
    },
  };
}
