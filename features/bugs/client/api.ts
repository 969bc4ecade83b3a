import type { Bug, BugClose, BugReport } from '../domain/bug';

/** The operations on reported bugs. */
export interface BugsClient {
  /**
   * From then on no artifact that contains the bug deploys, and existing releases are searched for it. A repeated
   * report creates no second bug.
   */
  reportBug(report: BugReport, actor: string): Promise<Bug>;
  /** @throws `unknown-bug` */
  closeBug(close: BugClose, actor: string): Promise<Bug>;
  /** Newest first. */
  listBugs(): Promise<readonly Bug[]>;
}
