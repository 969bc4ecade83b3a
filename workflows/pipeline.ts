import {
  allHandlersFinished,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import { admit } from '../domain/pipeline/admission';
import { nextWake } from '../domain/pipeline/openings';
import { startable, thinQueue } from '../domain/pipeline/queue';
import type { ActiveRelease, PipelineState } from '../domain/pipeline/state';
import { reconcileAbandoned } from './pipeline/abandonedReleases';
import { lookUpCalendar } from './pipeline/lookUpCalendar';
import { answerRequests } from './pipeline/requests';
import { PipelineRun } from './pipeline/run';
import { reportExpired } from './pipeline/reportExpired';
import { outwaitReceivers } from './pipeline/silentReceivers';
import { startRelease } from './pipeline/startRelease';
import { buildVersioningOptions } from './versioning';

/**
 * A pipeline until it is retired, usually for ever. It numbers releases, starts them, admits one at a time to deploy, and remembers the good and the
 * bad versions. An idle pipeline costs nothing, because it waits on no timer (docs/design/overview.md#costs). A Temporal cancel request does not end
 * it, since a batch of them may reach every workflow of the pipeline.
 */
export async function pipeline(carried: PipelineState | null = null): Promise<void> {
  const run = new PipelineRun(carried, answerRequests);
  CancellationScope.current().cancelRequested.catch(() => run.cancelRequested());
  return CancellationScope.nonCancellable(() => forEver(run));
}
setWorkflowOptions(buildVersioningOptions('pipeline'), pipeline);

async function forEver(run: PipelineRun): Promise<void> {
  for (;;) {
    await advancePipeline(run);
    run.summarise();
    if (isRetired(run) && !run.isNotifying && (await isQuiet(run))) return;
    if (isOverdue(run)) await reconcileAbandoned(run);
    if (
      workflowInfo().continueAsNewSuggested &&
      allHandlersFinished() &&
      (!run.isNotifying || (await outwaitReceivers(run)))
    )
      await continuePipeline(run);
    if (!run.changed) await waitForChange(run);
  }
}

/** Whether all messages are delivered, and none came meanwhile. */
async function isQuiet(run: PipelineRun): Promise<boolean> {
  await run.delivered();
  await condition(() => run.changed || allHandlersFinished());
  return !run.changed;
}

const isRetired = ({ state }: PipelineRun): boolean => state?.retired !== undefined && state.active.length === 0;

/** Acts on all changes: releases start, deploys are admitted, and the others get the reason why they wait. */
async function advancePipeline(run: PipelineRun): Promise<void> {
  run.changed = false;
  if (run.state === null) return;
  run.thaw();
  run.declareOffers();
  await lookUpCalendar(run);
  reportExpired(run, run.state);
  run.decided(thinQueue);
  for (const release of startable(run.state, Date.now()))
    if (stillStarts(run, release)) await startRelease(run, release);
  const { state, decisions, overtaken, waiting } = admit(run.state, Date.now());
  run.decided(() => state);
  for (const { release, action, admission } of decisions) await run.sendDecision(release, { action, admission });
  for (const each of overtaken) await run.overtake(each);
  for (const { ready, ...obstacle } of waiting) if (ready.kind !== 'pick') await run.reportObstacle(ready, obstacle);
}

/** While one release starts, the next may be cancelled, or the pipeline may be frozen. */
function stillStarts({ state }: PipelineRun, { number }: ActiveRelease): boolean {
  return state !== null && startable(state, Date.now()).some((release) => release.number === number);
}

/** A busy pipeline never waits long enough for the look at its releases, so the time decides. */
function isOverdue(run: PipelineRun): boolean {
  const { state, lookedAtMs, looks } = run;
  return (
    looks.size === 0 && state !== null && hasRunning(state) && Date.now() >= lookedAtMs + 2 * lookIntervalMs(run, state)
  );
}

/**
 * The interval of looks while releases run. The work that a release left behind ends soon, and others may wait for it. If Temporal reports the
 * ends of releases, looks are rare.
 */
function lookIntervalMs(run: PipelineRun, { active, settings }: PipelineState): number {
  const { waitIntervalMs, reconcileIntervalMs } = settings;
  if (active.some(({ gone }) => gone)) return Math.min(waitIntervalMs, reconcileIntervalMs);
  return run.followsAll() ? SELDOM_FACTOR * reconcileIntervalMs : reconcileIntervalMs;
}

const SELDOM_FACTOR = 6;

const hasRunning = ({ active }: PipelineState): boolean => active.some((release) => release.state === 'running');

async function waitForChange(run: PipelineRun): Promise<void> {
  const { state } = run;
  const wakesAtMs = state === null ? undefined : nextWake(state, Date.now());
  const looks = state !== null && hasRunning(state) && run.looks.size === 0;
  if (state === null || (!looks && wakesAtMs === undefined)) return condition(() => run.changed);
  const lookMs = looks ? lookIntervalMs(run, state) : Infinity;
  const untilMs = wakesAtMs === undefined ? Infinity : wakesAtMs - Date.now();
  if (untilMs <= lookMs) {
    await condition(() => run.changed, untilMs, { summary: 'wait for what is due next' });
    return;
  }
  const changed = await condition(() => run.changed, lookMs, {
    summary: 'check that the active releases still run',
  });
  if (!changed) await reconcileAbandoned(run);
}

/**
 * The state contains all messages, so a history may end between any two steps. It cannot wait for a quiet moment: while
 * thousands of submissions arrive there is no such moment, and one history takes 2,000.
 */
async function continuePipeline(run: PipelineRun): Promise<void> {
  do {
    run.declareOffers();
    await run.delivered();
  } while (run.hasUndeclared());
  // The server carries over search attributes, but not the memo by which sweeps find the pipeline.
  const { memo } = workflowInfo();
  await makeContinueAsNewFunc<typeof pipeline>(memo ? { memo } : {})(run.state);
}
