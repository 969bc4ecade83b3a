import { startChild } from '@temporalio/workflow';
import { combineVersions, type Artifact } from '../../domain/artifact';
import { pickInheritance } from '../../domain/deploy/outcome';
import { unitNames } from '../../domain/deploy/unavailable';
import { NO_TIME } from '../../domain/deploy/spans';
import type { DeployInput, DeployResult } from '../../domain/deploy/state';
import { deployId } from '../../domain/ids';
import type { Admission } from '../../domain/release/admission';
import { listUses, type GrantedOffer } from '../../domain/offers/judge';
import { needsOffers } from '../../domain/offers/ofPipeline';
import { viewGranted } from '../../domain/offers/view';
import { isByAdmin } from '../../domain/principals';
import type { DeployEndRecord } from '../../domain/release/state';
import { resolveInputs, findMissingInputs } from '../../domain/release/graph';
import { withBlackouts } from '../../domain/release/openTimes';
import type { DeployAction } from '../../domain/spec/pipeline';
import type { deploy } from '../deploy';
import { getFailureMessage } from '../deploy/calls';
import type { ActionOver } from '../messages';
import { signalOver } from './admissionRequest';
import { deployChild } from './deployChild';
import { notify } from './notices';
import { settleAlarm } from './paging';
import { lastLook } from './protection';
import type { ReleaseSession } from './session';
import { awaitSoak } from './soak';
import { untilUnitsReturn } from './unitReturn';
import { begins, giveBack, itsTurn, awaitApproval } from './deployTurn';
import { awaitOffers, findOffers, returnOffers, settleOffers, takeOffers, type TakenOffers } from './offers';

type GrantedAdmission = Extract<Admission, { kind: 'granted' }>;
type GrantedDeploy = GrantedAdmission & { readonly wishes: readonly GrantedOffer[] };

/** Waits for the pipeline's admission, then runs the deploy as a child. One release of a pipeline deploys at a time. */
export async function runDeployAction(run: ReleaseSession, name: string, action: DeployAction): Promise<void> {
  const { spec, artifacts: given, trigger } = run.input;
  const removes = trigger.kind === 'undeploy';
  const outputsOf = (producer: string) => run.record.actions[producer]?.outputs ?? [];
  // A removal brings nothing, so no bug stops it, and people approve the removal itself.
  const artifacts = removes ? [] : resolveInputs(spec.actions, name, given, outputsOf);
  const missing = removes ? [] : findMissingInputs(action, artifacts);
  if (missing.length > 0) return run.close(name, 'failed', `nothing made ${missing.join(', ')}`);
  const offers = findOffers(run, name, artifacts);
  if (offers === undefined) return;
  if (action.soak && !(await awaitSoak(run, name, action.soak, artifacts))) return;
  if (!(await awaitApproval(run, name, artifacts))) return;
  const { followOn } = run.input;
  const known = followOn && needsOffers(offers) ? await takeOffers(run, name, action, offers) : undefined;
  if (known && 'refusal' in known) {
    returnOffers(run, name, offers);
    return run.close(name, 'failed', known.refusal);
  }
  const target = known && 'action' in known ? known.action : action;
  if (followOn && (await untilUnitsReturn(run, name, target, followOn)) === 'gone') {
    returnOffers(run, name, offers);
    return run.close(name, 'succeeded', `nothing is left to update: ${unitNames(followOn.units)} are gone`);
  }
  const givesUp = () => run.control.ending !== null || run.overtaken !== null;
  let refused = needsOffers(offers) ? await awaitOffers(run, name, artifacts, offers) : undefined;
  let admission = refused;
  let taken: TakenOffers = { action, wishes: [] };
  try {
    for (let isAgain = false; refused === undefined;) {
      admission = await itsTurn(run, name, action, artifacts, givesUp, isAgain);
      if (admission?.kind !== 'granted' || givesUp()) break;
      if (removes || needsOffers(offers)) taken = await takeOffers(run, name, action, offers, admission.lastRelease);
      const look = 'waits' in taken ? 'waits' : await lastLook(run, { action: name, artifacts });
      if (begins(look, givesUp)) break;
      isAgain = look === 'late';
      if (isAgain) continue;
      await giveBack(run, name);
      returnOffers(run, name, offers);
      if ('waits' in taken) admission = refused = await awaitOffers(run, name, artifacts, offers, taken.waits);
      else if (!(await awaitApproval(run, name, artifacts))) return;
    }
  } catch (error) {
    returnOffers(run, name, offers);
    await giveBack(run, name);
    throw error;
  }
  const granted = admission?.kind === 'granted' && !givesUp() ? admission : undefined;
  const before = deploysOfAction(run, name).length;
  let result: DeployResult | undefined;
  if (granted && 'action' in taken) {
    result = await deployAdmitted(run, name, taken.action, artifacts, { ...granted, wishes: taken.wishes });
    settleOffers(run, { action: name, artifacts, result }, offers, granted);
  } else {
    if (granted && 'refusal' in taken) run.close(name, 'failed', taken.refusal);
    else closeRefused(run, name, admission, artifacts);
    returnOffers(run, name, offers);
  }
  const freed = run.groups.release(name);
  if (!run.endsNow)
    await signalOver(run, name, 'deploy', { ...pickInheritance(result), ...findSettledDeploy(run, name, before) });
  await freed;
}

const deploysOfAction = ({ record }: ReleaseSession, name: string) =>
  record.deploys.filter(({ action }) => action === name);

