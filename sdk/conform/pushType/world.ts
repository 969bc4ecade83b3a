import type { RequestInput, ResponseOf } from '../../protocol/common';
import { pushTypeProtocol, type PushTypeProtocol } from '../../protocol/pushType';
import { SkippedRuleError, type ConformCheck } from '../check';
import type { Conversation, Reachable } from '../conversation';

/** A push type under test, in a world whose time the suite controls. */
export interface PushTypeSubject extends Reachable {
  /** The action's config; names `units`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Two units of at least six tasks, all on `version`, and the number of tasks of each. */
  readonly units: readonly [string, string];
  readonly sizes: readonly [number, number];
  readonly version: string;
  /** Versions whose tasks become live; some checks need a second one. */
  readonly newVersions: readonly [string, string?];
  /** A version whose tasks fail their liveness check. */
  readonly deadVersion?: string | undefined;
  /** The pipeline of the updates: a different one for each check if the service remembers the others. */
  readonly pipeline: string;
  readonly release: number;
  /** Lets time pass until a first task of the update is updated, but not all of them. */
  readonly tick: (updateId: string) => Promise<void>;
  /** Lets time pass until these updates have nothing left to do. */
  readonly settle: (updateIds: readonly string[]) => Promise<void>;
  /** Adds a task to a unit. */
  readonly grow?: ((unit: string) => Promise<void>) | undefined;
  /** ms since the epoch, by the fleet's clock. */
  readonly now: () => number;
  /** Called with every update before it is sent. */
  readonly onUpdate?: (updateId: string) => void;
}

type PushTypeMethods = PushTypeProtocol;
export type UpdateInput = RequestInput<PushTypeMethods['executeUpdates']>;
export type TargetInput = UpdateInput['targets'][number];
export type TrackedUnit = ResponseOf<PushTypeMethods['trackUpdates']>['units'][number];

/** The part of a call about its deploy. */
interface CallContextOptions {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly fence?: number | undefined;
}

/** The tools of the cases of the suite. */
export class PushTypeWorld {
  readonly first: string;
  readonly second: string;
  /** The state of the first unit, which most stories are about, and of the second. */
  readonly size: number;
  readonly secondSize: number;
  readonly version: string;
  readonly fresh: string;
  /** Update ids of one deploy, of the next one and of the previous one. */
  readonly update: string;
  readonly next: string;
  readonly revert: string;
  readonly revertAgain: string;
  readonly other: string;
  readonly older: string;
  /** Removals of the first deploy, and of the next one. */
  readonly removal: string;
  readonly otherRemoval: string;
  private readonly sent = new Set<string>();

  constructor(
    readonly subject: PushTypeSubject,
    readonly talk: Conversation,
  ) {
    [this.first, this.second] = subject.units;
    [this.fresh] = subject.newVersions;
    [this.size, this.secondSize] = subject.sizes;
    this.version = subject.version;
    const deploy = (ahead: number): string => `deploy/${subject.pipeline}/${subject.release + ahead}/deploy/1`;
    this.update = `${deploy(0)}/0/1`;
    this.next = `${deploy(0)}/1/1`;
    this.revert = `${deploy(0)}/revert/1`;
    this.revertAgain = `${deploy(0)}/revert/2`;
    this.other = `${deploy(1)}/0/1`;
    this.older = `${deploy(-1)}/0/1`;
    this.removal = `${deploy(0)}/remove/1`;
    this.otherRemoval = `${deploy(1)}/remove/1`;
  }

  ask<M extends keyof PushTypeMethods & string>(
    method: M,
    request: RequestInput<PushTypeMethods[M]>,
    key?: string,
    { config = this.subject.config, fence }: CallContextOptions = {},
  ): Promise<ResponseOf<PushTypeMethods[M]>> {
    const { pipeline, release } = this.subject;
    const deployId = `deploy/${pipeline}/${release}/deploy/1`;
    const context = {
      pipeline,
      release,
      deployId,
      actor: 'user:alice',
      config: { ...config },
      ...(fence === undefined ? {} : { fence }),
    };
    return this.talk.ask({ protocol: pushTypeProtocol, method, request, context, key });
  }

  target(version: string, rest: Partial<TargetInput> = {}): TargetInput {
    return { unit: this.first, version, artifacts: [], ...rest };
  }

  /** By default two tasks of the first unit, to a new version. */
  push(
    updateId: string,
    change: Partial<UpdateInput> = {},
    key: string = updateId,
    fence?: number,
  ): Promise<{ accepted: string[] }> {
    this.sent.add(updateId);
    this.subject.onUpdate?.(updateId);
    const targets = [this.target(this.fresh, { amount: { count: 2 } })];
    return this.ask('executeUpdates', { updateId, wholeUnit: false, urgency: 'normal', targets, ...change }, key, {
      fence,
    });
  }

