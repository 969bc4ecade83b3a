import {
  finishUpdates,
  pendingSlots,
  unfinished,
  unitOf,
  type Change,
  type Memory,
  type Slot,
} from '../../sdk/updates';
import type { KubernetesApi } from './client/api';
import { isKubernetesError, type KubernetesErrorKind } from './client/errors';
import { hasStartedSince } from './podState';
import { writeGate, writePodPatch, writeRestamp } from './podPatch';
import { listPodPlaces, restoreUpdates, syncPods, type KubeState } from './podSlots';
import { readPodRecord } from './records';
import {
  beginRestored,
  chooseSeats,
  describeChange,
  failChange,
  judgeSeats,
  listSeats,
  SettleClock,
  type UnitRound,
  type SeatedPod,
} from './round';
import {
  adoptTemplate,
  isTemplateDue,
  isTemplateFirst,
  moveTemplate,
  readUnitVersion,
  type MoveOutcome,
} from './unitMoves';
import { readUnit, type ClusterReader, type KubeUnit, type UnitLook } from './unitReader';

/** A cluster that the platform has registered. */
export interface KubeCluster {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly api: KubernetesApi;
  readonly reader: ClusterReader;
  readonly readVersion: () => Promise<readonly [number, number]>;
}

export interface KubeFleetOptions {
  readonly memory: Memory;
  readonly clusters: ReadonlyMap<string, KubeCluster>;
  readonly startTimeoutMs: number;
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** Called after each look at a pod, with the restarts of its container; undefined while it changes. */
  readonly onLook?: (task: string, restarts: number | undefined) => void;
}

/** Failures of a patch that another look or time ends. */
const PASSING_FAILURES: ReadonlySet<KubernetesErrorKind> = new Set([
  'Conflict',
  'NotFound',
  'TooMany',
  'Unavailable',
  'Unauthorized',
]);
/** Its pods count as unreachable once a cluster has not answered for so long. */
const AWAY_MS = 60_000;

/**
 * The workloads of pipelines in all clusters, and the updates that change their pods. Calls only record the desired state; `step` brings it about, and looks
 * at the objects each time. After a crash, the next step continues from the state of the objects.
 */
export class KubeFleet {
  private readonly looks = new Map<string, UnitLook>();
  /** Since when a unit cannot be read, and why. */
  private readonly troubles = new Map<string, { readonly since: number; readonly reason: string }>();
  private readonly clocks = new Map<string, SettleClock>();
  private readonly turns = new Map<string, Promise<unknown>>();
  /** The memory as it was last written. */
  private saved = '';

  constructor(private readonly options: KubeFleetOptions) {}

  get memory(): Memory {
    return this.options.memory;
  }

  get state(): KubeState {
    return this.options.memory.state;
  }

  get clusters(): ReadonlyMap<string, KubeCluster> {
    return this.options.clusters;
  }

  get unitNames(): string[] {
    return Object.keys(this.state.enrolled ?? {});
  }

  /** Whether a unit was read once, now or before a restart. */
  isKnown(name: string): boolean {
    return this.state.enrolled?.[name] !== undefined && this.state.units[name] !== undefined;
  }

  lastUnitLook(name: string): UnitLook | undefined {
    return this.looks.get(name);
  }

  /** Why a unit cannot be read at present. */
  whyAway(name: string): string | undefined {
    return this.troubles.get(name)?.reason;
  }

  /** Takes over a workload of a pipeline, with its newest settings. */
  enroll(name: string, unit: KubeUnit): void {
    (this.state.enrolled ??= {})[name] = unit;
  }

  /** Looks at a unit that was never read by this process. */
  async learn(name: string): Promise<void> {
    if (this.looks.has(name)) return;
    await this.take(name, async () => {
      const unit = this.state.enrolled?.[name];
      const look = unit && (await this.look(name, unit));
      if (unit && look) this.adopt(name, unit, look);
    });
  }

  /** One round for one unit. Returns true while something is left to do. */
  step(name: string): Promise<boolean> {
    return this.take(name, () => this.stepAlone(name));
  }

  /** Writes the memory if it has changed: it may be large, and most looks find nothing new. */
  private save(): void {
    const text = JSON.stringify(this.state);
    if (text === this.saved) return;
    this.memory.save();
    this.saved = text;
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
    const look = await this.look(name, unit);
    if (look === undefined) return this.stepAway(name);
    this.adopt(name, unit, look);
    const round = this.openRound(name, unit, look);
    judgeSeats(round);
    const held = await this.move(round, 'first');
    // Pods of a revert do not wait for a person.
    if (held === undefined || held.isRefused) chooseSeats(round);
    this.save();
    await this.change(round);
    await this.setGates(round);
    const late = await this.move(round, 'last');
    this.finish(name, (late ?? held)?.reason);
    this.save();
    return this.isOpen(name);
  }

