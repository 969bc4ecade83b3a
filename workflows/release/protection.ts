import { condition, patched } from '@temporalio/workflow';
import type { ApprovalRun, Clearance } from '../../activities/approvals';
import {
  howToRepeat,
  listRequesters,
  waitsForApprovals,
  type ApprovalAsk,
  type ApprovalStatus,
} from '../../domain/access/approvals';
import { getSafeguards } from '../../domain/access/protection';
import type { Artifact } from '../../domain/artifact';
import { withNamedOnly } from '../../domain/release/bugNotice';
import { deployId } from '../../domain/ids';
import { usesWishes } from '../../domain/offers/ofPipeline';
import { approvalsNeeded, listApprovals, approvalWords } from '../../domain/release/approval';
import { judgeLastLook, type LastLook } from '../../domain/release/lastLook';
import type { PickRecord } from '../../domain/release/state';
import { formatDuration, formatTime, withReason } from '../../domain/text';
import type { ApprovalView } from '../../domain/views';
import { pickedSignal } from '../messages';
import { approvalLooks } from '../proxies';
import { BackgroundTasks, waitFor, type WaitOutcome } from '../waitFor';
import { notifyApprovers } from './approval';
import { assertReachable, signalOver, signalReady, toPipeline } from './admissionRequest';
import type { ReleaseSession } from './session';

/** A point at which a release waits until people let it continue. */
export interface Gate {
  readonly action: string;
  /** The artifacts that it would deploy, and that people have to approve. */
  readonly artifacts: readonly Artifact[];
  /** A person picks it, whether or not a rule protects it. */
  readonly pick?: Pick;
}

/**
 * Waits until as many people as the rules of the platform demand have approved the artifacts that an action would deploy. An emergency also needs the
 * approvals that its pipeline demands, and a pick needs a person who has picked it. The rules and the members of groups count as they are when it
 * continues. Until then the pipeline knows of a pick only, so running deploys continue; it does not know of an emergency at all.
 */
export async function awaitRuleApproval(run: ReleaseSession, gate: Gate): Promise<GateDecision> {
  const first = await readStatus(run, gate);
  const atOnce = decideGate(run, gate, first);
  if (atOnce && (atOnce.approved || first.lacks !== null || first.bug !== undefined)) return atOnce;
  const timeoutMs = gate.pick ? gate.pick.timeoutMs : emergencyTimeout(run);
  const untilMs = timeoutMs === undefined ? null : Date.now() + timeoutMs;
  if (!isEmergency(run)) signalReady(run, gate.action, { kind: 'pick', artifacts: [] });
  showGate(run, gate, first, untilMs);
  const view = buildApprovalView(run, gate, first);
  if (view) run.notices(notifyApprovers(run, gate.action, approvalWords(view)));
  const decision = (await awaitDecision(run, gate, first, untilMs)) ?? decideExpired(run, gate, timeoutMs ?? 0);
  run.patch(gate.action, { approval: null, pickBy: null, blockedBy: null, until: null });
  if (isEmergency(run)) return decision;
  assertReachable(run);
  if (!decision.approved) await signalOver(run, gate.action, 'pick');
  else await toPipeline(run).signal(pickedSignal, { release: run.input.number, action: gate.action });
  return decision;
}

/** The rules treat an emergency as outside its window, although its spec has none. */
function safeguards(run: ReleaseSession, name: string) {
  const { spec } = run.input;
  const known = getSafeguards(spec, name);
  const hasWindow = known.hasWindow || isEmergency(run);
  const skipsBake = run.input.emergency?.skipBake === true ? { skipsBake: true as const } : {};
  return { ...known, hasWindow, emergencyApprovals: spec.emergency?.approvals ?? 0, ...skipsBake };
}

/**
 * Whether people and the rules of the platform have a say: a rollback and a follow-on wait for neither. Since 1 December 2026 they have a say in
 * undeploys; one that began before is asked from its next step on.
 */
export const asksRules = ({ input: { trigger } }: ReleaseSession): boolean =>
  waitsForApprovals(trigger) && (trigger.kind !== 'undeploy' || patched('rules-approve-undeploys'));

/**
 * Whether it may still begin. Since its approval, an approver may have left a group, a rule may have been added, or a bug reported. While it is
 * unknown whether it contains a bug, it waits.
 */
export async function lastLook(
  run: ReleaseSession,
  gate: Gate,
  givesUp = (): boolean => run.control.ending !== null || run.overtaken !== null,
): Promise<LastLook> {
  if (!asksRules(run)) return 'go';
  for (let hasWaited = false; ; hasWaited = true) {
    const { met, bug, namedOnly, unasked } = await readStatus(run, gate);
    const isKnown = unasked === undefined;
    if (met && bug === undefined && isKnown && namedOnly !== undefined)
      run.log('cleared', withNamedOnly('it contains no bug in force as far as is known', namedOnly));
    if (isKnown || givesUp())
      return judgeLastLook({
        isLetGo: met && bug === undefined,
        hasWaited: hasWaited || !isKnown,
        isHindered: run.control.ending !== null || run.hindrance() !== undefined,
      });
    run.patch(gate.action, { state: 'blocked', blockedBy: unasked });
    await condition(givesUp, run.input.settings.waitIntervalMs, { summary: `${gate.action}: until it is known` });
  }
}

