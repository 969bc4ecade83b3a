import { ExtensionError } from '../../sdk';
import { Memory, unfinished } from '../../sdk/updates';
import { adoptUnit } from './adoptUnit';
import type { ClusterWriter, KubeCluster } from './kubeCluster';
import { claimWorkload } from './ownership';
import { changePods, explainWait, restampPods, setPodGates } from './podChanges';
import { putBack, replacePods } from './replacePods';
import { forgetUnit, type KubeState } from './memory';
import { readReplacement } from './records';
import { hasStartedSince } from './podState';
import { chooseSeats, isPodOverdue, judgeSeats, listSeats, SettleClock, type UnitRound } from './round';
import { finishRound, isUnitOpen, markUnitAway } from './roundEnd';
import { takeTemplateTurn } from './templateTurn';
import { UnitLooks } from './unitLooks';
import { readReplicaFailure, readUnit, type KubeUnit, type UnitLook } from './unitReader';

export interface KubeFleetOptions {
  readonly memory: Memory;
  readonly clusters: ReadonlyMap<string, KubeCluster>;
  readonly startTimeoutMs: number;
  /** The name of this Conveyor on workloads; without one it claims none, and refuses those of others. */
  readonly owner?: string | undefined;
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** Called after each look at a pod, with the restarts of its container; undefined while it changes. */
  readonly onLook?: (task: string, restarts: number | undefined) => void;
}

/**
 * The workloads of pipelines in all clusters, and the updates that change their pods. Calls only record the desired state; `step` brings it about, and looks
 * at the objects each time. After a crash, the next step continues from the state of the objects.
 */
export class KubeFleet {
  private readonly looks: UnitLooks;
  private readonly clocks = new Map<string, SettleClock>();
  private readonly turns = new Map<string, Promise<unknown>>();
  /** The memory as it was last written. */
  private saved = '';

  constructor(private readonly options: KubeFleetOptions) {
    this.looks = new UnitLooks(options);
  }

  get memory(): Memory {
    return this.options.memory;
  }

  get state(): KubeState {
    return this.options.memory.state;
  }

  get clusters(): ReadonlyMap<string, KubeCluster> {
    return this.options.clusters;
  }

  get owner(): string | undefined {
    return this.options.owner;
  }

  get unitNames(): string[] {
    return Object.keys(this.state.enrolled ?? {});
  }

  /** Whether a unit was read once, now or before a restart. */
  isKnown(name: string): boolean {
    return this.state.enrolled?.[name] !== undefined && this.state.units[name] !== undefined;
  }

  lastUnitLook(name: string): UnitLook | undefined {
    return this.looks.last(name);
  }

  /** Why a unit cannot be read at present. */
  whyAway(name: string): string | undefined {
    return this.looks.whyAway(name);
  }

  /** Takes over a workload that is not known yet. A known one keeps the settings of its last update: reads bring those of drafts as well. */
  enroll(name: string, unit: KubeUnit): void {
    (this.state.enrolled ??= {})[name] ??= unit;
  }

  /** The settings of an update count from now on. */
  follow(name: string, unit: KubeUnit): void {
    (this.state.enrolled ??= {})[name] = unit;
  }

  /** With another container a unit is another one: it is read anew. @throws ExtensionError while an update of the one before is under way */
  async changeContainer(name: string, unit: KubeUnit): Promise<void> {
    const known = this.state.enrolled?.[name];
    if (known?.container === unit.container) return;
    if (unfinished(this.state, name).some((id) => this.state.updates[id]?.units[name]?.state === 'active'))
      throw new ExtensionError('not-ready', `${name}: an update of its container ${known?.container} is under way`, {
        retryable: true,
      });
    await this.take(name, async () => {
      forgetUnit(this.state, name, `deploys of ${name} change the container ${unit.container} now`);
      this.follow(name, unit);
    });
    await this.learn(name);
  }

  /** The memory as it would be if a unit had these settings: only another container makes a difference. Without the unit if it cannot be read. */
  async preview(name: string, unit: KubeUnit): Promise<KubeState> {
    const reader = this.clusters.get(unit.cluster)?.reader;
    if (reader === undefined || this.state.enrolled?.[name]?.container === unit.container) return this.state;
    const state: KubeState = new Memory(null).state;
    const look = await readUnit(reader, unit).catch(() => undefined);
    if (look) adoptUnit({ ...this.openRound(name, unit, look), state, clock: new SettleClock() });
    return state;
  }