  private openRound(name: string, unit: KubeUnit, look: UnitLook): UnitRound {
    const clock = this.clocks.get(name) ?? new SettleClock();
    this.clocks.set(name, clock);
    clock.keepOnly(new Set(look.pods.map(({ uid }) => uid)));
    const { now, startTimeoutMs } = this.options;
    return { state: this.state, name, unit, look, now: now(), clock, startTimeoutMs };
  }

  /** Undefined if the cluster does not answer, or has no such workload any more. */
  private async look(name: string, unit: KubeUnit): Promise<UnitLook | undefined> {
    const cluster = this.clusters.get(unit.cluster);
    try {
      if (cluster === undefined) throw new Error(`there is no cluster ${unit.cluster} in the file of the clusters`);
      const look = await readUnit(cluster.reader, unit);
      if (look === undefined)
        throw new Error(`there is no ${unit.kind} ${unit.namespace}/${unit.name} in ${unit.cluster}`);
      this.looks.set(name, look);
      this.troubles.delete(name);
      return look;
    } catch (error) {
      this.noteTrouble(name, error);
      return undefined;
    }
  }

  private noteTrouble(name: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const known = this.troubles.get(name);
    if (known?.reason !== reason) this.options.log(`${name}: ${reason}`);
    this.troubles.set(name, { since: known?.since ?? this.options.now(), reason });
  }

  /** The pods of a cluster that is away get their version when it is back; it holds up no deploy. */
  private stepAway(name: string): boolean {
    const trouble = this.troubles.get(name);
    if (this.state.units[name] === undefined || trouble === undefined) return false;
    if (this.options.now() - trouble.since < AWAY_MS) return true;
    for (const slot of unitOf(this.state, name).slots)
      if (!slot.gone) Object.assign(slot, { state: 'down', isUnreachable: true } satisfies Partial<Slot>);
    this.finish(name, undefined);
    this.save();
    return false;
  }

  /** Brings the memory up to date with the objects. A unit that it does not know is restored from the records on them. */
  private adopt(name: string, unit: KubeUnit, look: UnitLook): void {
    const { state } = this;
    const isNew = state.units[name] === undefined;
    if (isNew) {
      const { version, update } = readUnitVersion(look.workload, unit.container);
      state.units[name] = { version, update, starts: [], slots: [] };
    }
    adoptTemplate(state, name, look.workload, unit.container);
    syncPods(state, name, look.pods, { unit, now: this.options.now() });
    if (isNew) {
      restoreUpdates(state, name, look.pods);
      beginRestored(this.openRound(name, unit, look));
    }
    for (const { pod, slot } of listSeats({ state, name, look }))
      this.options.onLook?.(slot.task ?? pod.name, hasStartedSince(pod) ? pod.status?.restarts : undefined);
    this.save();
  }

  /** Changes the template when its turn is: of a revert before the pods, otherwise after them. Returns the outcome if pods have to wait for it. */
  private async move({ name, unit, state }: UnitRound, turn: 'first' | 'last'): Promise<MoveOutcome | undefined> {
    const move = state.moves?.[name];
    const api = this.clusters.get(unit.cluster)?.api;
    if (move === undefined || api === undefined) return undefined;
    const isFirst = isTemplateFirst(state, move);
    if ((turn === 'first') !== isFirst) return undefined;
    if (!isFirst && !isTemplateDue(state, name, move)) return undefined;
    try {
      const outcome = await moveTemplate(api, unit, move);
      if (outcome.isDone && state.moves?.[name] === move) {
        delete state.moves[name];
        (state.moved ??= {})[name] = { from: move.from };
      }
      return outcome.isDone ? undefined : outcome;
    } catch (error) {
      if (!isKubernetesError(error)) throw error;
      this.options.log(`${name}: the template is not changed: ${error.message}`);
      return { isDone: false, reason: error.message };
    }
  }

  private async change(round: UnitRound): Promise<void> {
    const due = listSeats(round).filter(({ place, slot }) => place.change !== undefined && !slot.isUnreachable);
    await Promise.all(due.map((seat) => this.changePod(round, seat)));
    const stale = listSeats(round).filter(isStalePodRecord);
    await Promise.all(stale.map((seat) => this.restamp(round, seat)));
  }

