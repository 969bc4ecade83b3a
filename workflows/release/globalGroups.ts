import { condition, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import type { Authority } from '../../activities/authority';
import { releaseId, workflowIds } from '../../domain/ids';
import type { ActionRecord, ReleaseInput } from '../../domain/release/state';
import { isUrgent } from '../../domain/release/urgent';
import { isLockGrant } from '../../domain/messageShapes';
import { onSignal } from '../inbox';
import { lockGrantedSignal, releaseLockSignal } from '../lock';
import { holders } from '../proxies';

/** The parts of its release that it needs. */
interface GroupHolder {
  readonly input: ReleaseInput;
  readonly behalf: Authority;
  patch(action: string, patch: Partial<ActionRecord>): void;
}

/**
 * The exclusion groups across pipelines that a release holds. The release is the holder: it asks once for all of its
 * actions, and releases a group after the last.
 */
export class GlobalGroups {
  private readonly granted = new Set<string>();
  private readonly users = new Map<string, Set<string>>();
  /** Releases of locks on their way: a new request must not arrive before them. */
  private readonly leaving = new Map<string, Promise<void>>();

  constructor() {
    onSignal(lockGrantedSignal, ({ lock }) => void this.granted.add(lock), isLockGrant);
  }

  /** Takes the groups in the given order, until it holds all of them or the action is to give up. */
  async hold(run: GroupHolder, action: string, groups: readonly string[], givesUp: () => boolean): Promise<void> {
    const { input } = run;
    for (const group of groups) {
      if (givesUp()) return;
      const lock = workflowIds.groupLock(group);
      const users = this.users.get(lock) ?? new Set();
      this.users.set(lock, users.add(action));
      if (users.size === 1) {
        await this.leaving.get(lock);
        this.granted.delete(lock);
        await this.ask(run, lock);
      }
      if (!this.granted.has(lock))
        run.patch(action, { state: 'blocked', blockedBy: `waiting for ${group}, which others hold`, lock });
      const answered = (): boolean => this.granted.has(lock) || givesUp();
      const wait = { summary: `ask for ${group} again` };
      // The lock may have been terminated before it answered. Asking again has no other effect.
      while (!(await condition(answered, input.settings.reconcileIntervalMs, wait))) await this.ask(run, lock);
    }
  }

  private ask({ input, behalf }: GroupHolder, lock: string): Promise<void> {
    const owner = releaseId(input.spec.pipeline, input.number);
    const urgent = isUrgent(input.trigger);
    const asking = { owner, requester: workflowInfo().workflowId, urgent };
    return holders(urgent).requestLock(lock, asking, input.settings, behalf);
  }

  /** Called when an action has ended, or gave up waiting. */
  async release(action: string): Promise<void> {
    const free = [...this.users].filter(([, users]) => users.delete(action) && users.size === 0);
    await Promise.all(free.map(([lock]) => this.leave(lock)));
  }

  private leave(lock: string): Promise<void> {
    this.users.delete(lock);
    this.granted.delete(lock);
    const sent = getExternalWorkflowHandle(lock)
      .signal(releaseLockSignal, workflowInfo().workflowId)
      .catch(() => undefined);
    this.leaving.set(lock, sent);
    return sent;
  }
}
