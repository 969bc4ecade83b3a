import { getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import { workflowIds } from '../domain/ids';
import { OFFER_LIMITS } from '../domain/limits';
import { parseUser } from '../domain/offers/board';
import { planNotices, type Notified, type Withdrawal } from '../domain/offers/withdrawals';
import { offerWithdrawnSignal } from './messages';
import { BackgroundTasks } from './waitFor';

/** The notices of the workflow of offers (workflows/offers.ts) to pipelines that are undeployed when an offer is withdrawn. */
export class WithdrawalNotices {
  private readonly onTheirWay = new BackgroundTasks();

  /** @param wake called when the next notices can be sent, if there are more */
  constructor(
    public told: Notified,
    private readonly wake: () => void,
  ) {}

  /** Sends some of those that are due, unless earlier ones are still on their way. */
  send(withdrawals: readonly Withdrawal[]): void {
    const most = this.onTheirWay.size > 0 ? 0 : OFFER_LIMITS.noticesAtOnce.max;
    const { told, notices } = planNotices(this.told, withdrawals, most);
    this.told = told;
    for (const notice of notices) this.onTheirWay.add(notifyWithdrawal(notice));
    if (notices.length > 0) void this.delivered().then(this.wake);
  }

  /** A history that ended earlier would lose them unsent. */
  delivered(): Promise<void> {
    return this.onTheirWay.drain();
  }
}

/** A pipeline that misses it remains a user; its owners see that it is waited for. */
function notifyWithdrawal({ user, offer }: Withdrawal): Promise<void> {
  const from = workflowInfo().workflowId.slice(workflowIds.offers('').length);
  const { pipeline = '', action = '' } = parseUser(user) ?? {};
  return getExternalWorkflowHandle(workflowIds.pipeline(pipeline))
    .signal(offerWithdrawnSignal, { from, offer, action })
    .catch(() => undefined);
}
