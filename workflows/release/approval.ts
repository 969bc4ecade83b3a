import { workflowInfo } from '@temporalio/workflow';
import { deployId } from '../../domain/ids';
import { withReason } from '../../domain/text';
import type { Trigger } from '../../domain/views';
import { notify } from './notices';
import type { ReleaseSession } from './session';

/** Notifies the receivers of pauses, since the release waits for a person. */
export function notifyApprovers(run: ReleaseSession, name: string, waits: string): Promise<void> {
  const { spec, number, trigger, artifacts } = run.input;
  const id = deployId(spec.pipeline, number, name);
  return notify(run, 'paused', {
    ...{
      id: `${workflowInfo().workflowId}/${name}/${run.record.actions[name]?.attempt ?? 1}/approval`,
      deploy: id,
      artifacts,
      actor: trigger.actor,
    },
    reason: `${withReason(describeToApprovers(trigger, number), trigger.reason ?? '')}; ${waits}: conveyor pick ${id} --approve`,
  });
}

function describeToApprovers({ kind }: Pick<Trigger, 'kind'>, release: number): string {
  if (kind === 'undeploy') return `release ${release} removes all that its pipeline has deployed`;
  return kind === 'emergency' ? 'an emergency push' : `release ${release}`;
}
