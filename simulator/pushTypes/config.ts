import type { Hono } from 'hono';
import { ConfigFleet } from '../../config/pushType/fleet';
import { Landings } from '../../config/pushType/landing';
import { ConfigMemory, type ConfigState } from '../../config/pushType/memory';
import type { ConfigPorts } from '../../config/pushType/ports';
import { configPushType } from '../../config/pushType/pushType';
import { land, simulatedChanges } from '../configerator/repository';
import { SimulatedStore } from '../configerator/store';
import type { Simulation } from '../simulation';
import type { FleetJudge } from './judge';

/** While something moves its services are stepped this often, in simulated ms, also if nobody asks. */
const STEP_MS = 5_000;

interface Served {
  readonly of: object;
  readonly fleet: ConfigFleet;
  readonly app: Hono;
}

/** The push type `config` as it is, over the simulated tree: as many hosts as the world has, and nothing of git. */
export class SimulatedConfig {
  private served: Served | undefined;

  constructor(
    private readonly simulation: Simulation,
    private readonly judge: FleetJudge,
  ) {}

  readonly fetch = async (request: Request): Promise<Response> => {
    const response = await this.present().app.fetch(request);
    this.stepLater();
    return response;
  };

  /** Steps all services, for which the world stands still. */
  async step(): Promise<void> {
    const { configerator: it } = this.simulation;
    it.isStepDue = false;
    it.state.isStepping = false;
    const { fleet } = this.present();
    // A store without a leader is asked again.
    for (const name of fleet.services) await fleet.step(name).catch(() => undefined);
    this.stepLater();
  }

  private stepLater(): void {
    const { configerator: it, state } = this.simulation;
    if (it.state.isStepping || state.configPush === null || !isMoving(state.configPush)) return;
    it.state.isStepping = true;
    it.world.after(STEP_MS, { kind: 'config-step' });
  }

  /** A world that is replaced has another past. */
  private present(): Served {
    const { simulation, judge } = this;
    if (this.served?.of === simulation.state) return this.served;
    const world = () => simulation.configerator;
    const store = new SimulatedStore(world);
    const ports: ConfigPorts = {
      storeOf: () => store,
      changes: simulatedChanges(world),
      land: ({ repository, change }) => land(world(), repository, change),
      log: () => undefined,
      now: () => simulation.world.now,
    };
    const memory = new ConfigMemory(null);
    Object.assign(memory.state, simulation.state.configPush ?? {});
    simulation.state.configPush = memory.state;
    const fleet = new ConfigFleet(memory, ports, new Landings(ports));
    return (this.served = { of: simulation.state, fleet, app: configPushType(fleet, judge) });
  }
}

/** Whether something is under way, or exposed. */
const isMoving = ({ services, updates }: ConfigState): boolean =>
  Object.values(services).some(({ exposed, landing }) => landing !== undefined || Object.keys(exposed).length > 0) ||
  Object.values(updates).some(({ units }) => Object.values(units).some(({ state }) => state === 'active'));
