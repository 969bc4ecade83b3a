import { CancellationScope, getExternalWorkflowHandle, setHandler } from '@temporalio/workflow';
import { isBugNotice, verbOfBug, type BugNotice } from '../../domain/release/bugNotice';
import { NOT_BACK, SYSTEM, type Overtaken } from '../../domain/deploy/control';
import { trimCommands, RUN_COMMANDS } from '../../domain/commandTrim';
import { REQUEST_LIMITS } from '../../domain/limits';
import { describeFreeze } from '../../domain/pipeline/freeze';
import { mayCommand, type Policy } from '../../domain/principals';
import { approvable, withApprover } from '../../domain/release/approval';
import { effectOfRelease, takeRelease, whyNotRelease } from '../../domain/release/control';
import { offerOverridden } from '../../domain/release/overrideOffer';
import { buildRecollection } from '../../domain/release/rerun';
import { windowSkipped } from '../../domain/release/skipWindow';
import { retryAction, type ReleaseRecord } from '../../domain/release/state';
import { releaseStatus } from '../../domain/release/view';
import {
  isAdmitted,
  isAlarmNotice,
  isFreezeNotice,
  isOvertakingNotice,
  isPageAnswer,
  isPauseNotice,
  isPolicy,
  isWaitNotice,
} from '../../domain/messageShapes';
import { cutText } from '../../domain/size';
import { formatTime } from '../../domain/text';
import {
  commandText,
  DEPLOY_VERBS,
  RELEASE_VERBS,
  type CommandInput,
  type CommandRecord,
  type ReleaseVerb,
} from '../../domain/verbs';
import { commandRecord, onSignal, openInbox, TEMPORAL_CANCEL } from '../inbox';
import {
  admissionSignal,
  bugSignal,
  deployAlarmSignal,
  deployPausedSignal,
  frozenSignal,
  overtakenSignal,
  pageAnsweredSignal,
  policySignal,
  recollectionQuery,
  statusQuery,
  verbSignal,
  waitingSignal,
  type FreezeNotice,
} from '../messages';
import { notifyPause } from './notices';
import { takeAlarm, takePageAnswer } from './paging';
import { rollBackSucceeded } from './rollBack';
import type { ReleaseSession } from './session';

/**
 * Registers the handlers of a release. They fold messages into the session, and pass on to its deploys the messages that concern them. Call it before
 * the first await.
 */
export function handleMessages(run: ReleaseSession): void {
  const { input } = run;
  setHandler(statusQuery, () => releaseStatus(run.record, input));
  setHandler(recollectionQuery, () => buildRecollection(input, run.previous, run.record));
  onSignal(policySignal, (policy) => changeOwners(run, policy), isPolicy);
  onSignal(frozenSignal, (frozen) => passFreezeOn(run, frozen), isFreezeNotice);
  onSignal(bugSignal, (bug) => meetBug(run, bug));
  onSignal(overtakenSignal, (overtaken) => passOvertakingOn(run, overtaken), isOvertakingNotice);
  onSignal(admissionSignal, ({ action, admission }) => run.admitted(action, admission), isAdmitted);
  onSignal(waitingSignal, ({ action, why, untilMs }) => run.waits(action, why, untilMs), isWaitNotice);
  // Runs in a scope of its own, like all sends of handlers: the root scope can send nothing once Temporal has cancelled it.
  onSignal(
    deployPausedSignal,
    (paused) => run.notices(CancellationScope.nonCancellable(() => notifyPause(run, paused))),
    isPauseNotice,
  );
  onSignal(deployAlarmSignal, (alarm) => takeAlarm(run, alarm), isAlarmNotice);
  onSignal(pageAnsweredSignal, (given) => takePageAnswer(run, given), isPageAnswer);
  openInbox<ReleaseVerb>({
    verbs: RELEASE_VERBS,
    permit: (actor, verb, command) => whyNotPermitted(run, actor, verb, command),
    whyNot: (verb, command) =>
      verb === 'revert' && input.trigger.kind === 'undeploy'
        ? NOT_BACK
        : whyNotRelease(run.control, run.record, verb, command),
    take: (verb, command) => takeVerb(run, verb, command),
    handOn: (verb, command) => handOn(run, verb, command),
    record: (command) => keepCommand(run, command),
    proofs: () => run.record.proofs,
    believe: (proofs) => run.set({ ...run.record, proofs }),
    unknownSignal: (name) => run.log('ignored', `ignored the unknown signal ${name}`),
  });
  const cancelled = () => CancellationScope.nonCancellable(() => Promise.resolve(takeCancelRequest(run)));
  CancellationScope.current().cancelRequested.catch(cancelled);
}

function changeOwners(run: ReleaseSession, policy: Policy): void {
  run.policy = policy;
  run.deploys.forward('who owns it', (deployId) => getExternalWorkflowHandle(deployId).signal(policySignal, policy));
}

