import { standingOf, UNPROTECTED, type ApprovalAsk, type Standing } from '../domain/access/approvals';
import { stillWaiting } from './failure';
import type { Ports } from './pushCalls';

export interface ApprovalRun {
  readonly ask: ApprovalAsk;
  /** What it was told last; null: it wants to know at once. */
  readonly seen: Standing | null;
  /** How long until it is asked again, in ms. */
  readonly intervalMs: number;
}

export type ApprovalActivities = ReturnType<typeof createApprovalActivities>;

export function createApprovalActivities({ platform }: Pick<Ports, 'platform'>) {
  return {
    /**
     * How a release stands with the rules that protect its pipeline, by the configuration as it is now, as soon as that is news. Until
     * then it fails and says when to be tried again, as `soakNews` does: days of waiting take no room in the history.
     */
    approvalNews: async ({ ask, seen, intervalMs }: ApprovalRun): Promise<Standing> => {
      const standing = platform === undefined ? UNPROTECTED : standingOf(platform(), ask);
      if (JSON.stringify(standing) !== JSON.stringify(seen)) return standing;
      throw stillWaiting('people have to approve it', intervalMs);
    },
  };
}
