import type { Artifact } from '../../../../domain/artifact';
import { pickInheritance } from '../../../../domain/deploy/outcome';
import type { DeployResult } from '../../../../domain/deploy/state';
import { endChange, unpinOffers, type OfferBoard, type UnpinMessage } from '../../../../domain/offers/board';
import { listOffering, listUses, type GrantedOffer, type WishAnswer } from '../../../../domain/offers/judge';
import {
  fillAnyway,
  fillWishes,
  findDeployOffers,
  findRunning,
  needsOffers,
  placeRelease,
  type DeployOffers,
  type Remains,
} from '../../../../domain/offers/ofPipeline';
import type { Admission } from '../../../../domain/release/admission';
import { resolveInputs } from '../../../../domain/release/graph';
import { hasActionEnded, nextActions } from '../../../../domain/release/nextActions';
import { releaseResult } from '../../../../domain/release/outcome';
import {
  getActionStates,
  newRelease,
  withAction,
  type DeployEndRecord,
  type ReleaseInput,
  type ReleaseRecord,
} from '../../../../domain/release/state';
import { skipsTheQueue } from '../../../../domain/release/urgent';
import type { DeployAction } from '../../../../domain/spec/pipeline';
import { NOW } from '../../../builders/pipelineWorld';
import {
  judge,
  makeDeclared,
  makeRestored,
  pin,
  pinLate,
  readOffers,
  send,
  takeOffers as take,
  type Ask,
} from './activities';
import type { Flow, Task } from './tasks';
import type { World } from './world';

/** The sequence of workflows/release.ts, workflows/release/deployAction.ts and workflows/release/offers.ts. */

export class Run {
  record: ReleaseRecord;
  readonly admissions = new Map<string, Admission>();
  ending = false;
  overtaken: number | null = null;
  isTerminated = false;
  hasReported = false;
  /** The next last look of its deploys. */
  lastLook: 'go' | 'late' | 'lapsed' = 'go';
  readonly offerMessages = new Map<string, Task>();
  readonly mixed = new Map<string, Remains>();
  private changed = true;

  constructor(
    readonly world: World,
    readonly input: ReleaseInput,
  ) {
    this.record = newRelease(input, NOW);
  }

  get id(): string {
    return `${this.input.spec.pipeline}/${this.input.number}`;
  }

  get givesUp(): boolean {
    return this.ending || this.overtaken !== null;
  }

  get hasEnded(): boolean {
    return Object.values(getActionStates(this.record)).every(hasActionEnded);
  }

  set(record: ReleaseRecord): void {
    this.record = record;
    this.changed = true;
  }

  patch(name: string, patch: Parameters<typeof withAction>[2]): void {
    this.set(withAction(this.record, name, patch));
  }

  close(name: string, state: 'succeeded' | 'failed' | 'cancelled' | 'skipped', message: string): void {
    this.patch(name, { state, message, blockedBy: null });
    this.world.log(`${this.id}/${name} ${state}: ${message}`);
  }

  admitted(action: string, admission: Admission): void {
    this.admissions.set(action, admission);
    this.changed = true;
  }

  /** A person cancels it. */
  cancel(): void {
    this.ending = true;
    this.changed = true;
  }

  /** `release()` */
  *main(): Flow {
    while (!this.hasEnded) {
      this.changed = false;
      if (this.ending) this.cancelWaiting();
      else this.advance();
      yield () => this.changed;
    }
    this.hasReported = true;
    const { spec } = this.input;
    this.world.pipe(spec.pipeline).recordRelease(releaseResult(this.record, this.input, NOW));
  }

  private cancelWaiting(): void {
    for (const [name, { state }] of Object.entries(this.record.actions))
      if (state === 'waiting') this.close(name, 'cancelled', 'cancelled');
  }

  private advance(): void {
    const { spec, artifacts, previous } = this.input;
    const states = getActionStates(this.record);
    for (const next of nextActions({ spec, states, artifacts, previous })) {
      if (next.kind === 'skip') this.close(next.action, 'skipped', next.reason);
      else {
        this.patch(next.action, { state: 'running' });
        this.world.begin(`${this.id}/${next.action}`, 'flow', this.id, () => runDeployAction(this, next.action));
      }
    }
  }
}

