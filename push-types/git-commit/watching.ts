import { concurrencyGate } from '../../sdk';
import { endChange, unitOf, type Slot } from '../../sdk/updates';
import type { DeployBranch } from './branch';
import {
  findClusterPath,
  getDefinition,
  isLanded,
  isRevert,
  listBySlot,
  listClusters,
  nameClusterTask,
  type CommitState,
} from './commitState';
import { noteReason } from './fieldSteps';
import { explainChange } from './foreignChange';
import type { FieldReader, Readings } from './readings';
import type { WaitSettings } from './settings';
import { observe, type CheckRevision, type Observation, type WatchedPlace, type Watcher } from './watcher';

/** Looks at clusters, and lets changes end: only what holds for a while counts. */

export interface WatchPlace {
  readonly state: CommitState;
  readonly branch: DeployBranch;
  readonly reader: FieldReader;
  readonly watcher: (environment: string) => Watcher | undefined;
  readonly wait: (environment: string) => Pick<WaitSettings, 'settle' | 'timeout'> | undefined;
  readonly idleMs: number;
  readonly now: () => number;
  /** Called after each look. */
  readonly onLook?: ((task: string, observation: Observation) => void) | undefined;
}

const CLUSTERS_AT_ONCE = 16;

export class ClusterWatch {
  private readonly looking = concurrencyGate(CLUSTERS_AT_ONCE);
  /** The last state of each cluster, and its beginning. */
  private readonly seen = new Map<string, { readonly state: string; readonly since: number; readonly at: number }>();

  constructor(private readonly place: WatchPlace) {}

  /** Looks at all clusters that change, and at the others when they are due. */
  async look(units: readonly string[], tip: string, readings: Readings): Promise<void> {
    const all = units.flatMap((unit) =>
      unitOf(this.place.state, unit).slots.flatMap((slot, index) =>
        this.isDue(unit, index, slot) ? [{ unit, index }] : [],
      ),
    );
    await Promise.all(all.map(({ unit, index }) => this.looking(() => this.lookAt(unit, index, tip, readings))));
  }

  private isDue(unit: string, index: number, slot: Slot): boolean {
    if (slot.gone) return false;
    if (slot.state === 'updating') return isLanded(this.place.state, unit, index);
    const { now, idleMs } = this.place;
    return now() - (this.seen.get(`${unit}/${index}`)?.at ?? -Infinity) >= idleMs;
  }

  private async lookAt(unit: string, index: number, tip: string, readings: Readings): Promise<void> {
    const { state, now } = this.place;
    const before = unitOf(state, unit).slots[index];
    const asked = { update: before?.update, version: before?.version };
    const observation = await this.observe(unit, index, tip, readings);
    const slot = unitOf(state, unit).slots[index];
    // A call may have changed the slot meanwhile; the answer is then about another change.
    if (slot === undefined || slot.update !== asked.update || slot.version !== asked.version) return;
    this.place.onLook?.(nameClusterTask(unit, listClusters(state, unit)[index] ?? ''), observation);
    const key = `${unit}/${index}`;
    const last = this.seen.get(key);
    const about = `${observation.state} ${slot.update} ${slot.version}`;
    const since = last?.state === about ? last.since : now();
    this.seen.set(key, { state: about, since, at: now() });
    if (slot.state === 'updating') this.judge(unit, index, observation, now() - since);
    else this.follow(unit, slot, observation);
  }

  private async observe(unit: string, index: number, tip: string, readings: Readings): Promise<Observation> {
    const { state } = this.place;
    const { service, environment } = getDefinition(state, unit);
    const watch = this.place.watcher(environment);
    const path = findClusterPath(state, unit, index);
    const value = listBySlot(state, 'held', unit)[index] ?? '';
    const reading = readings.get(unit)?.get(index);
    if (watch === undefined || path === undefined)
      return observe('silent', `${environment} is not in the settings any more`);
    if (reading !== undefined && 'trouble' in reading) return observe('waiting', reading.trouble);
    if (reading !== undefined && reading.value !== value)
      return observe('waiting', await explainChange(this.place, { unit, path, tip, expected: value }));
    const commit = listBySlot(state, 'landed', unit)[index]?.commit;
    const { version = '' } = unitOf(state, unit).slots[index] ?? {};
    const cluster = listClusters(state, unit)[index] ?? '';
    const place: WatchedPlace = { service, environment, cluster, unit, path, version, value, commit };
    return watch(place, this.checkRevision(place, tip));
  }

  private checkRevision({ unit, path, value, commit }: WatchedPlace, tip: string): CheckRevision {
    const { branch, reader, state } = this.place;
    return async (revision) => {
      const name = JSON.stringify(revision.slice(0, 12));
      if ((await branch.relate(tip, revision)) !== 'holds') return `${name} is no commit of the branch`;
      if (commit !== undefined && (await branch.relate(revision, commit)) !== 'holds')
        return `it is at ${name}, which is older than ${commit.slice(0, 12)}`;
      const reading = await reader.readOne(revision, path, getDefinition(state, unit).field);
      return 'value' in reading && reading.value === value ? undefined : `${path} has another value at ${name}`;
    };
  }

  /** A change ends as live or failed once that has held for a while, or after its time. A revert waits for a service that is silent: its commit is made. */
  private judge(unit: string, index: number, { state: seen, reason }: Observation, heldMs: number): void {
    const { state, now } = this.place;
    const slot = unitOf(state, unit).slots[index];
    if (slot?.update == null) return;
    const cluster = listClusters(state, unit)[index] ?? '';
    const { settle = 0, timeout = 0 } = this.place.wait(getDefinition(state, unit).environment) ?? {};
    const change = { slot, index, update: { id: slot.update, version: slot.version } };
    const isSettled = heldMs >= settle;
    const trouble = `${slot.version} is not live on ${cluster}: ${reason}`;
    const age = now() - (listBySlot(state, 'landed', unit)[index]?.at ?? now());
    const mayWait = seen === 'silent' && isRevert(state, slot.update);
    if (seen === 'live' && isSettled) endChange(state, unit, change, undefined, now());
    else if (seen === 'failed' && isSettled) endChange(state, unit, change, trouble, now());
    else if (age >= timeout && !mayWait)
      endChange(state, unit, change, `${trouble} (after ${Math.round(timeout / 1000)} s)`, now());
    else
      noteReason(
        state,
        unit,
        slot.update,
        `${cluster} waits: ${seen === 'live' ? `${reason}, which has to last` : reason}`,
      );
  }

  /** A cluster between changes. */
  private follow(unit: string, slot: Slot, { state: seen, reason }: Observation): void {
    slot.state = seen === 'live' ? 'live' : 'down';
    const update = slot.update === null ? undefined : this.place.state.updates[slot.update]?.units[unit];
    if (update?.state !== 'done') return;
    if (seen === 'live') delete update.reason;
    else update.reason = reason;
  }
}
