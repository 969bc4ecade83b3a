import { actionServiceProtocol } from '../../sdk/protocol/actionService';
import { artifactFinderProtocol } from '../../sdk/protocol/artifactFinder';
import { dataSourceProtocol } from '../../sdk/protocol/dataSource';
import { pushTypeProtocol } from '../../sdk/protocol/pushType';
import { taskControllerProtocol } from '../../sdk/protocol/taskController';
import type { HttpFault } from '../../simulator/httpFault';
import type { LedgerEntry } from '../../simulator/ledger';
import { MINUTE, VirtualWorld } from './world';

/** The protocols, each by the name of a service of the simulated world that speaks it. */
export const PROTOCOLS = {
  twine: pushTypeProtocol,
  'leader-last': taskControllerProtocol,
  profile: actionServiceProtocol,
  commits: artifactFinderProtocol,
  'data-source': dataSourceProtocol,
} as const;
export type Service = keyof typeof PROTOCOLS;

/** The fault of a method, for `count` calls or for a time. */
export type Trouble = Pick<HttpFault, 'mode'> & { readonly count?: number; readonly forMs?: number; delayMs?: number };

/** A world in which answers of services can be broken, method by method, and which records the methods that were really hit. */
export class FaultWorld {
  private readonly faults = new Map<string, { readonly wasHit: () => boolean }[]>();

  private constructor(readonly world: VirtualWorld) {}

  /** Two jobs, of six and of three tasks; the tasks of the first take `startMs` each, one after the other. */
  static async open(startMs = 2 * MINUTE): Promise<FaultWorld> {
    const world = await VirtualWorld.open();
    await world.job('kvstore-x', 'x', 6, { nSmall: 1, timings: { fetchMs: 1_000, stopMs: 1_000, startMs } });
    await world.job('kvstore-y', 'y', 3, { nSmall: 3, budget: '100%', controller: { kind: 'leader-last' } });
    return new FaultWorld(world);
  }

  /** Breaks methods of a service, all of them unless said otherwise. */
  async breaks(trouble: Trouble | null, service: Service, methods = Object.keys(PROTOCOLS[service])): Promise<void> {
    if (trouble === null) return;
    for (const method of methods) {
      const fault = { kind: 'http', service, method, ...trouble };
      const { id } = await this.world.control<{ id: string }>('POST', '/control/faults', fault);
      const posted = this.world.simulator.simulation.state.httpFaults.get(id);
      const wasHit = () => posted?.untilMs !== undefined || posted?.left !== (trouble.count ?? null);
      const name = `${service} ${method}`;
      this.faults.set(name, [...(this.faults.get(name) ?? []), { wasHit }]);
    }
  }

  /** The methods that no fault hit: `twine prefetch` … */
  spared(): string[] {
    return [...this.faults].flatMap(([name, posted]) => (posted.some(({ wasHit }) => wasHit()) ? [] : [name]));
  }

  /** Changes of the world. */
  effects(service: Service, method: string): LedgerEntry[] {
    const { ledger } = this.world.simulator.simulation.state;
    return ledger.filter((entry) => entry.service === service && entry.method === method && entry.effect);
  }

  /** How often each task was started, including the first time. */
  async starts(): Promise<number[]> {
    const { jobs } = this.world.simulator.simulation.fleet;
    const views = await this.world.jobs();
    return views.flatMap(({ name, size }) => [...(jobs.get(name)?.tasks.starts.slice(0, size) ?? [])]);
  }

  async jobs(): Promise<Record<string, object>> {
    const views = await this.world.jobs();
    return Object.fromEntries(views.map(({ name, versions, jobVersion }) => [name, { versions, jobVersion }]));
  }
}
