import { rootCause } from '../domain/rootCause';
import { wantsUnits } from '../domain/access/protection';
import type { Units } from '../domain/access/request';
import { approvalStatus, UNPROTECTED, type ApprovalAsk, type ApprovalStatus } from '../domain/access/approvals';
import type { Artifact } from '../domain/artifact';
import { lookForBugs, type BugLook } from './bugIn';
import type { GraphPorts } from './dependencyGraphs';
import { stillWaiting } from './failure';
import { fetchUnits } from './fetchUnits';
import { invoker, type CallPorts, type DeployCall } from './pushCalls';

export interface ApprovalRun {
  readonly ask: ApprovalAsk;
  /** The last answer; null: it wants one at once. */
  readonly seen: Clearance | null;
  /** How long until it is asked again, in ms. */
  readonly intervalMs: number;
  /** Who would deploy to which units, for rules about units; missing at a pick. */
  readonly target?: DeployCall;
  /** What would be deployed; missing at a pick. */
  readonly artifacts?: readonly Artifact[];
}

/** How a release stands with the rules, and with what is reported to be bad. */
export interface Clearance extends ApprovalStatus, BugLook {
  /** Why it is not known whether it contains one, or which units it is about. */
  readonly unasked?: string;
}

export type ApprovalActivities = ReturnType<typeof createApprovalActivities>;

export function createApprovalActivities(ports: CallPorts & GraphPorts) {
  const { platform } = ports;
  return {
    /**
     * How a release stands with the rules that protect its pipeline, by the configuration as it is now, as soon as that is news. Until
     * then it fails and says when to be tried again, as `soakNews` does: days of waiting take no room in the history. What is asked for at
     * once is held against the bugs in force as well; where no dependency graph is configured that asks nobody.
     */
    approvalNews: async ({ ask, seen, intervalMs, target, artifacts = [] }: ApprovalRun): Promise<Clearance> => {
      const known = await unitsOf(ports, target);
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
async function unitsOf(
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

/** An emergency waits for no graph that does not answer. */
async function clearance(
  ports: GraphPorts,
  artifacts: readonly Artifact[],
  isEmergency: boolean,
): Promise<Pick<Clearance, 'bug' | 'namedOnly' | 'unasked'>> {
  try {
    return await lookForBugs(ports, artifacts);
  } catch (error) {
    return isEmergency ? {} : { unasked: `nobody knows whether it contains a bug: ${rootCause(error)}` };
  }
}