  /** Looks at a unit that was never read by this process. */
  async learn(name: string): Promise<void> {
    if (this.looks.last(name) && this.isKnown(name)) return;
    await this.take(name, async () => {
      const unit = this.state.enrolled?.[name];
      const look = unit && (await this.looks.read(name, unit));
      if (unit && look) this.adopt(this.openRound(name, unit, look));
    });
  }

  /** One round for one unit. Returns true while something is left to do. */
  step(name: string): Promise<boolean> {
    return this.take(name, () => this.stepAlone(name));
  }

  /** One after the other for each unit. */
  private take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.turns.get(name) ?? Promise.resolve()).then(work, work);
    this.turns.set(
      name,
      turn.catch(() => undefined),
    );
    return turn;
  }

  private async stepAlone(name: string): Promise<boolean> {
    const unit = this.state.enrolled?.[name];
    if (unit === undefined) return false;
    const look = await this.looks.read(name, unit);
    const api = this.clusters.get(unit.cluster)?.api;
    if (look === undefined || api === undefined) return this.stepAway(name);
    const round = this.openRound(name, unit, look);
    this.adopt(round);
    judgeSeats({ ...round, failure: isPodOverdue(round) ? await this.readFailure(round) : undefined });
    const writer = { api, log: this.options.log };
    const foreign = await claimWorkload(round, writer, this.owner);
    const reason = foreign ?? (await this.write(round, writer));
    if (foreign !== undefined) for (const id of unfinished(this.state, name)) explainWait(round, id, foreign);
    finishRound(this.state, name, { late: reason, isAway: false });
    this.save();
    return isUnitOpen(this.state, name);
  }

  /** A reason that cannot be read is none. */
  private readFailure({ name, unit, look }: UnitRound): Promise<string | undefined> {
    const { reader } = this.clusters.get(unit.cluster) ?? {};
    const reading = reader && readReplicaFailure(reader, look.workload);
    return Promise.resolve(reading).catch((error: unknown) => {
      this.options.log(`${name}: ${String(error)}`);
      return undefined;
    });
  }

  /** Decides and writes the changes of a round. Returns why the template does not have the version of its unit yet. */
  private async write(round: UnitRound, writer: ClusterWriter): Promise<string | undefined> {
    const held = await takeTemplateTurn(round, 'first', writer);
    // Pods of a revert do not wait for a person.
    if (held === undefined || held.isRefused) chooseSeats(round);
    this.save();
    await writePods(round, writer);
    await restampPods(round, writer);
    await setPodGates(round, writer);
    const late = await takeTemplateTurn(round, 'last', writer);
    return (late ?? held)?.reason;
  }

  private stepAway(name: string): boolean {
    if (this.state.units[name] === undefined) return false;
    if (!this.looks.isLongAway(name)) return true;
    markUnitAway(this.state, name);
    this.save();
    return false;
  }

  private openRound(name: string, unit: KubeUnit, look: UnitLook): UnitRound {
    const clock = this.clocks.get(name) ?? new SettleClock();
    this.clocks.set(name, clock);
    clock.keepOnly(new Set(look.pods.map(({ uid }) => uid)));
    const { now, startTimeoutMs } = this.options;
    return { state: this.state, name, unit, look, now: now(), clock, startTimeoutMs };
  }

  private adopt(round: UnitRound): void {
    adoptUnit(round);
    for (const { pod, slot } of listSeats(round))
      this.options.onLook?.(slot.task ?? pod.name, hasStartedSince(pod) ? pod.status?.restarts : undefined);
    this.save();
  }

  /** Writes the memory if it has changed: it may be large, and most looks find nothing new. */
  private save(): void {
    const text = JSON.stringify(this.state);
    if (text === this.saved) return;
    this.memory.save();
    this.saved = text;
  }
}

/** Pods change in place once a replacement that an earlier mode has left behind is over. */
async function writePods(round: UnitRound, writer: ClusterWriter): Promise<void> {
  if (round.unit.mode === 'recreate') return replacePods(round, writer);
  if (readReplacement(round.look.workload.annotations) !== undefined) return putBack(round, writer);
  return changePods(round, writer);
}