function* runDeployAction(run: Run, name: string): Flow {
  const { spec, artifacts: given, trigger, followOn } = run.input;
  const action = spec.actions[name] as DeployAction;
  const artifacts = resolveInputs(spec.actions, name, given, () => []);
  const { lacks, ...offers } = findDeployOffers(run.input, name, artifacts);
  if (lacks !== undefined && trigger.kind !== 'emergency') return run.close(name, 'failed', lacks);
  const known = followOn && needsOffers(offers) ? yield* takeOffers(run, name, action, offers) : undefined;
  if (known && 'refusal' in known) {
    returnOffers(run, name, offers);
    return run.close(name, 'failed', known.refusal);
  }
  if (followOn) {
    const units = run.world.fleet(formatUser(run, name));
    yield () =>
      run.givesUp || run.admissions.has(name) || followOn.units.some((unit) => units.get(unit)?.isAway === false);
  }
  let refused = needsOffers(offers) ? yield* awaitOffers(run, name, artifacts, offers) : undefined;
  let admission = refused;
  let taken: TakenOffers = { action, wishes: [] };
  for (let isAgain = false; refused === undefined;) {
    admission = yield* itsTurn(run, name, artifacts);
    if (admission?.kind !== 'granted' || run.givesUp) break;
    if (needsOffers(offers)) taken = yield* takeOffers(run, name, action, offers, admission.lastRelease);
    const look = 'waits' in taken ? 'waits' : yield* lastLook(run);
    if (look === 'go' || (look !== 'lapsed' && run.givesUp)) break;
    isAgain = look === 'late';
    if (isAgain) continue;
    signalOver(run, name);
    returnOffers(run, name, offers);
    if ('waits' in taken) admission = refused = yield* awaitOffers(run, name, artifacts, offers, taken.waits);
  }
  const granted = admission?.kind === 'granted' && !run.givesUp ? admission : undefined;
  const before = deploysOf(run, name).length;
  let result: DeployResult | undefined;
  if (granted && 'action' in taken) {
    result = yield* deployAdmitted(run, name, taken.action, artifacts, taken.wishes);
    settleOffers(run, { action: name, artifacts, result }, offers, granted);
  } else {
    if (granted && 'refusal' in taken) {
      run.world.watch.refused(run, name, granted.lastRelease);
      run.close(name, 'failed', taken.refusal);
    } else
      run.close(
        name,
        'cancelled',
        admission?.kind === 'superseded' ? `release ${admission.by} is newer` : 'it gave up',
      );
    returnOffers(run, name, offers);
  }
  if (!run.hasEnded) signalOver(run, name, { ...pickInheritance(result), ...findSettled(run, name, before) });
}

const deploysOf = ({ record }: Run, name: string) => record.deploys.filter(({ action }) => action === name);

function findSettled(run: Run, name: string, before: number): { readonly settled?: DeployEndRecord } {
  const ended = deploysOf(run, name)[before];
  return ended === undefined ? {} : { settled: ended };
}

const formatUser = ({ input }: Run, name: string): string => `${input.spec.pipeline}/${name}`;

const toAsk = (run: Run, name: string, { wishes, plan }: DeployOffers): Ask => ({
  ...{ pipeline: run.input.spec.pipeline, user: formatUser(run, name), ...placeRelease(run.input), wishes, plan },
});

function signalReady(run: Run, name: string, artifacts: readonly Artifact[], later?: { readonly why: string }): void {
  const { number, trigger, spec } = run.input;
  run.admissions.delete(name);
  run.world.pipe(spec.pipeline).ready({
    ...{ release: number, action: name, artifacts, kind: 'deploy', mutex: [], rollback: trigger.kind === 'rollback' },
    ...(trigger.kind === 'emergency' ? { emergency: true } : {}),
    ...(later ? { later } : {}),
  });
}

const signalOver = (run: Run, name: string, left: Parameters<ReturnType<World['pipe']>['over']>[1] = {}): void =>
  run.world.pipe(run.input.spec.pipeline).over({ release: run.input.number, action: name }, left);

function* itsTurn(run: Run, name: string, artifacts: readonly Artifact[]): Flow<Admission | undefined> {
  signalReady(run, name, artifacts);
  yield () => run.admissions.has(name) || run.ending;
  return run.admissions.get(name);
}