  /** Patches one pod, out of service if it has the gate and the config says so. A stale patch is repeated in the next round, after another look. */
  private async changePod(round: UnitRound, { pod, place, slot, index }: SeatedPod): Promise<void> {
    const { unit, name, state } = round;
    const { change } = place;
    const api = this.clusters.get(unit.cluster)?.api;
    if (change === undefined || api === undefined) return;
    try {
      if (unit.drain !== undefined && pod.hasGate && !(await this.drain(api, round, { pod, place, slot, index })))
        return;
      const record = describeChange({ state, name }, change.update, change.version);
      await api.patch(pod.ref, writePodPatch(pod, unit.container, record), { type: 'strategic' });
    } catch (error) {
      if (!isKubernetesError(error)) throw error;
      if (PASSING_FAILURES.has(error.kind)) return;
      delete place.change;
      const failed: Change = { slot, index, update: { id: change.update, version: change.version } };
      failChange({ state, name, now: this.options.now() }, failed, error.message);
    }
  }

  /** Takes a pod out of service and returns true once that was long enough. */
  private async drain(api: KubernetesApi, { unit, now }: UnitRound, { pod, place }: SeatedPod): Promise<boolean> {
    const { change } = place;
    if (change === undefined) return false;
    if (pod.isServing !== false || change.drainedAt === undefined) {
      if (pod.isServing !== false)
        await api.patch(pod.ref, writeGate(false, new Date(now)), { type: 'strategic', subresource: 'status' });
      change.drainedAt ??= now;
      return false;
    }
    return now - change.drainedAt >= (unit.drain ?? 0);
  }

  private async restamp({ name, unit, state }: UnitRound, { pod, slot }: SeatedPod): Promise<void> {
    const record = readPodRecord(pod.annotations);
    const api = this.clusters.get(unit.cluster)?.api;
    if (record === undefined || slot.update === null || api === undefined) return;
    const { before } = record;
    const next = { ...describeChange({ state, name }, slot.update, slot.version), before };
    await api.patch(pod.ref, writeRestamp(pod, next), { type: 'strategic' }).catch((error: unknown) => {
      if (!isKubernetesError(error)) throw error;
    });
  }

  /** Pods with the gate are in service once their containers are ready: also new ones, which no other program puts into service. */
  private async setGates({ look, state, name, unit, now }: UnitRound): Promise<void> {
    const api = this.clusters.get(unit.cluster)?.api;
    const due = listSeats({ state, name, look }).filter(
      ({ pod, place, slot }) =>
        pod.hasGate &&
        pod.isServing !== true &&
        !slot.isUnreachable &&
        (place.change === undefined || unit.drain === undefined) &&
        pod.areContainersReady &&
        hasStartedSince(pod),
    );
    await Promise.all(
      due.map(async ({ pod }) => {
        const patching = api?.patch(pod.ref, writeGate(true, new Date(now)), {
          type: 'strategic',
          subresource: 'status',
        });
        await patching?.catch((error: unknown) => {
          if (!isKubernetesError(error)) throw error;
          this.options.log(`${name}: ${pod.name} is not in service: ${error.message}`);
        });
      }),
    );
  }

  /** An update of a whole unit is done once new pods start on its version, too. */
  private finish(name: string, reason: string | undefined): void {
    const { state } = this;
    const move = state.moves?.[name];
    const update = move && state.updates[move.update]?.units[name];
    if (update?.state === 'active' && this.whyAway(name) === undefined) {
      if (reason !== undefined) update.reason = reason;
      return;
    }
    const places = listPodPlaces(state, name);
    for (const id of unfinished(state, name)) {
      const part = state.updates[id]?.units[name];
      if (part?.state !== 'active') continue;
      // An unreachable pod gets the version when its node, or its cluster, answers again.
      for (const index of pendingSlots(state, name, id)) {
        const [slot, place] = [unitOf(state, name).slots[index], places[index]];
        if (slot?.isUnreachable && place) place.again = { version: part.version, update: id };
      }
    }
    finishUpdates(state, name);
  }

  private isOpen(name: string): boolean {
    const { state } = this;
    const active = unfinished(state, name).some((id) => state.updates[id]?.units[name]?.state === 'active');
    const places = listPodPlaces(state, name);
    const isChanging = unitOf(state, name).slots.some(({ state: it }) => it === 'updating');
    return (
      active || isChanging || places.some(({ change, again }) => change ?? again) || state.moves?.[name] !== undefined
    );
  }
}

/** The update that has taken a pod over is not yet the one of its record. */
const isStalePodRecord = ({ pod, slot, place }: SeatedPod): boolean => {
  const record = readPodRecord(pod.annotations);
  if (record?.image !== pod.image || place.change !== undefined || slot.isUnreachable) return false;
  return record.version === slot.version && slot.update !== null && record.update !== slot.update;
};
