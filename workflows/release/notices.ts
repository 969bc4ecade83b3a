import type { Notice, NotifyOn } from '../../domain/notify/notice';
import { deployId, releaseId } from '../../domain/ids';
import { formatTime } from '../../domain/text';
import { getFailureMessage } from '../deploy/calls';
import type { PauseNotice } from '../messages';
import { notices } from '../proxies';
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
export async function notify(run: ReleaseSession, on: NotifyOn, about: About): Promise<void> {
  const { spec, number } = run.input;
  const release = releaseId(spec.pipeline, number);
  const event: Notice = {
    on,
    at: formatTime(Date.now()),
    pipeline: spec.pipeline,
    release,
    deploy: null,
    phase: null,
    pushType: null,
    actor: null,
    ...about,
    id: `${about.id}/${on}`,
  };
  const wanted = spec.notify.filter((entry) => entry.on.includes(on));
  await Promise.all(
    wanted.map(({ on: _on, ...receiver }) =>
      notices.notify
        .executeWithOptions({ summary: `${on}: ${release}` }, [{ ...receiver, event }])
        .catch((error: unknown) =>
          run.log('not-notified', `the notice that it is ${on} was not sent: ${getFailureMessage(error)}`),
        ),
    ),
  );
}
