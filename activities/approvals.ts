import { rootCause } from '../domain/rootCause';
import { wantsUnits } from '../domain/access/protection';
import type { Units } from '../domain/access/request';
import { approvalStatus, UNPROTECTED, type ApprovalAsk, type ApprovalStatus } from '../domain/access/approvals';
import type { Artifact } from '../domain/artifact';
import type { BugLook } from '../domain/release/bugNotice';
import { stillWaiting } from './failure';
import { fetchUnits } from './fetchUnits';
import { invoker, type CallPorts, type DeployCall } from './pushCalls';

export interface ApprovalRun {
  readonly ask: ApprovalAsk;
  /** The last answer; null if the caller wants an answer at once. */
  readonly seen: Clearance | null;
  /** The time until it is asked again, in ms. */
  readonly intervalMs: number;
  /** The deploy and its units, for rules about units; missing for a pick. */
  readonly target?: DeployCall;
  /** The artifacts to deploy; missing for a pick. */
  readonly artifacts?: readonly Artifact[];
}

/** The state of a release according to the rules and the reported bugs. */
export interface Clearance extends ApprovalStatus, BugLook {
  /** The reason why it is unknown whether the release contains a bug, or which units it deploys to. */
  readonly unasked?: string;
}

/** The features that know of bugs in artifacts. */
interface BugPorts {
  /** @throws while it is unknown */
  readonly lookForBugs: (artifacts: readonly Artifact[]) => Promise<BugLook>;
}

export type ApprovalActivities = ReturnType<typeof createApprovalActivities>;

export function createApprovalActivities(ports: CallPorts & BugPorts) {
  const { platform } = ports;
  return {
    /**
     * Answers as soon as the approvals of a release change, by the rules that protect its pipeline in the present configuration. Until then it
     * fails and gives the time of the next try, as `soakNews` does, so days of waiting take no room in the history. An answer at once also
     * includes the bugs in force.
     */
    approvalNews: async ({ ask, seen, intervalMs, target, artifacts = [] }: ApprovalRun): Promise<Clearance> => {
      const known = await fetchUnitsForPolicy(ports, target);
      if ('unasked' in known && seen !== null) throw stillWaiting(known.unasked, intervalMs);
      const status = platform === undefined ? UNPROTECTED : approvalStatus(platform(), { ...ask, ...known });
      if (seen === null)
        return {
          ...status,
          ...(await clearance(ports, artifacts, ask.kind === 'emergency')),
          ...('unasked' in known ? known : {}),
        };
      const { bug: _bug, namedOnly: _namedOnly, unasked: _unasked, ...before } = seen;
      if (JSON.stringify(status) !== JSON.stringify(before)) return status;
      throw stillWaiting('people have to approve it', intervalMs);
    },
  };
}

/** The units of a deploy, read only if a rule is about units of their push type. While they are unknown, nothing is deployed. */
async function fetchUnitsForPolicy(
  ports: CallPorts,
  target: DeployCall | undefined,
): Promise<{ readonly holds?: Units } | { readonly unasked: string }> {
  const policy = ports.platform?.().policy ?? null;
  if (policy === null || target === undefined || !wantsUnits(policy, target.pushType)) return {};
  try {
    const { units } = await fetchUnits(invoker(ports), target);
    return { holds: { pushType: target.pushType, units: units.map(({ id }) => id) } };
  } catch (error) {
    return { unasked: `which units it deploys to is not known, and a rule may protect them: ${rootCause(error)}` };
  }
}

/** An emergency does not wait for a graph that does not answer. */
async function clearance(
  { lookForBugs }: BugPorts,
  artifacts: readonly Artifact[],
  isEmergency: boolean,
): Promise<Pick<Clearance, 'bug' | 'namedOnly' | 'unasked'>> {
  try {
    return await lookForBugs(artifacts);
  } catch (error) {
    return isEmergency ? {} : { unasked: `whether it contains a bug is unknown: ${rootCause(error)}` };
  }
}