  all(version: string, rest: Partial<TargetInput> = {}): Partial<UpdateInput> {
    return { targets: [this.target(version, { amount: { all: true }, ...rest })] };
  }

  everything(): Partial<UpdateInput> {
    const amount = { all: true } as const;
    return { targets: this.subject.units.map((unit) => this.target(this.fresh, { unit, amount })) };
  }

  undo(updatedBy: string[], version: string = this.version): Partial<UpdateInput> {
    return { urgency: 'revert', targets: [this.target(version, { updatedBy })] };
  }

  /** By default the first unit. */
  remove(
    updateId: string,
    units: readonly string[] = [this.first],
    key: string = updateId,
    fence?: number,
  ): Promise<{ accepted: string[] }> {
    this.sent.add(updateId);
    this.subject.onUpdate?.(updateId);
    return this.ask('removeUnits', { updateId, units: [...units] }, key, { fence });
  }

  async progress(updateId: string, unit: string = this.first): Promise<TrackedUnit | undefined> {
    return (await this.ask('trackUpdates', { updateId })).units.find(({ id }) => id === unit);
  }

  async outdated(
    version: string,
    unit: string = this.first,
    rest: Partial<TargetInput> = { amount: { all: true } },
  ): Promise<number | undefined> {
    const targets = [this.target(version, { unit, ...rest })];
    return (await this.ask('needsPush', { targets })).units.find(({ id }) => id === unit)?.outdated;
  }

  async unit(
    id: string = this.first,
  ): Promise<ResponseOf<PushTypeMethods['fetchDeployUnits']>['units'][number] | undefined> {
    return (await this.ask('fetchDeployUnits', {})).units.find((unit) => unit.id === id);
  }

  settle = (): Promise<void> => this.subject.settle([...this.sent]);

  tick = (): Promise<void> => this.subject.tick(this.update);

  async grow(): Promise<void> {
    if (!this.subject.grow) throw new SkippedRuleError('grow', 'needs a way to add a task to a unit');
    await this.subject.grow(this.first);
  }

  /** @throws Skipped if no such version was given */
  get dead(): string {
    if (this.subject.deadVersion !== undefined) return this.subject.deadVersion;
    throw new SkippedRuleError('deadVersion', 'needs a version whose tasks do not come up');
  }

  /** @throws Skipped if no such version was given */
  get newer(): string {
    if (this.subject.newVersions[1] !== undefined) return this.subject.newVersions[1];
    throw new SkippedRuleError('newVersions', 'needs a second new version');
  }

  /** Stops in the middle of an update. An update that was too fast cannot be interrupted. */
  async interrupt(): Promise<void> {
    await this.tick();
    const now = await this.progress(this.update);
    if (now?.state === 'done')
      throw new SkippedRuleError(
        'slow',
        `all ${now.targeted} tasks were updated before the update could be interrupted`,
      );
  }

  /** @throws Skipped if units do not come in pages */
  async requirePages(): Promise<void> {
    const { next } = await this.ask('fetchDeployUnits', { limit: 1 });
    if (next === undefined) throw new SkippedRuleError('pages', 'it gives all its units at once');
  }

  /** @throws Skipped if the method is missing */
  async requireTraffic(): Promise<void> {
    await this.shift(0, [], 'asked');
  }

  async shift(percent: number, units: readonly string[], key: string): Promise<void> {
    const request = { units: [...units], percent, toVersion: this.fresh };
    await this.ask('shiftTraffic', request, `${this.update}/${key}`).catch(skipIfMissing('shiftTraffic'));
  }

  /** @throws Skipped if the method is missing */
  async requireRemoval(): Promise<void> {
    const request = { updateId: this.removal, units: [] };
    await this.ask('removeUnits', request, `${this.removal}/asked`).catch(skipIfMissing('removeUnits'));
  }
}

const skipIfMissing =
  (method: string) =>
  (error: { code?: string }): never => {
    if (error.code !== 'extension-lacks-method') throw error;
    throw new SkippedRuleError(method, `it leaves ${method} out, as it may`);
  };

/** Of a call with a low fence: the service may have seen a higher one before the suite. */
export function unlessOutdated(error: Error): void {
  if ((error as { code?: unknown }).code !== 'extension-rejected') throw error;
}

export const EXECUTE_UPDATES = 'executeUpdates';

/** A row of the suite. */
export const pushTypeCheck = (
  title: string,
  { method, advice }: { readonly method: keyof PushTypeMethods & string; readonly advice: string },
  story: (world: PushTypeWorld) => Promise<void>,
): ConformCheck<PushTypeSubject> => ({
  ...{ title, method, advice },
  run: (subject, talk) => story(new PushTypeWorld(subject, talk)),
});
