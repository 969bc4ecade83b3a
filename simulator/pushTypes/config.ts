import type { Hono } from 'hono';
import { ConfigFleet } from '../../config/pushType/fleet';
import { Landings } from '../../config/pushType/landing';
import { ConfigMemory } from '../../config/pushType/memory';
import type { ConfigPorts } from '../../config/pushType/ports';
import { configPushType } from '../../config/pushType/pushType';
import { land, simulatedChanges } from '../configerator/repository';
import { SimulatedStore } from '../configerator/store';
import type { Simulation } from '../simulation';
import type { FleetJudge } from './judge';

/** The push type `config` as it is, over the simulated tree: as many hosts as the world has, and nothing of git. */
export function simulatedConfig(
  simulation: Simulation,
  judge: FleetJudge,
): (request: Request) => Response | Promise<Response> {
  const world = () => simulation.configerator;
  const store = new SimulatedStore(world);
  const ports: ConfigPorts = {
    storeOf: () => store,
    changes: simulatedChanges(world),
    land: ({ repository, change }) => land(world(), repository, change),
    log: () => undefined,
  };
  let served: { readonly of: object; readonly app: Hono } | undefined;
  return (request) => {
    // A world that is replaced has another past.
    if (served?.of !== simulation.state) {
      const memory = new ConfigMemory(null);
      Object.assign(memory.state, simulation.state.configPush ?? {});
      simulation.state.configPush = memory.state;
      const fleet = new ConfigFleet(memory, ports, new Landings(ports));
      served = { of: simulation.state, app: configPushType(fleet, judge) };
    }
    return served.app.fetch(request);
  };
}