/** Undefined if its time is up. */
async function awaitDecision(
  run: ReleaseSession,
  gate: Gate,
  first: Clearance,
  untilMs: number | null,
): Promise<GateDecision | undefined> {
  const background = new BackgroundTasks();
  for (let seen = first; ;) {
    const decision = decideGate(run, gate, seen);
    if (decision) return decision;
    showGate(run, gate, seen, untilMs);
    const leftMs = untilMs === null ? undefined : untilMs - Date.now();
    if (leftMs !== undefined && leftMs <= 0) return undefined;
    const before = formatApprovalKey(run, gate);
    const isChanged = () =>
      formatApprovalKey(run, gate) !== before || howToClose(run, gate) !== undefined || run.unreachable !== null;
    const news = await untilNews(run, gate, seen, background, isChanged, leftMs);
    await background.drain();
    if (run.unreachable !== null) return { approved: false, close: () => undefined };
    if (news.kind === 'failed') throw news.error;
    // An answer from before the newest approval does not include it.
    if (news.kind !== 'timeout') seen = news.kind === 'done' ? news.value : await readStatus(run, gate);
  }
}

/** If no rule protects it, it waits only for people. A rule that is added meanwhile is seen once a person has picked it. */
async function untilNews(
  run: ReleaseSession,
  gate: Gate,
  seen: Clearance,
  background: BackgroundTasks,
  isChanged: () => boolean,
  leftMs: number | undefined,
): Promise<WaitOutcome<Clearance>> {
  const summary = `${gate.action}: ${gate.pick ? 'pick' : 'approval'} timeout`;
  if (seen.rules.length > 0) {
    const timeout = leftMs === undefined ? undefined : { afterMs: leftMs, summary };
    return waitFor(background, () => readStatus(run, gate, seen), { wake: isChanged, timeout });
  }
  if (leftMs === undefined) await condition(isChanged);
  else if (!(await condition(isChanged, leftMs, { summary }))) return { kind: 'timeout' };
  return { kind: 'woken' };
}

function readStatus(run: ReleaseSession, gate: Gate, seen: Clearance | null = null): Promise<Clearance> {
  const { settings } = run.input;
  const ask = approvalAsk(run, gate);
  const summary = seen === null ? `${gate.action}: who has to approve it` : `${gate.action}: until it is approved`;
  return approvalLooks(isEmergency(run)).approvalNews.executeWithOptions({ summary }, [
    {
      ask,
      seen,
      intervalMs: settings.waitIntervalMs,
      artifacts: gate.artifacts,
      ...buildApprovalTarget(run, gate.action),
    },
  ]);
}

/** The question for the rules: what it would run, and who has approved that so far. */
export function approvalAsk(run: ReleaseSession, gate: Gate): ApprovalAsk {
  const { spec, trigger } = run.input;
  const approvals = listApprovers(run, gate).map(({ actor, vouched }) => ({ actor, ...(vouched && { vouched }) }));
  return {
    ...{ pipeline: spec.pipeline, kind: trigger.kind, askedBy: listRequesters(trigger), approvals },
    ...(trigger.permitted === undefined ? {} : { permitted: trigger.permitted }),
    ...(trigger.imported ? { imported: trigger.imported } : {}),
    ...(spec.actions[gate.action]?.type === 'manual-pick' ? {} : { action: safeguards(run, gate.action) }),
  };
}

/** Rules may be about the units that an action deploys to. */
function buildApprovalTarget(run: ReleaseSession, name: string): { readonly target?: ApprovalRun['target'] } {
  const { spec, number: release, trigger } = run.input;
  const action = spec.actions[name];
  if (action?.type !== 'deploy' && action?.type !== 'canary') return {};
  const { pushType } = action.with;
  const config = run.filled.get(name) ?? action.with.config;
  // Its units are unknown until its wishes are satisfied. The rules are asked again then.
  if (!run.filled.has(name) && usesWishes(spec, config)) return {};
  const deploy = { pushType, config, deployId: run.deploys.workflowId(name) };
  return { target: { ...deploy, pipeline: spec.pipeline, release, actor: trigger.actor } };
}

const isEmergency = ({ input }: ReleaseSession): boolean => input.trigger.kind === 'emergency';

const emergencyTimeout = (run: ReleaseSession): number | undefined =>
  isEmergency(run) ? run.input.spec.emergency?.timeout : undefined;

