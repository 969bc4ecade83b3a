import { ParentClosePolicy } from '@temporalio/workflow';
import { combineVersions } from '../../domain/artifact';
import { newDeploy, type DeployInput } from '../../domain/deploy/state';
import { deploySummary } from '../../domain/deploy/view';
import { deployId, releaseId } from '../../domain/ids';
import { formatSummary } from '../../domain/markdown';
import { summaryMemo } from '../summary';
import { tagPairs } from '../tags';
import { approvalAsk, asksRules } from './protection';
import type { ReleaseSession } from './session';

/** The input of a deploy that its release does not give to all of its children alike. */
type Own = Pick<DeployInput, 'spec' | 'artifacts'> & Partial<DeployInput>;

/** The start of a deploy, or a canary, as a child of its release, with its summary in the Web UI. */
export function deployChild(run: ReleaseSession, name: string, own: Own) {
  const { spec, number, trigger, settings } = run.input;
  const { pushType } = own.spec;
  const version = own.version ?? combineVersions(own.artifacts);
  const input: DeployInput = {
    pipeline: spec.pipeline,
    release: number,
    action: name,
    attempt: run.record.actions[name]?.attempt ?? 1,
    version,
    lastGood: null,
    rollback: trigger.kind === 'rollback',
    policy: run.policy,
    actor: trigger.actor,
    settings,
    ...(asksRules(run) ? { approvals: approvalAsk(run, { action: name, artifacts: own.artifacts }) } : {}),
    ...own,
  };
  const tags = {
    ConveyorPipeline: spec.pipeline,
    ConveyorRelease: releaseId(spec.pipeline, number),
    ConveyorState: 'planning',
    ConveyorPushType: pushType,
    ConveyorArtifact: version,
  };
  const what = own.canary ? `canary of ${version}` : own.removal ? `removal of ${version}` : version;
  return {
    workflowId: run.deploys.workflowId(name),
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    args: [input] as [DeployInput],
    ...summaryMemo(deploySummary(newDeploy(Date.now()), input)),
    staticSummary: formatSummary(`${deployId(spec.pipeline, number, name)}: ${what} through ${pushType}`),
    typedSearchAttributes: tagPairs(tags),
  };
}
