import { CancellationScope, patched, setHandler } from '@temporalio/workflow';
import { listBroughtSince } from '../../domain/broughtVersions';
import {
  describeEffect,
  failsCanary,
  freeze,
  isReverting,
  take,
  whyNot,
  whyNotOvertaken,
  whyOnlyPersons,
  type Overtaken,
} from '../../domain/deploy/control';
import { hashConfig } from '../../domain/deploy/result';
import { change, leavesToOthers, toDeploySituation } from '../../domain/deploy/state';
import { deployStatus } from '../../domain/deploy/view';
import { trimCommands, RUN_COMMANDS } from '../../domain/commandTrim';
import { describeFreeze } from '../../domain/pipeline/freeze';
import { isPerson, mayCommand } from '../../domain/principals';
import { isFreezeNotice, isLockGrant, isOvertakingNotice, isPolicy } from '../../domain/messageShapes';
import { withReason } from '../../domain/text';
import { commandText, DEPLOY_VERBS, type CommandInput, type CommandRecord, type DeployVerb } from '../../domain/verbs';
import { commandRecord, onSignal, openInbox, TEMPORAL_CANCEL } from '../inbox';
import { canaryLeftSignal, lockGrantedSignal, type LockGrant } from '../lock';
import {
  canaryKeepOverSignal,
  frozenSignal,
  overtakenSignal,
  policySignal,
  statusQuery,
  type FreezeNotice,
} from '../messages';
import type { DeploySession } from './session';

/** Registers the handlers of a deploy. They fold messages into the session and do nothing else. Call it before the first await. */
export function handleMessages(run: DeploySession): void {
  const { input } = run;
  setHandler(statusQuery, () => deployStatus(run.record, input, Date.now()));
  onSignal(policySignal, (policy) => void (run.policy = policy), isPolicy);
  onSignal(frozenSignal, (frozen) => applyFreeze(run, frozen), isFreezeNotice);
  onSignal(canaryKeepOverSignal, () => void (run.keepOver = true));
  onSignal(canaryLeftSignal, () => void (run.canaryDepartures += 1));
  onSignal(overtakenSignal, (overtaken) => makeWay(run, overtaken), isOvertakingNotice);
  onSignal(lockGrantedSignal, (grant) => takeLock(run, grant), isLockGrant);
  openInbox<DeployVerb>({
    verbs: DEPLOY_VERBS,
    permit: (actor) => (mayCommand(run.policy, actor) ? undefined : `${actor} is not an owner of ${input.pipeline}`),
    whyNot: (verb, command) => whyNot(toSituation(run), verb, command),
    take: (verb, command) => takeCommand(run, verb, command),
    record: (command) => recordCommand(run, command),
    proofs: () => run.record.proofs,
    believe: (proofs) => run.patch({ proofs }),
    unknownSignal: (name) => run.note('ignored', `ignored the unknown signal ${name}`),
  });
  CancellationScope.current().cancelRequested.catch(() => handleCancelRequest(run));
}

const toSituation = ({ record, input }: DeploySession) => toDeploySituation(record, input);

function takeCommand(run: DeploySession, verb: DeployVerb, command: CommandInput): string {
  const now = toSituation(run);
  const effect = describeEffect(verb, now, command);
  // Before the command takes effect: it may end the alarm that it answers.
  if (command.actor !== undefined && isPerson(command.actor)) run.reportAnswer(command.actor);
  if (verb === 'revert' && isReverting(now) && !(failsCanary(now) && patched('revert-fails-canary'))) return effect;
  run.set((record, at) => change(record, at, { control: take(record.control, verb, command, at) }));
  return effect;
}

function takeLock(run: DeploySession, { fence, brought = [] }: LockGrant): void {
  run.holdsLock = true;
  const { pipeline, action, spec } = run.input;
  const by = { pipeline, action, config: hashConfig(spec) };
  const since = leavesToOthers(run.input) ? listBroughtSince(brought, by) : [];
  run.patch({ fence, ...(since.length > 0 ? { since } : {}) });
}

function recordCommand(run: DeploySession, command: CommandRecord): void {
  run.patch({ commands: trimCommands([...run.record.commands, command], RUN_COMMANDS) });
  run.note(command.accepted ? 'command' : 'ignored', commandText(command));
}

/**
 * Temporal's own cancel request counts as the verb `cancel`; during a revert it is recorded and ignored
 * (docs/design/deploy.md#verbs).
 */
function handleCancelRequest(run: DeploySession): void {
  const why = whyNot(toSituation(run), 'cancel', TEMPORAL_CANCEL) ?? whyOnlyPersons(toSituation(run));
  if (why === undefined) takeCommand(run, 'cancel', TEMPORAL_CANCEL);
  recordCommand(run, commandRecord('cancel', TEMPORAL_CANCEL, why));
}

/** A rollback counts as a revert, and a freeze does not stop it. */
function applyFreeze(run: DeploySession, { by }: FreezeNotice): void {
  if (run.input.rollback) return;
  run.set((record, now) => change(record, now, { control: freeze(record.control, by) }));
  run.note(by ? 'frozen' : 'unfrozen', by ? withReason(describeFreeze(by), by.reason) : 'unfrozen');
}

function makeWay(run: DeploySession, overtaken: Overtaken): void {
  const text = `${overtaken.why} by release ${overtaken.by}`;
  run.isPreempted ||= overtaken.why === 'preempted';
  const why = whyNotOvertaken(toSituation(run), overtaken);
  if (why !== undefined) return run.note('ignored', `not ${text}: ${why}`);
  run.set((record, now) => change(record, now, { control: { ...record.control, overtaken } }));
  run.note('overtaken', text);
}