const whoPicked = ({ control }: ReleaseSession, name: string): PickRecord | undefined => control.picks[name];

const listApprovers = ({ control, input }: ReleaseSession, { action, artifacts }: Gate): readonly PickRecord[] =>
  listApprovals(control, input.spec, action, artifacts);

const formatApprovalKey = (run: ReleaseSession, gate: Gate): string =>
  `${listApprovers(run, gate).length} ${whoPicked(run, gate.action) !== undefined}`;

/** Undefined while it waits. */
function decideGate(run: ReleaseSession, gate: Gate, seen: Clearance): GateDecision | undefined {
  const refusal = howToClose(run, gate);
  if (refusal) return { approved: false, close: refusal };
  const { lacks, bug } = seen;
  if (bug !== undefined)
    return { approved: false, close: () => closeBad(run, gate.action, withNamedOnly(bug, seen.namedOnly)) };
  if (lacks !== null)
    return {
      approved: false,
      close: () =>
        run.close(
          gate.action,
          'failed',
          run.input.trigger.imported ? lacks : `${lacks}; apply that, and ${howToRepeat(run.input.trigger)}`,
        ),
    };
  const picked = whoPicked(run, gate.action);
  const all = listApprovers(run, gate);
  if (!seen.met || all.length < approvalsNeeded(run.input.spec, run.input.trigger) || (gate.pick && !picked))
    return undefined;
  const counted = seen.rules.flatMap(({ by }) => by);
  const by =
    seen.rules.length > 0 ? all.filter(({ actor }) => counted.includes(actor)) : gate.pick && picked ? [picked] : all;
  const words = by.map(({ actor, reason }) => withReason(`approved by ${actor}`, reason));
  if (!gate.pick || seen.rules.length > 0) for (const text of words) run.log('approved', text);
  return { approved: true, why: words.join('; ') };
}

/** Closes the action because of a bug that was reported while it waited. */
function closeBad(run: ReleaseSession, action: string, bug: string): void {
  run.because('bad-package');
  run.close(action, 'cancelled', bug);
}

/** How to close the action, if an event ends the wait for good. */
function howToClose(run: ReleaseSession, { action }: Gate): (() => void) | undefined {
  const picked = whoPicked(run, action);
  const admission = run.admissions.get(action);
  if (run.control.ending) return () => run.closeCancelled(action, run.endedBy());
  if (picked?.approve === false)
    return () => run.close(action, 'failed', withReason(`rejected by ${picked.actor}`, picked.reason));
  if (admission?.kind !== 'superseded' || isEmergency(run)) return undefined;
  return () => {
    run.because('superseded', admission.by);
    run.close(action, 'cancelled', `release ${admission.by} was picked`);
  };
}

function decideExpired(run: ReleaseSession, gate: Gate, afterMs: number): GateDecision {
  const { spec, number, trigger } = run.input;
  const id = deployId(spec.pipeline, number, gate.action);
  const had = listApprovers(run, gate).length;
  const needed = run.record.actions[gate.action]?.approval?.needed ?? approvalsNeeded(spec, trigger);
  const why = needed > 0 ? `${had} of ${needed} approvals` : `no pick of ${id}`;
  return { approved: false, close: () => run.close(gate.action, 'failed', `${why} within ${formatDuration(afterMs)}`) };
}

function showGate(run: ReleaseSession, gate: Gate, seen: ApprovalStatus, untilMs: number | null): void {
  const approval = buildApprovalView(run, gate, seen);
  const open = seen.rules.filter(({ needed, by }) => by.length < needed).flatMap(({ from }) => from);
  const named = gate.pick && gate.pick.principals.length > 0 ? gate.pick.principals : run.policy.owners;
  run.patch(gate.action, {
    ...{ state: 'blocked', approval, pickBy: open.length > 0 ? [...new Set(open)] : named },
    blockedBy: approval ? approvalWords(approval) : 'waiting for a person to pick it',
    until: untilMs === null ? null : formatTime(untilMs),
  });
}

/** Null if only a pick is needed. */
function buildApprovalView(run: ReleaseSession, gate: Gate, { rules, uncounted }: ApprovalStatus): ApprovalView | null {
  const { spec, trigger } = run.input;
  const [notBy = trigger.actor] = listRequesters(trigger);
  const by = [...new Set(listApprovers(run, gate).map(({ actor }) => actor))];
  if (rules.length > 0) return { needed: Math.max(...rules.map(({ needed }) => needed)), by, notBy, rules, uncounted };
  const needed = approvalsNeeded(spec, trigger);
  return needed > 0 ? { needed, by, notBy } : null;
}

/** The principals that may pick (if none are named, the owners), and the time limit; ms. */
export interface Pick {
  readonly principals: readonly string[];
  readonly timeoutMs: number | undefined;
}
export type GateDecision =
  { readonly approved: true; readonly why: string } | { readonly approved: false; readonly close: () => void };
