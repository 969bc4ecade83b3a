import type { Hono } from 'hono';
import { ConfigFleet } from '../../configerator/pushType/fleet';
import { Landings } from '../../configerator/pushType/landings';
import { ConfigMemory, type ConfigState } from '../../configerator/pushType/memory';
import type { ConfigPorts } from '../../configerator/pushType/ports';
import { configPushType } from '../../configerator/pushType/pushType';
import { pushTypeProtocol } from '../../sdk/protocol/pushType';
import { land, createSimulatedChanges } from '../configerator/repository';
import { SimulatedStore } from '../configerator/store';
import type { Simulation } from '../simulation';
import type { FleetJudge } from './judge';

/** While an update is under way its services are stepped this often, in simulated ms, even without a request. */
const STEP_MS = 5_000;

interface ServedFleet {
  readonly of: object;
  readonly fleet: ConfigFleet;
  readonly memory: KeyedMemory;
  readonly app: Hono;
}

const MUTATING: ReadonlySet<string> = new Set(
  Object.entries(pushTypeProtocol).flatMap(([method, { mutates }]) => (mutates ? [method] : [])),
);

/** Knows the keys of calls whose effect is not in the ledger yet. */
class KeyedMemory extends ConfigMemory {
  readonly performed = new Set<string>();

  override once<A>(method: string, request: object, key: string, perform: () => A): A {
    return super.once(method, request, key, () => {
      const answer = perform();
      this.performed.add(key);
      return answer;
    });
  }
}

/** The real push type `config` over the simulated tree: as many hosts as the world has, and no git. */
export class SimulatedConfig {
  private served: ServedFleet | undefined;

  constructor(
    private readonly simulation: Simulation,
    private readonly judge: FleetJudge,
  ) {}

  readonly fetch = async (request: Request): Promise<Response> => {
    const { app, memory } = this.present();
    const response = await app.fetch(request);
    this.writeDown(request, memory);
    this.stepLater();
    return response;
  };

  /** A call that changes nothing has no key. */
  private writeDown({ url, headers }: Request, { performed }: KeyedMemory): void {
    const [method = '', key] = [new URL(url).pathname.split('/').at(-1), headers.get('idempotency-key')];
    if (key === null || !MUTATING.has(method)) return;
    const by = { key, run: headers.get('x-conveyor-run') };
    this.simulation.noteCall({ service: 'config', method, by }, performed.delete(key));
  }

  /** Steps all services; the world stops meanwhile. */
  async step(): Promise<void> {
    const { configerator: it } = this.simulation;
    it.isStepDue = false;
    it.state.isStepping = false;
    const { fleet } = this.present();
    // Without a leader the step fails; the next one asks again.
    for (const name of fleet.services) await fleet.step(name).catch(() => undefined);
    this.stepLater();
  }

  private stepLater(): void {
    const { configerator: it, state } = this.simulation;
    if (it.state.isStepping || state.configPush === null || !isMoving(state.configPush)) return;
    it.state.isStepping = true;
    it.world.after(STEP_MS, { kind: 'config-step' });
  }

  /** The state belongs to one world: a replacement has another past. */
  private present(): ServedFleet {
    const { simulation, judge } = this;
    if (this.served?.of === simulation.state) return this.served;
    const world = () => simulation.configerator;
    const store = new SimulatedStore(world);
    const ports: ConfigPorts = {
      storeOf: () => store,
      changes: createSimulatedChanges(world),
      land: ({ repository, change }) => land(world(), repository, change),
      log: () => undefined,
      now: () => simulation.world.now,
    };
    const memory = new KeyedMemory(null);
    Object.assign(memory.state, simulation.state.configPush ?? {});
    simulation.state.configPush = memory.state;
    const fleet = new ConfigFleet(memory, ports, new Landings(ports));
    return (this.served = { of: simulation.state, fleet, memory, app: configPushType(fleet, judge) });
  }
}

/** Whether an update is under way, or a value is exposed. */
const isMoving = ({ services, updates }: ConfigState): boolean =>
  Object.values(services).some(({ exposed, landing }) => landing !== undefined || Object.keys(exposed).length > 0) ||
  Object.values(updates).some(({ units }) => Object.values(units).some(({ state }) => state === 'active'));
