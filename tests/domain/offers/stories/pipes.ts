import type { Artifact } from '../../../../domain/artifact';
import { sameJson } from '../../../../domain/json';
import { declareOffers, endUse, type OfferBoard } from '../../../../domain/offers/board';
import { findOfferCycle } from '../../../../domain/offers/cycles';
import { listUses } from '../../../../domain/offers/judge';
import { listDeclaredOffers } from '../../../../domain/offers/ofPipeline';
import { admit, enqueueReady, withdraw } from '../../../../domain/pipeline/admission';
import { startable, thinQueue } from '../../../../domain/pipeline/queue';
import { reconcile } from '../../../../domain/pipeline/reconcile';
import { recordDeploy, recordRelease } from '../../../../domain/pipeline/recordOutcome';
import { buildReleaseInput } from '../../../../domain/pipeline/releaseInput';
import { rerunCreated, rerunUnderWay, whyNotRerun } from '../../../../domain/pipeline/rerun';
import { findRollbackArtifacts, queueRollback } from '../../../../domain/pipeline/rollback';
import { withSpec } from '../../../../domain/pipeline/specChange';
import {
  markReleaseRunning,
  newPipeline,
  queueRelease,
  restoreState,
  type PipelineState,
  type ReadyAction,
} from '../../../../domain/pipeline/state';
import type { DeployEndRecord, ReleaseResult } from '../../../../domain/release/state';
import { DEFAULT_SETTINGS } from '../../../../domain/settings';
import type { PipelineSpec } from '../../../../domain/spec/pipeline';
import { artifact, manual, NOW } from '../../../builders/pipelineWorld';
import { declarePresent, send } from './activities';
import { Run } from './releases';
import type { Task } from './tasks';
import type { World } from './world';

type Ref = Pick<ReadyAction, 'release' | 'action'>;
type Left = { readonly settled?: DeployEndRecord; readonly leaves?: Parameters<typeof withdraw>[1]['leaves'] };

/** The sequence of workflows/pipeline.ts, with the pipeline's own decisions. */
export class Pipe {
  state: PipelineState | null = null;
  private declared: readonly string[] = [];
  private isAdvancing = false;
  private changed = false;

  constructor(
    private readonly world: World,
    readonly name: string,
  ) {}

  get isApplied(): boolean {
    return this.state !== null && this.state.retired === undefined;
  }

  /** `conveyor apply`. @returns the circle for which it is refused */
  apply(spec: PipelineSpec): readonly string[] | undefined {
    const known = new Map(
      [...this.world.pipes.values()].flatMap((pipe) =>
        pipe.state && pipe.isApplied ? [[pipe.name, pipe.state.spec] as const] : [],
      ),
    );
    const cycle = findOfferCycle(known.set(this.name, spec), this.name);
    if (cycle) return cycle;
    const { state } = this;
    this.set(() =>
      state
        ? { ...withSpec(restoreState(state), spec), settings: state.settings }
        : newPipeline(spec, {}, DEFAULT_SETTINGS),
    );
    return undefined;
  }

  release(): void {
    this.set((state) => queueRelease(state, [this.build()], manual(), NOW));
  }

  emergency(at: number): void {
    const deploys = Object.keys(this.state?.spec.actions ?? {});
    const action = deploys[at % deploys.length] ?? '';
    const trigger = { kind: 'emergency', actor: 'user:alice', key: null, reason: 'outage' } as const;
    this.set((state) => queueRelease(state, [this.build()], trigger, NOW, { emergency: { action, skipBake: false } }));
  }

  private build = (): Artifact => artifact(`${this.name}:${this.state?.nextNumber ?? 0}`);

  /** @returns whether there is anything to roll back */
  rollBack(at: number): boolean {
    const { state } = this;
    const newest = Object.values(state?.good ?? {}).flatMap((good) => good.at(-1)?.release ?? []);
    const of = newest[at % Math.max(1, newest.length)];
    if (state === null || of === undefined) return false;
    const back = findRollbackArtifacts(state, of);
    if ('impossible' in back) return false;
    this.set((now) => queueRollback(now, back, { of, actor: 'user:alice', reason: 'slow', notBad: true }, NOW));
    return true;
  }