function passOvertakingOn(run: ReleaseSession, overtaken: Overtaken): void {
  run.overtaken = overtaken;
  const { why, by } = overtaken;
  run.deploys.forward(`that it is ${why} by ${by}`, (deployId) =>
    getExternalWorkflowHandle(deployId).signal(overtakenSignal, overtaken),
  );
}

/** A rollback counts as a revert, and a freeze does not stop it. */
function passFreezeOn(run: ReleaseSession, { by }: FreezeNotice): void {
  if (run.input.trigger.kind === 'rollback') return;
  run.control = { ...run.control, frozen: by };
  run.log(by ? 'frozen' : 'unfrozen', by ? `${describeFreeze(by)}: ${by.reason}` : 'the pipeline is no longer frozen');
  run.deploys.forward(`that its pipeline is ${by ? 'frozen' : 'no longer frozen'}`, (deployId) =>
    getExternalWorkflowHandle(deployId).signal(frozenSignal, { by }),
  );
}

/** The platform's settings set the effect of a bug, so no owner's permission is needed. */
function meetBug(run: ReleaseSession, bug: BugNotice): void {
  if (!isBugNotice(bug) || run.bugs.has(bug.id)) return;
  run.bugs.add(bug.id);
  const verb = verbOfBug(run.record, run.input.trigger, bug);
  if (verb === undefined) return run.log('bug', bug.why);
  const command = { actor: SYSTEM, reason: cutText(bug.why, REQUEST_LIMITS.reason.max), permitted: bug.id };
  const why = whyNotRelease(run.control, run.record, verb, command);
  if (why === undefined) {
    if (verb === 'cancel') run.because('bad-package');
    takeVerb(run, verb, command);
  }
  keepCommand(run, commandRecord(verb, command, why));
}

/** Temporal is not an owner: its request is passed on as its own request, not as a person's verb. */
function takeCancelRequest(run: ReleaseSession): void {
  const why = whyNotRelease(run.control, run.record, 'cancel');
  if (why === undefined)
    takeVerb(run, 'cancel', TEMPORAL_CANCEL, (deployId) => getExternalWorkflowHandle(deployId).cancel());
  keepCommand(run, commandRecord('cancel', TEMPORAL_CANCEL, why));
}

function takeVerb(
  run: ReleaseSession,
  verb: ReleaseVerb,
  command: CommandInput,
  send = sendVerb(verb, command),
): string {
  run.control = takeRelease(run.control, verb, command, approvable(run.input, run.record));
  run.set({ ...recordAfter(run, verb, command), paused: run.control.paused });
  if (isForDeploys(verb, command)) run.deploys.forward(verb, send);
  if (verb === 'revert') run.notices(CancellationScope.nonCancellable(() => rollBackSucceeded(run)));
  return effectOfRelease(verb);
}

const sendVerb = (verb: ReleaseVerb, command: CommandInput) => (deployId: string) =>
  getExternalWorkflowHandle(deployId).signal(verbSignal(verb), command);

/**
 * A command that the server kept while no worker ran is sent to the release, even if a client would have sent it to one of its deploys. This
 * way, a deploy that paused by itself is resumed.
 */
function handOn(run: ReleaseSession, verb: ReleaseVerb, command: CommandInput): boolean {
  if (!isForDeploys(verb, command) || !run.deploys.areAny()) return false;
  run.deploys.forward(verb, sendVerb(verb, command));
  return true;
}

/** The effect of a verb on the actions. */
function recordAfter({ record, input }: ReleaseSession, verb: ReleaseVerb, command: CommandInput): ReleaseRecord {
  if (verb === 'retry') return retryAction(record, input.spec, command.action ?? '');
  if (verb === 'pick') return withApprover(record, command);
  if (verb === 'override-offer') return offerOverridden(record, command, formatTime(Date.now()));
  return verb === 'skip-window' ? windowSkipped(record, command) : record;
}

/**
 * Verbs that running deploys have as well. A command that names an action other than a deploy is for that action alone.
 */
const isForDeploys = (verb: ReleaseVerb, { action }: CommandInput): boolean =>
  DEPLOY_VERBS.some((one) => one === verb) && (verb !== 'skip-window' || action === undefined);

/** Owners may command; at a pick, only the principals that it names, if it names any. */
function whyNotPermitted(
  { input, policy }: ReleaseSession,
  actor: string,
  verb: ReleaseVerb,
  { action = '' }: CommandInput,
): string | undefined {
  const picked = verb === 'pick' ? input.spec.actions[action] : undefined;
  const named = picked?.type === 'manual-pick' ? picked.with.principals : [];
  if (mayCommand(named.length > 0 ? { ...policy, owners: named } : policy, actor)) return undefined;
  return named.length > 0
    ? `${actor} may not pick ${action}: ${named.join(', ')} may`
    : `${actor} is not an owner of ${input.spec.pipeline}`;
}

function keepCommand(run: ReleaseSession, command: CommandRecord): void {
  run.set({ ...run.record, commands: trimCommands([...run.record.commands, command], RUN_COMMANDS) });
  run.log(command.accepted ? 'command' : 'ignored', commandText(command));
}
