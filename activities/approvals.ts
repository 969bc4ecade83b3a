import { approvalStatus, UNPROTECTED, type ApprovalAsk, type ApprovalStatus } from '../domain/access/approvals';
import { stillWaiting } from './failure';
import type { CallPorts } from './pushCalls';

export interface ApprovalRun {
  readonly ask: ApprovalAsk;
  /** The last answer; null: it wants one at once. */
  readonly seen: ApprovalStatus | null;
  /** How long until it is asked again, in ms. */
  readonly intervalMs: number;
}

export type ApprovalActivities = ReturnType<typeof createApprovalActivities>;

export function createApprovalActivities({ platform }: Pick<CallPorts, 'platform'>) {
  return {
    /**
     * How a release stands with the rules that protect its pipeline, by the configuration as it is now, as soon as that is news. Until
     * then it fails and says when to be tried again, as `soakNews` does: days of waiting take no room in the history.
     */
    approvalNews: async ({ ask, seen, intervalMs }: ApprovalRun): Promise<ApprovalStatus> => {
      const status = platform === undefined ? UNPROTECTED : approvalStatus(platform(), ask);
      if (JSON.stringify(status) !== JSON.stringify(seen)) return status;
      throw stillWaiting('people have to approve it', intervalMs);
    },
  };
}
