import { BrokenRuleError, SkippedRuleError } from '../check';
import { Conversation, type Reachable } from '../conversation';
import { PUSH_TYPE_CHECKS } from '../pushType/suite';
import { PushTypeWorld, type TrackedUnit, type PushTypeSubject } from '../pushType/world';
import type { Live } from '../run';
import type { LiveSettings } from './liveTime';

/** Options of `livePushType`: the address of the push type, and the units and versions that its checks may use. */
export interface LivePushType extends Reachable, LiveSettings {
  /** `context.config` of the calls; it names exactly the two units. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Two units of at least six tasks each, all on one version, which no pipeline deploys meanwhile. */
  readonly units: readonly [string, string];
  /** One or two other versions whose tasks become live. */
  readonly newVersions: readonly [string, string?];
  /** A version whose tasks do not become live; without it, the checks that need one are skipped. */
  readonly deadVersion?: string | undefined;
  /** Adds a task to a unit, and returns once it is up. */
  readonly grow?: ((unit: string) => Promise<void>) | undefined;
}

/** The pause between two looks. */
export const POLL_MS = 200;
/** Tasks that go up and down all the time count as settled after this many equal answers. */
const STILL = 10;
const LEAST_TASKS = 6;

/** A push type at any address: the methods of the protocol undo the effects of each check before the next one. */
export function livePushType(options: LivePushType): Live<PushTypeSubject> {
  const fleet = new LiveFleet(options);
  return {
    ...{ kind: 'push-type', checks: PUSH_TYPE_CHECKS, prepares: 'fetchDeployUnits' },
    prepare: (nth) => fleet.prepare(nth),
    leave: () => fleet.restore(),
  };
}

class LiveFleet {
  private version: string | undefined;
  /** Updates of the last check. */
  private sent = new Set<string>();
  private restored = 0;

  constructor(private readonly options: LivePushType) {}

  async prepare(nth: number): Promise<PushTypeSubject> {
    await this.restore();
    const { version, sizes } = await this.look();
    this.version = version;
    const { pipeline } = this;
    return {
      ...this.options,
      ...{ version, sizes, pipeline, release: 10 * (nth + 1) },
      tick: (updateId) => this.tick(updateId),
      settle: (updateIds) => this.settle(updateIds),
      onUpdate: (updateId) => void this.sent.add(updateId),
    };
  }

  /** Ends the work of the last check, and returns both units to their initial version. */
  async restore(): Promise<void> {
    const { version } = this;
    if (version === undefined || this.sent.size === 0) return;
    const world = this.world(`${this.pipeline}-restore`, (this.restored += 1));
    const known = [...this.sent];
    for (const updateId of known) await world.ask('cancelUpdates', { updateId }, `${updateId}/restore`);
    await this.settle(known);
    const targets = this.options.units.map((unit) => world.target(version, { unit, amount: { all: true } }));
    await world.push(world.update, { wholeUnit: true, targets });
    await this.settle([world.update]);
    await world.shift(100, this.options.units, 'restore').catch(unlessSkipped);
    for (const unit of this.options.units) {
      const outdated = await world.outdated(version, unit);
      if (outdated !== 0)
        throw new BrokenRuleError(
          `${unit} could not be brought back to ${version} after a check: ${outdated} tasks differ`,
        );
    }
    this.sent = new Set();
  }

  /** Demands that the config has exactly these two units, and that all their tasks run one version. */
  private async look(): Promise<{ version: string; sizes: readonly [number, number] }> {
    const { units } = await this.world(this.pipeline, 0).ask('fetchDeployUnits', {});
    const wanted = [...this.options.units].sort().join(', ');
    const there = units.map(({ id }) => id).sort();
    if (there.join(', ') !== wanted)
      throw new BrokenRuleError(
        `fetchDeployUnits answered the units ${there.join(', ') || '(none)'}, the flags name ${wanted}`,
      );
    const [first, second] = this.options.units.map((name) => units.find(({ id }) => id === name));
    if (!first || !second) throw new BrokenRuleError('two units are needed');
    for (const { id, size, version, mixed, available } of units) {
      if (size < LEAST_TASKS)
        throw new BrokenRuleError(`${id} has ${size} tasks, the checks need ${LEAST_TASKS} or more`);
      if (version === null || mixed) throw new BrokenRuleError(`${id} runs no single version: bring it to one first`);
      if (!available) throw new BrokenRuleError(`${id} is unavailable`);
    }
    if (first.version !== second.version)
      throw new BrokenRuleError(
        `${first.id} runs ${first.version}, ${second.id} runs ${second.version}: bring both to one version`,
      );
    return { version: first.version ?? '', sizes: [first.size, second.size] };
  }

  private async settle(updateIds: readonly string[]): Promise<void> {
    const { now, sleep, settleMs } = this.options;
    const deadline = now() + settleMs;
    let before = '';
    for (let same = 0; ;) {
      await sleep(POLL_MS);
      const units = (await Promise.all(updateIds.map((id) => this.track(id)))).flat();
      const text = JSON.stringify(units);
      same = text === before ? same + 1 : 0;
      before = text;
      if (same > 0 && units.every(({ state }) => !MOVING_STATES.has(state)) && (units.every(isStill) || same >= STILL))
        return;
      if (now() < deadline) continue;
      const busy = units.filter(({ state }) => MOVING_STATES.has(state)).map(({ id, state }) => `${id} ${state}`);
      throw new BrokenRuleError(
        `after ${settleMs / 1000} s trackUpdates still says: ${busy.join(', ') || 'counts that change'}`,
      );
    }
  }

  private async tick(updateId: string): Promise<void> {
    const { now, sleep, settleMs } = this.options;
    for (const deadline = now() + settleMs; ; await sleep(POLL_MS / 10)) {
      const units = await this.track(updateId);
      if (units.some(({ updated }) => updated > 0)) return;
      if (now() > deadline)
        throw new BrokenRuleError(`after ${settleMs / 1000} s trackUpdates says of no task that it is updated`);
    }
  }

  /** A refused update cannot be followed. */
  private track(updateId: string): Promise<readonly TrackedUnit[]> {
    const world = this.world(this.pipeline, 0);
    return world.ask('trackUpdates', { updateId }).then(
      ({ units }) => units,
      (error: { code?: string }) => {
        if (error.code === 'extension-rejected') return [];
        throw error;
      },
    );
  }

  private get pipeline(): string {
    return `conform-${this.options.nonce}`;
  }

  /** Unrecorded calls between checks. */
  private world(pipeline: string, release: number): PushTypeWorld {
    const silent = { tick: () => Promise.resolve(), settle: () => Promise.resolve() };
    const subject = {
      ...this.options,
      ...silent,
      pipeline,
      release,
      sizes: [0, 0] as const,
      version: this.version ?? '',
    };
    return new PushTypeWorld(subject, new Conversation(this.options));
  }
}

const MOVING_STATES: ReadonlySet<string> = new Set(['pending', 'updating'] satisfies TrackedUnit['state'][]);

/** Whether nothing is in flight. */
const isStill = ({ updated, live, failed, unreachable, gone }: TrackedUnit): boolean =>
  live + failed + unreachable + gone >= updated;

const unlessSkipped = (error: unknown): void => {
  if (!(error instanceof SkippedRuleError)) throw error;
};