/** How this attempt ended, if it deployed, or was reverted before it could. */
function findSettledDeploy(run: ReleaseSession, name: string, before: number): Pick<ActionOver, 'settled'> {
  const ended = deploysOfAction(run, name)[before];
  return ended === undefined || !run.tells(ended) ? {} : { settled: ended };
}

function closeRefused(
  run: ReleaseSession,
  name: string,
  admission: Admission | undefined,
  artifacts: readonly Artifact[],
): void {
  const { overtaken } = run;
  if (run.control.ending === null && overtaken) {
    run.because(overtaken.why, overtaken.by);
    return run.close(name, 'cancelled', `${overtaken.why} by release ${overtaken.by}`);
  }
  if (run.control.ending || admission === undefined || admission.kind === 'granted')
    return cancelBeforeDeploy(run, name, artifacts);
  if (admission.kind === 'superseded') {
    run.because('superseded', admission.by);
    return run.close(name, 'cancelled', `release ${admission.by} is newer and ready`);
  }
  run.because('bad-package');
  const bad = admission.artifact === undefined ? {} : { knownBad: [admission.artifact] };
  run.close(name, 'cancelled', admission.reason, bad);
}

/** A revert that came before anything was deployed still marks the artifact as bad. */
function cancelBeforeDeploy(run: ReleaseSession, name: string, artifacts: readonly Artifact[]): void {
  const { ending } = run.control;
  run.because('operator');
  run.close(
    name,
    'cancelled',
    `${ending?.revert ? 'reverted' : 'cancelled'} by ${ending?.actor ?? 'a person'} before it began: ${ending?.reason ?? ''}`,
  );
  if (!ending?.revert) return;
  const result: DeployResult = {
    outcome: 'reverted',
    classification: 'good-failure',
    version: combineVersions(artifacts),
    reason: `reverted by ${ending.actor} before anything was updated: ${ending.reason}`,
    reverted: { by: ending.actor, bad: !ending.notBad },
    spans: NO_TIME,
  };
  run.set({ ...run.record, deploys: [...run.record.deploys, { action: name, artifacts, result }] });
}

async function deployAdmitted(
  run: ReleaseSession,
  name: string,
  action: DeployAction,
  artifacts: readonly Artifact[],
  granted: GrantedDeploy,
): Promise<DeployResult | undefined> {
  const uses = granted.wishes.length > 0 ? { wishes: viewGranted(granted.wishes) } : {};
  run.patch(name, { state: 'running', blockedBy: null, until: null, deploying: true, ...uses });
  try {
    const start = startChild<typeof deploy>('deploy', deployInput(run, name, action, artifacts, granted));
    run.deploys.starting(name, start);
    const child = await start;
    const result = await child.result();
    settleAlarm(run, name, result);
    closeDeploy(run, name, { artifacts, ...listUses(granted.wishes), result });
    if (result.reverted) run.notices(notifyReverted(run, name, action, artifacts, result));
    return result;
  } catch (error) {
    run.close(name, 'failed', getFailureMessage(error));
    return undefined;
  }
}

function closeDeploy(run: ReleaseSession, name: string, end: Omit<DeployEndRecord, 'action'>): void {
  const { result } = end;
  run.set({ ...run.record, deploys: [...run.record.deploys, { action: name, ...end }] });
  if (result.outcome === 'succeeded') return run.close(name, 'succeeded', result.reason);
  if (result.outcome !== 'cancelled') return run.close(name, 'failed', result.reason);
  run.because(result.cause ?? 'operator', result.cause ? run.overtaken?.by : undefined);
  run.close(name, 'cancelled', result.reason);
}

function notifyReverted(
  run: ReleaseSession,
  name: string,
  action: DeployAction,
  artifacts: readonly Artifact[],
  { reason, reverted: by }: DeployResult,
): Promise<void> {
  return notify(run, 'reverted', {
    id: run.deploys.workflowId(name),
    deploy: deployId(run.input.spec.pipeline, run.input.number, name),
    pushType: action.with.pushType,
    artifacts,
    reason,
    actor: by && by.by !== 'health' ? by.by : null,
  });
}

/** The input of the deploy, in addition to the fields that every child of its release gets. */
function deployInput(
  run: ReleaseSession,
  name: string,
  action: DeployAction,
  artifacts: readonly Artifact[],
  { lastGood = run.input.lastGood[name] ?? null, inherited, wishes }: GrantedDeploy,
) {
  const { spec, trigger, emergency, followOn, restores } = run.input;
  return deployChild(run, name, {
    spec: action.with,
    artifacts,
    lastGood,
    ...(trigger.kind === 'rollback' ? {} : pickOpenTimes(withBlackouts(spec, action))),
    ...(spec.notify.some(({ on }) => on.includes('paused')) ? { tellsPauses: true } : {}),
    ...(spec.onCall ? { tellsAlarms: true } : {}),
    ...(emergency
      ? { emergency: { skipBake: emergency.skipBake, ...(isByAdmin(trigger) ? { byAdmin: true } : {}) } }
      : {}),
    ...(followOn ? { followOn: { units: followOn.units } } : {}),
    ...(restores?.[name] === undefined ? {} : { restores: restores[name] }),
    ...(trigger.kind === 'undeploy' ? { removal: true, version: lastGood ?? 'an unknown version' } : {}),
    ...(inherited === undefined ? {} : { inherited }),
    ...(wishes.length > 0 ? { wishes } : {}),
  });
}

const pickOpenTimes = ({ window, blackouts }: DeployAction): Pick<DeployInput, 'window' | 'blackouts'> => ({
  ...(window ? { window } : {}),
  ...(blackouts ? { blackouts } : {}),
});
