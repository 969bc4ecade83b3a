import { identityOf, type Artifact } from './artifact';
import { onOneLine } from './plainText';
import type { PipelineSpec } from './spec/pipeline';

/** What is told to people and programs outside: plain facts in, the body of a request out (docs/protocols.md#notifications). */

export type NotifyOn = PipelineSpec['notify'][number]['on'][number];

/** Something that happened to a release, or to one of its deploys. */
export interface Notice {
  /** The same when it is sent again: `deploy/kvstore/12/deploy/1/paused/2`. Receivers know a repetition by it. */
  readonly id: string;
  readonly on: NotifyOn;
  /** ISO-8601 */
  readonly at: string;
  readonly pipeline: string;
  /** `kvstore/12` */
  readonly release: string;
  /** `kvstore/12/deploy`; null when it is about the release as a whole. */
  readonly deploy: string | null;
  readonly phase: string | null;
  /** Of the deploy; null for a release. */
  readonly pushType: string | null;
  readonly artifacts: readonly Pick<Artifact, 'name' | 'version' | 'digest'>[];
  /** One sentence. */
  readonly reason: string;
  /** Who caused it; null when nobody in particular did. */
  readonly actor: string | null;
}

/** CloudEvents 1.0 in structured mode; `data` is a CDEvent where there is one for it, else the notice. */
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

/** `kvstore/12/deploy reverted: errors is 0.2, above the limit of 0.05` */
const headline = ({ release, deploy, on, reason }: Notice): string => `${deploy ?? release} ${on}: ${reason}`;

export function cloudEvent(notice: Notice): CloudEvent {
  const { id, at, pipeline, release, deploy } = notice;
  const source = `/conveyor/pipelines/${pipeline}`;
  const known = cdSubject(notice);
  const type = known?.type ?? `dev.conveyor.${deploy === null ? 'release' : 'deploy'}.${notice.on}`;
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

/** What an incoming webhook of Slack takes; `text` is for notifications of the phone, `blocks` for the channel. */
export function slackMessage(notice: Notice): object {
  const { release, phase, actor, artifacts } = notice;
  const details = [
    `release ${release}`,
    ...(phase === null ? [] : [`phase ${phase}`]),
    ...(artifacts.length === 0 ? [] : [artifacts.map(identityOf).join(', ')]),
    ...(actor === null ? [] : [`by ${actor}`]),
  ];
  return {
    text: forSlack(headline(notice)),
    blocks: [
      { type: 'section', text: { ...QUOTED, text: `${MARKS[notice.on]} ${forSlack(headline(notice))}` } },
      { type: 'context', elements: [{ ...QUOTED, text: forSlack(details.join(' · ')) }] },
    ],
  };
}

/** Slack's own hosts want Slack's own shape. */
export const isSlack = (host: string): boolean => /^hooks\.slack(-gov)?\.com$/.test(host);

const MARKS: Readonly<Record<NotifyOn, string>> = {
  succeeded: ':white_check_mark:',
  paused: ':double_vertical_bar:',
  reverted: ':leftwards_arrow_with_hook:',
  failed: ':x:',
  cancelled: ':no_entry_sign:',
  expired: ':hourglass:',
};

const SLACK_LENGTH = 2_900;

/** Slack makes links and mentions of nothing in it. */
const QUOTED = { type: 'mrkdwn', verbatim: true } as const;

const forSlack = (text: string): string =>
  onOneLine(text).slice(0, SLACK_LENGTH).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

interface CdEvent {
  readonly type: string;
  readonly subject: { readonly id: string; readonly type: string; readonly content: object };
}

/** The CDEvent for it; undefined where the vocabulary has none: a pause is no end and no incident. */
function cdSubject(notice: Notice): CdEvent | undefined {
  const { on, deploy } = notice;
  if (on === 'paused') return undefined;
  if (deploy === null) return finishedRelease(notice);
  if (on === 'succeeded') return service(notice, 'upgraded');
  return on === 'reverted' ? service(notice, 'rolledback') : finishedDeploy(notice, deploy);
}

function finishedRelease(notice: Notice): CdEvent {
  const content = { pipelineName: notice.pipeline, ...outcome(notice) };
  return {
    type: 'dev.cdevents.pipelinerun.finished.0.2.0',
    subject: { id: notice.release, type: 'pipelineRun', content },
  };
}

function finishedDeploy(notice: Notice, deploy: string): CdEvent {
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