function* lastLook(run: Run): Flow<'go' | 'late' | 'lapsed'> {
  yield undefined;
  const { kind } = run.input.trigger;
  const look = kind === 'rollback' || kind === 'follow-on' ? 'go' : run.lastLook;
  run.lastLook = 'go';
  return look;
}

function* awaitOffers(
  run: Run,
  name: string,
  artifacts: readonly Artifact[],
  offers: DeployOffers,
  refused?: string,
): Flow<Admission | undefined> {
  if (skipsTheQueue(run.input.trigger)) return undefined;
  run.admissions.delete(name);
  const isOver = (): boolean => run.givesUp || run.admissions.has(name);
  const show = (why: string): void => {
    run.patch(name, { state: 'blocked', blockedBy: why });
    run.world.log(`${run.id}/${name} waits: ${why}`);
    signalReady(run, name, artifacts, { why });
  };
  if (refused !== undefined) {
    show(refused);
    // Its timer may go off at any moment.
    yield undefined;
  }
  for (let seen = refused; !isOver();) {
    const answer: WishAnswer = yield* judge(run.world, toAsk(run, name, offers));
    if (isOver() || answer.kind === 'satisfied') break;
    if (answer.reason !== seen) show((seen = answer.reason));
    yield undefined;
  }
  run.patch(name, { blockedBy: null });
  return run.admissions.get(name);
}

type TakenOffers =
  | { readonly action: DeployAction; readonly wishes: readonly GrantedOffer[] }
  | { readonly refusal: string }
  | { readonly waits: string };

function* takeOffers(
  run: Run,
  name: string,
  action: DeployAction,
  offers: DeployOffers,
  before?: number,
): Flow<TakenOffers> {
  if (skipsTheQueue(run.input.trigger)) return yield* takeAnyway(run, name, action, offers, before);
  run.patch(name, { state: 'blocked', blockedBy: 'their answer' });
  const earlier = run.offerMessages.get(name);
  const begin = () => take(run.world, toAsk(run, name, offers));
  const task = run.world.begin(`take ${run.id}/${name}`, 'minutes', run.id, begin, earlier);
  yield () => task.isOver || run.givesUp;
  if (run.givesUp || task.state === 'failed')
    inOrder(run, name, 'drain', 'flow', function* () {
      yield () => task.isOver;
    });
  if (run.givesUp) return { waits: 'it gave up' };
  if (task.state === 'failed' || task.value === undefined) return { waits: 'they do not answer' };
  if (task.value.kind === 'waiting') return { waits: task.value.reason };
  const filled = fillWishes(action.with.config, offers.wishes, task.value.granted);
  return 'refusal' in filled ? filled : withConfig(action, filled.config, task.value.granted);
}

const withConfig = (
  action: DeployAction,
  config: DeployAction['with']['config'],
  wishes: readonly GrantedOffer[],
): TakenOffers => ({ action: { ...action, with: { ...action.with, config } }, wishes });

function* takeAnyway(
  run: Run,
  name: string,
  action: DeployAction,
  { wishes }: DeployOffers,
  before: number | undefined,
): Flow<TakenOffers> {
  if (wishes.length === 0) return { action, wishes: [] };
  const { spec, trigger } = run.input;
  const isAgain = trigger.kind !== 'emergency';
  const releases = [trigger.of, before].flatMap((release) => release ?? []);
  const ask = {
    ...{ pipeline: spec.pipeline, wishes, pushType: action.with.pushType, needsPresent: !isAgain },
    before: releases.map((release) => ({ release, action: name })),
    by: spec,
  };
  for (const isPrompt of [true, false]) {
    const known = yield* readOffers(run.world, { ...ask, isPrompt });
    if (run.givesUp) return { waits: 'it gave up' };
    const filled = fillAnyway(action.with, wishes, known, isAgain);
    if (!('refusal' in filled)) {
      const by = { user: formatUser(run, name), ...placeRelease(run.input), anyway: true } as const;
      // A list of its own, by which its pin is known.
      const granted = [...filled.granted];
      inOrder(run, name, `pin anyway ${by.user} ${by.release}`, 'minutes', () => pinAnyway(run, by, granted));
      return withConfig(action, filled.config, granted);
    }
    // With earlier values it does not wait until all boards answer.
    if (isPrompt) run.world.watch.refused(run, name, before);
    else return filled;
  }
  return { waits: 'it gave up' };
}

