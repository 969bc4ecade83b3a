import type { Format } from './format';
import { isPage, type Notice } from './notice';

/** CloudEvents 1.0 in structured mode; `data` is a CDEvent if there is one for the notice, else the notice itself. */
export interface CloudEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly data: object;
}

export function cloudEvent(notice: Notice): CloudEvent {
  const { id, at, pipeline, release, deploy } = notice;
  const source = `/conveyor/pipelines/${pipeline}`;
  const known = cdSubject(notice);
  const type = known?.type ?? ownType(notice);
  const context = { version: '0.4.1', id, source, type, timestamp: at };
  return {
    specversion: '1.0',
    id,
    source,
    type,
    subject: known?.subject.id ?? deploy ?? release,
    time: at,
    datacontenttype: 'application/json',
    data: known ? { context, subject: known.subject, customData: notice } : notice,
  };
}

function ownType({ on, deploy }: Notice): string {
  if (on === 'offer-broken') return 'dev.conveyor.offer.broken';
  return `dev.conveyor.${deploy === null ? 'release' : 'deploy'}.${on}`;
}

/** A CloudEvent that contains a CDEvent if there is one for the notice. */
export const cloudEvents: Format = {
  contentType: 'application/cloudevents+json; charset=utf-8',
  body: cloudEvent,
};

interface CdEvent {
  readonly type: string;
  readonly subject: { readonly id: string; readonly type: string; readonly content: object };
}

/** The CDEvent for a notice; undefined if the vocabulary has none: a pause is neither an end nor an incident, and offers and pages are unknown. */
function cdSubject(notice: Notice): CdEvent | undefined {
  const { on, deploy } = notice;
  if (on === 'paused' || on === 'offer-broken' || isPage(on)) return undefined;
  if (deploy === null) return buildReleaseFinished(notice);
  if (on === 'succeeded') return service(notice, 'upgraded');
  return on === 'reverted' ? service(notice, 'rolledback') : buildDeployFinished(notice, deploy);
}

function buildReleaseFinished(notice: Notice): CdEvent {
  const content = { pipelineName: notice.pipeline, ...outcome(notice) };
  return {
    type: 'dev.cdevents.pipelinerun.finished.0.2.0',
    subject: { id: notice.release, type: 'pipelineRun', content },
  };
}

function buildDeployFinished(notice: Notice, deploy: string): CdEvent {
  const taskName = deploy.split('/').at(-1) ?? deploy;
  const content = { taskName, pipelineRun: { id: notice.release }, ...outcome(notice) };
  return { type: 'dev.cdevents.taskrun.finished.0.2.0', subject: { id: deploy, type: 'taskRun', content } };
}

function service({ pipeline, pushType, artifacts }: Notice, what: 'upgraded' | 'rolledback'): CdEvent | undefined {
  const [artifact] = artifacts;
  if (artifact === undefined) return undefined;
  const artifactId = `pkg:generic/${encodeURIComponent(artifact.name)}@${encodeURIComponent(artifact.version)}`;
  const content = { environment: { id: pushType ?? 'conveyor' }, artifactId };
  return { type: `dev.cdevents.service.${what}.0.2.0`, subject: { id: pipeline, type: 'service', content } };
}

const outcome = ({ on, reason }: Notice): object =>
  on === 'succeeded' ? { outcome: 'success' } : { outcome: 'failure', errors: reason };
