import { approvalStatus, UNPROTECTED, type ApprovalAsk, type ApprovalStatus } from '../domain/access/approvals';
import type { Artifact } from '../domain/artifact';
import { rootCause } from '../domain/rootCause';
import { bugIn } from './bugIn';
import type { GraphPorts } from './dependencyGraphs';
import { stillWaiting } from './failure';
import type { CallPorts } from './pushCalls';

export interface ApprovalRun {
  readonly ask: ApprovalAsk;
  /** The last answer; null: it wants one at once. */
  readonly seen: Clearance | null;
  /** How long until it is asked again, in ms. */
  readonly intervalMs: number;
  /** What would be deployed; missing at a pick. */
  readonly artifacts?: readonly Artifact[];
}

/** How a release stands with the rules, and with what is reported to be bad. */
export interface Clearance extends ApprovalStatus {
  /** What would be deployed contains a bug: which, and over which chain. */
  readonly bug?: string;
  /** Whether it contains one is not known, and why. */
  readonly unasked?: string;
}

export type ApprovalActivities = ReturnType<typeof createApprovalActivities>;

export function createApprovalActivities({ platform, ...graphs }: Pick<CallPorts, 'platform'> & GraphPorts) {
  return {
    /**
     * How a release stands with the rules that protect its pipeline, by the configuration as it is now, as soon as that is news. Until
     * then it fails and says when to be tried again, as `soakNews` does: days of waiting take no room in the history. What is asked for at
     * once is held against the bugs in force as well; where no dependency graph is configured that asks nobody.
     */
    approvalNews: async ({ ask, seen, intervalMs, artifacts = [] }: ApprovalRun): Promise<Clearance> => {
      const status = platform === undefined ? UNPROTECTED : approvalStatus(platform(), ask);
      if (seen === null) return { ...status, ...(await clearance(graphs, artifacts, ask.kind === 'emergency')) };
      const { bug: _bug, unasked: _unasked, ...before } = seen;
      if (JSON.stringify(status) !== JSON.stringify(before)) return status;
      throw stillWaiting('people have to approve it', intervalMs);
    },
  };
}

/** An emergency waits for no graph that does not answer. */
async function clearance(
  ports: GraphPorts,
  artifacts: readonly Artifact[],
  isEmergency: boolean,
): Promise<Pick<Clearance, 'bug' | 'unasked'>> {
  try {
    const bug = await bugIn(ports, artifacts);
    return bug === undefined ? {} : { bug };
  } catch (error) {
    return isEmergency ? {} : { unasked: `nobody knows whether it contains a bug: ${rootCause(error)}` };
  }
}