function* pinAnyway(run: Run, by: Parameters<typeof pin>[1], granted: readonly GrantedOffer[]): Flow {
  run.world.watch.pinnedLate(by, granted, yield* pinLate(run.world, by, granted));
}

function* deployAdmitted(
  run: Run,
  name: string,
  action: DeployAction,
  artifacts: readonly Artifact[],
  granted: readonly GrantedOffer[],
): Flow<DeployResult | undefined> {
  run.patch(name, { state: 'running', blockedBy: null, deploying: true });
  const deploy = run.world.startDeploy(run, name, action, artifacts, granted);
  yield () => deploy.state !== 'runs';
  const { result } = deploy;
  if (result === undefined) {
    run.close(name, 'failed', 'its deploy was terminated');
    return undefined;
  }
  const end: DeployEndRecord = { action: name, artifacts, ...listUses(granted), result };
  run.set({ ...run.record, deploys: [...run.record.deploys, end] });
  const { outcome, reason } = result;
  run.close(name, outcome === 'succeeded' || outcome === 'cancelled' ? outcome : 'failed', reason);
  return result;
}

function returnOffers(run: Run, name: string, offers: DeployOffers): void {
  if (!run.mixed.has(name)) endOffers(run, name, offers, { runs: 'nowhere', isUnchanged: true, before: [] });
}

function settleOffers(
  run: Run,
  {
    action: name,
    artifacts,
    result,
  }: Pick<DeployEndRecord, 'action' | 'artifacts'> & { readonly result: DeployResult | undefined },
  offers: DeployOffers,
  { uses: before = [], lastRelease }: { readonly uses?: readonly string[]; readonly lastRelease?: number },
): void {
  const { spec, trigger, offered, followOn } = run.input;
  const { world } = run;
  const by = { ...placeRelease(run.input), action: name };
  if (trigger.kind === 'rollback' && result?.outcome === 'succeeded' && offered)
    world.begin(`make ${run.id}/${name}`, 'forever', run.id, () =>
      makeRestored(world, spec.pipeline, { ...by, artifacts, of: lastRelease ?? null }),
    );
  if (!needsOffers(offers) && before.length === 0) return;
  const runs = findRunning(result, followOn !== undefined, run.mixed.get(name));
  if (runs === 'somewhere') run.mixed.set(name, result === undefined ? 'unknown' : (run.mixed.get(name) ?? 'mixed'));
  else run.mixed.delete(name);
  const { plan } = offers;
  if (plan && result?.outcome === 'succeeded')
    world.begin(`make ${run.id}/${name}`, 'forever', run.id, () =>
      makeDeclared(world, spec.pipeline, { ...by, made: plan.made, elsewhere: plan.elsewhere }),
    );
  const isUnchanged = findRunning(result, followOn !== undefined) === 'nowhere';
  endOffers(run, name, offers, { runs, isUnchanged, before: runs === 'everywhere' ? before : [] });
}

function endOffers(
  run: Run,
  name: string,
  { wishes, plan }: DeployOffers,
  { runs, isUnchanged, before }: Pick<UnpinMessage, 'runs'> & { isUnchanged: boolean; before: readonly string[] },
): void {
  const { spec } = run.input;
  const by = placeRelease(run.input);
  const own = { release: by.release, action: name };
  if (plan && isUnchanged) tell(run, name, spec.pipeline, 'end-change', (board) => endChange(board, own));
  const message: UnpinMessage = { user: formatUser(run, name), ...by, runs };
  for (const from of new Set([...listOffering(wishes), ...before]))
    tell(run, name, from, `unpin ${runs}`, (board) => unpinOffers(board, message));
}

function tell(run: Run, name: string, to: string, label: string, change: (board: OfferBoard) => OfferBoard): void {
  const cause = `${label} ${run.id}/${name}`;
  inOrder(run, name, `${cause} to ${to}`, 'minutes', () => send(run.world, to, cause, change));
}

function inOrder(run: Run, name: string, label: string, retries: Task['retries'], begin: () => Flow): void {
  const before = run.offerMessages.get(name);
  run.offerMessages.set(name, run.world.begin(label, retries, run.id, begin, before));
}