  rerun(at: number): boolean {
    const { state } = this;
    const may = (state?.history ?? []).filter(
      ({ number }) => state && (rerunUnderWay(state, number) ?? whyNotRerun(state, number)) === undefined,
    );
    const row = may[at % Math.max(1, may.length)];
    if (row === undefined) return false;
    this.set((now) => rerunCreated(now, row.number, row.artifacts.slice(0, 1), manual(), NOW));
    return true;
  }

  retire(): boolean {
    if (!this.isApplied || this.state?.active.length !== 0) return false;
    this.set((state) => ({ ...state, retired: { actor: 'user:alice', at: '', reason: 'done' } }));
    return true;
  }

  endUse(user: string): void {
    this.toOffers(`end-use ${user}`, (board) => endUse(board, user));
  }

  ready(ready: ReadyAction): void {
    this.set((state) => enqueueReady(state, ready, NOW));
  }

  over({ release, action }: Ref, { settled, ...left }: Left): void {
    this.set((state) =>
      withdraw(settled ? recordDeploy(state, release, settled, NOW) : state, { release, action, ...left }),
    );
  }

  recordRelease(result: ReleaseResult): void {
    this.set((state) => recordRelease(state, result, NOW));
  }

  /** A release was terminated: its pipeline looks until all that it began is over. */
  abandon(run: Run): void {
    const mine = [...this.world.deploys.values()].filter((deploy) => deploy.run === run);
    const look = (): void => {
      const open = mine.flatMap(({ state, id }) => (state === 'runs' ? [id] : []));
      const deploys = mine.flatMap(({ action, artifacts, granted, result }): DeployEndRecord[] =>
        result ? [{ action, artifacts, result, ...listUses(granted) }] : [],
      );
      this.set((state) =>
        reconcile(state, { kind: 'gone', number: run.input.number, endedAt: '', deploys, open }, NOW),
      );
    };
    this.world.begin(`look after ${run.id}`, 'flow', null, function* () {
      look();
      yield () => mine.every(({ state }) => state !== 'runs');
      look();
    });
  }

  private set(step: (state: PipelineState) => PipelineState): void {
    this.state = step(this.state as PipelineState);
    this.world.changes += 1;
    this.changed = true;
    if (this.isAdvancing) return;
    this.isAdvancing = true;
    while (this.changed) this.advance();
    this.isAdvancing = false;
  }

  private advance(): void {
    this.changed = false;
    if (this.state === null) return;
    this.declareOffers();
    this.state = thinQueue(this.state, NOW);
    for (const release of startable(this.state, NOW)) {
      const run = new Run(this.world, buildReleaseInput(this.state, release));
      this.state = markReleaseRunning(this.state, release.number);
      this.world.runs.set(run.id, run);
      this.world.log(`${run.id} starts (${release.trigger.kind})`);
      this.world.begin(run.id, 'flow', run.id, () => run.main());
    }
    const { state, decisions, overtaken } = admit(this.state, NOW);
    this.state = state;
    for (const { release, action, admission } of decisions) {
      const run = this.world.runs.get(`${this.name}/${release}`);
      if (run && !run.isTerminated) run.admitted(action, admission);
      else {
        this.state = withdraw(this.state, { release, action });
        this.changed = true;
      }
    }
    for (const { release, by } of overtaken) {
      const run = this.world.runs.get(`${this.name}/${release}`);
      if (run) run.overtaken = by;
    }
  }

  private declareOffers(): void {
    const declared = listDeclaredOffers(this.state as PipelineState);
    if (sameJson(declared, this.declared)) return;
    this.declared = declared;
    this.world.facts.declares(this.name, declared);
    this.sendDeclared(declared);
  }

  /** Temporal keeps the order of messages to a workflow that runs. To one that was terminated, an activity sends them. */
  private sendDeclared(declared: readonly string[]): void {
    const { world, name, sent } = this;
    const host = world.host(name);
    this.sent = world.begin(`declare ${name}`, 'flow', null, function* () {
      yield () => sent?.isOver ?? true;
      if (host.isRunning) host.send(`declare ${declared.join(' ')}`, (board) => declareOffers(board, declared));
      else world.begin(`declare again ${name}`, 'minutes', null, () => declarePresent(world, name));
    });
  }

  private sent: Task | undefined;

  private toOffers(label: string, change: (board: OfferBoard) => OfferBoard): void {
    this.world.begin(label, 'minutes', null, () => send(this.world, this.name, label, change));
  }
}
