import { CHECKERS } from './checkers';
import { CONFIG_CHECKERS } from './configerator/checkers';
import { rebuildLeader, type Configerator } from './configerator/configerator';
import type { ConfigEvent } from './configerator/events';
import { handleConfig } from './configerator/handle';
import { followTask } from './configerator/subscribers';
import type { DueEvent, FleetEvent } from './events';
import { decode, encode } from './kernel/codec';
import { publishBuild, publishTag } from './finders/artifactCatalog';
import { freshKernel, World, type KernelState } from './kernel/world';
import { performOnce, writeDown, type CallEffect, type LedgerCall } from './ledger';
import { autoscale } from './metrics/autoscale';
import { crashesAtStart, metricWorld } from './metrics/series';
import { freshState, type SimulationState } from './state';
import { resumePace } from './twine/allowance';
import { onAnswer, prepareCall } from './twine/controllerCalls';
import { liftFault, moveAway } from './twine/faults';
import { wholeFleet, type TwineFleet, type Twine } from './twine/fleet';
import type { Job } from './twine/job';
import { onMaintenanceDue } from './twine/maintenance';
import { onTaskStarted, schedule } from './twine/scheduler';
import type { RunCallback } from '../sdk/protocol/actionService';
import type { MutatingCall } from '../sdk/server';

/** The range of speeds relative to real time. Outside it, a scaled duration becomes zero or never ends. */
export const SPEED_RANGE = { min: 0.001, max: 1_000_000 } as const;

export interface SimulationOptions {
  readonly seed: number;
  /** Divides every simulated duration. */
  readonly speed: number;
  /** Controllers elsewhere are not waited for: they are called once the world has reached its target time. */
  readonly asksAtPresent?: boolean;
}

/** The whole simulated world: the kernel, the fleet, and the records that are kept about it. */
export class Simulation implements Twine {
  readonly world: World<DueEvent>;
  state: SimulationState = freshState();
  /** Jobs whose controllers elsewhere are due, and since when. Not part of the world, as they are called at the present moment. */
  readonly due = new Map<string, number>();
  /** The callbacks of runs and their times: not part of the world. */
  readonly callbacks: { readonly at: number; readonly callback: RunCallback }[] = [];
  /** Its HTTP address, once known: not part of the world. */
  url: string | null = null;
  /** The distribution of configuration in this world. */
  configerator: Configerator;

  constructor(private readonly options: SimulationOptions) {
    this.world = new World(freshKernel<DueEvent>(options.seed, options.speed, 0), (event) => this.handle(event));
    this.configerator = this.configuration();
  }

  get fleet(): TwineFleet {
    return this.state.fleet;
  }

  get speed(): number {
    return this.world.kernel.speed;
  }

  /** Starts again at the present moment. */
  reset(options: SimulationOptions): void {
    this.world.kernel = freshKernel(options.seed, options.speed, this.world.now);
    this.state = freshState();
    this.configerator = this.configuration();
  }

  readonly notify = (event: FleetEvent): void => {
    for (const checker of CHECKERS) {
      const text = checker.see(event, this.state.checkers, this.fleet);
      if (text !== null) this.violated(checker.invariant, text);
    }
    if (event.kind === 'task') followTask(this.configerator, this.fleet, event);
  };

  readonly crashesOnStart = (version: string, job: Job): boolean =>
    crashesAtStart(metricWorld(this), job, version, this.world.now);

  /** Runs a mutating call at most once for its key, and writes it into the ledger. */
  once<A>(service: string, method: string, request: unknown, by: MutatingCall, perform: () => CallEffect<A>): A {
    const { ledger, calls } = this.state;
    const books = { now: this.world.now, ledger, calls, notify: this.notify };
    return performOnce(books, { service, method, request, by }, perform);
  }

  /** Records in the ledger a call to a service that keeps its own keys. */
  noteCall(call: LedgerCall, effect: boolean): void {
    writeDown({ now: this.world.now, ledger: this.state.ledger, notify: this.notify }, call, effect);
  }

  /** The whole world as text. */
  save(): string {
    return encode({ kernel: this.world.kernel, state: this.state });
  }

  /** The world that `save` wrote; it continues from its own time, never backwards. Throws if the text is anything else. */
  load(text: string): void {
    const saved = decode(text) as { kernel?: KernelState<DueEvent>; state?: SimulationState };
    const whole =
      Array.isArray(saved?.kernel?.due) &&
      saved.kernel.streams instanceof Map &&
      saved.state?.fleet?.jobs instanceof Map;
    if (!whole || saved.kernel === undefined || saved.state === undefined) throw new Error('not a snapshot');
    this.world.kernel = saved.kernel;
    // An older snapshot may lack newer fields.
    this.state = { ...freshState(), ...saved.state, fleet: wholeFleet(saved.state.fleet) };
    this.configerator = this.configuration();
  }

  private handle(event: DueEvent): void {
    switch (event.kind) {
      case 'task-started':
        return this.withJob(event.job, (job) => onTaskStarted(this, job, event.slot, event.epoch));
      case 'control-due':
        return this.withJob(event.job, (job) => this.onControlDue(job, event.at));
      case 'control-answered':
        return this.withJob(event.job, (job) => onAnswer(this, job, event));
      case 'autoscale':
        return this.withJob(event.job, (job) => autoscale(this, metricWorld(this), job));
      case 'maintenance-due':
        return onMaintenanceDue(this, event.fault);
      case 'pace':
        resumePace(this, event.region);
        for (const job of this.fleet.jobs.values()) if (job.region === event.region) schedule(this, job);
        return;
      case 'fault-over':
        liftFault(this, event.fault);
        return;
      case 'move-away':
        moveAway(this, event.fault);
        return;
      case 'run-ended':
        this.endRun(event.run);
        return;
      default:
        handleConfig(this.configerator, event);
    }
  }

  private configuration(): Configerator {
    const { state, world } = this;
    const notify = (event: ConfigEvent): void => {
      for (const { invariant, see } of CONFIG_CHECKERS) {
        const text = see(event, state.checkers);
        if (text !== null) this.violated(invariant, text);
      }
    };
    const leader = rebuildLeader(state.configerator, () => world.now);
    return { world, state: state.configerator, notify, leader, landers: new Map(), isStepDue: false };
  }

  private violated(invariant: number, text: string): void {
    this.state.violations.push({ at: this.world.now, invariant, text });
  }

  private onControlDue(job: Job, at: number): void {
    if (this.options.asksAtPresent && job.control?.url) this.due.set(job.name, at);
    else prepareCall(this, job, at);
  }

  private withJob(name: string, act: (job: Job) => void): void {
    const job = this.fleet.jobs.get(name);
    if (job) act(job);
  }

  private endRun(id: string): void {
    const run = this.state.runs.get(id);
    if (run === undefined || run.state !== 'running') return;
    run.state = run.failure === null ? 'succeeded' : 'failed';
    run.message = run.failure ?? run.said;
    if (run.failure !== null) return;
    for (const output of run.outputs) {
      if (run.service === 'build') publishBuild(this.state, this.world.now, output);
      if (run.tag === null) continue;
      this.state.tags.set(`${output.name}@${run.tag}`, output.version);
      publishTag(this.state, this.world.now, output, run.tag);
    }
  }
}
