import { condition } from '@temporalio/workflow';
import type { NotifyReceipt, NotifyRequest } from '../../activities/notify';
import { MINUTE_MS } from '../../domain/milliseconds';
import type { Notice, NotifyOn } from '../../domain/notify/notice';
import { deployId, releaseId } from '../../domain/ids';
import type { BrokenNews, BrokenOffers } from '../../domain/offers/risk';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import { formatTime, plural } from '../../domain/text';
import { getFailureMessage } from '../deploy/calls';
import type { PauseNotice } from '../messages';
import { notices, receiverFinders } from '../proxies';
import type { ReleaseSession } from './session';

/** `id` is the id of the workflow in question. */
type About = Partial<Pick<Notice, 'deploy' | 'phase' | 'pushType' | 'actor'>> &
  Pick<Notice, 'id' | 'artifacts' | 'reason'>;

/**
 * Notifies of a pause of one of its deploys. If several deploys pause in one phase, only the first is notified; the others show
 * in the status.
 */
export async function notifyPause(run: ReleaseSession, { action, phase, actor, reason }: PauseNotice): Promise<void> {
  const deploy = run.deploys.workflowId(action);
  const id = `${deploy}/${phase ?? 'planning'}`;
  if (run.notifiedPauses.has(id)) return;
  run.notifiedPauses.add(id);
  const spec = run.input.spec.actions[action];
  const pushType = spec?.type === 'deploy' ? spec.with.pushType : null;
  const { artifacts } = run.input;
  return notify(run, 'paused', {
    ...{ id, phase, actor, reason, pushType, artifacts },
    deploy: deployId(run.input.spec.pipeline, run.input.number, action),
  });
}

/**
 * Notifies the receivers in the pipeline's `notify`. If one does not answer, the notice is retried for some minutes, and the failure is
 * recorded. It delays nothing except the end of this workflow.
 */
export const notify = (run: ReleaseSession, on: NotifyOn, about: About): Promise<void> =>
  sendNotice(run, { ...about, on, id: `${about.id}/${on}` }, run.input.spec.notify);

/**
 * Notifies the owners of a deploy that has broken offers, and those of the deploys that use them, whose pipelines have receivers of their own.
 * A pipeline that does not answer for an hour is left out.
 */
export async function notifyBroken(run: ReleaseSession, action: string, broken?: BrokenOffers): Promise<void> {
  if (!broken) return;
  const { spec, number, artifacts, trigger } = run.input;
  const tell = async ({ pipeline, reason }: BrokenNews): Promise<void> => {
    const isOwn = pipeline === spec.pipeline;
    const receivers = isOwn ? spec.notify : await receiverFinders.findReceivers(pipeline);
    const id = `${run.deploys.workflowId(action)}/offer-broken${isOwn ? '' : `/${pipeline}`}`;
    const deploy = deployId(spec.pipeline, number, action);
    return sendNotice(run, { id, on: 'offer-broken', deploy, artifacts, reason, actor: trigger.actor }, receivers);
  };
  await Promise.all(
    broken.news.map((news) =>
      tell(news).catch((error: unknown) =>
        run.log('not-notified', `${news.pipeline} was not notified of a broken offer: ${getFailureMessage(error)}`),
      ),
    ),
  );
  if (broken.more > 0)
    run.log('not-notified', `${plural(broken.more, 'more pipeline')} with a broken offer were not notified`);
}

const nameNotice = (on: NotifyOn): string => (on === 'offer-broken' ? 'of a broken offer' : `that it is ${on}`);

type SentNotice = About & { readonly on: NotifyOn };

async function sendNotice(run: ReleaseSession, about: SentNotice, receivers: PipelineSpec['notify']): Promise<void> {
  const { spec, number } = run.input;
  const release = releaseId(spec.pipeline, number);
  const event: Notice = {
    at: formatTime(Date.now()),
    pipeline: spec.pipeline,
    release,
    deploy: null,
    phase: null,
    pushType: null,
    actor: null,
    ...about,
  };
  const { on } = about;
  const wanted = receivers.filter((entry) => entry.on.includes(on));
  await Promise.all(
    wanted.map(({ on: _on, ...receiver }) =>
      sendInOrder(run, { ...receiver, event }).catch((error: unknown) =>
        run.log('not-notified', `the notice ${nameNotice(on)} was not sent: ${getFailureMessage(error)}`),
      ),
    ),
  );
}

/** Notices to an address are independent of each other. */
async function sendInOrder(run: ReleaseSession, request: NotifyRequest): Promise<void> {
  if (request.to !== undefined) return sendToNamed(run, request.to, request);
  await sendRequest(request.event.release, request);
}

const sendRequest = (release: string, request: NotifyRequest): Promise<NotifyReceipt | undefined> =>
  notices.notify.executeWithOptions({ summary: `${request.event.on}: ${release}` }, [request]);

/** The wait of a notice for the one before it to the same receiver. */
const IN_ORDER_MS = MINUTE_MS;

/** In order, so that a message is changed that is already there, unless the receiver does not answer for a minute. */
async function sendToNamed(run: ReleaseSession, to: string, request: NotifyRequest): Promise<void> {
  const line = run.receiverLines.get(to) ?? { underWay: 0 };
  run.receiverLines.set(to, line);
  if (line.underWay > 0) await condition(() => line.underWay === 0, IN_ORDER_MS, { summary: `notify ${to} in order` });
  line.underWay += 1;
  try {
    const { thread } = line;
    const receipt = await sendRequest(request.event.release, { ...request, ...(thread ? { thread } : {}) });
    if (receipt) line.thread = receipt.thread;
  } finally {
    line.underWay -= 1;
  }
}
