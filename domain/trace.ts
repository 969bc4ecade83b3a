import { releaseId } from './ids';
import { computeSpanId, computeTraceId } from './traceIds';
import type { DeployStatus, ReleaseStatus } from './views';

/**
 * A release as a trace: the release, its actions, the phases of its deploys and the calls of extensions, each nested in
 * the one before. Span ids are derived from Conveyor's ids, so that independent workers write parts of the same trace,
 * and duplicates merge.
 */
export interface TraceSpan {
  /** 32 hexadecimal digits. */
  readonly trace: string;
  /** 16 of them. */
  readonly id: string;
  readonly parent: string | null;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** The parent span of a call for a deploy or for a run of an action service: its action, else its release. */
export function parentOfCall({ pipeline, release, deployId }: TracedCall): string {
  const parts = deployId.split('/');
  const action = parts[0] === 'deploy' ? parts[3] : parts.length === 4 ? parts[2] : undefined;
  const of = releaseId(pipeline, release);
  return computeSpanId(action === undefined ? of : `${of}/${action}`);
}

interface TracedCall {
  readonly pipeline: string;
  readonly release: number;
  /** The id of a deploy or of a run: `kvstore/12/build/1`. */
  readonly deployId: string;
}

/** The spans of an ended release and of its actions that began. */
export function releaseTrace(release: Pick<ReleaseStatus, ReleasePart>): TraceSpan[] {
  const { id, pipeline, number, state, startedAt, endedAt } = release;
  const trace = computeTraceId(pipeline, number);
  const run = { 'cicd.pipeline.name': pipeline, 'cicd.pipeline.run.id': id };
  const endMs = endedAt === null ? Date.parse(startedAt) : Date.parse(endedAt);
  const times = { startMs: Date.parse(startedAt), endMs };
  const result = { 'cicd.pipeline.result': CICD_RESULTS[state] ?? 'error', 'conveyor.trigger': release.trigger.kind };
  const root = { trace, id: computeSpanId(id), parent: null, name: `RUN ${pipeline}`, ...times };
  return [
    { ...root, failed: state === 'failed', attributes: { ...run, ...result } },
    ...release.actions.flatMap(({ name, type, ...action }): TraceSpan[] => {
      if (action.startedAt === null) return [];
      const attributes = {
        ...{ ...run, 'cicd.pipeline.task.name': name, 'cicd.pipeline.task.run.id': `${id}/${name}/${action.attempt}` },
        ...{ 'cicd.pipeline.task.run.result': CICD_RESULTS[action.state] ?? 'skip', 'conveyor.action.type': type },
      };
      const ended = action.endedAt === null ? endMs : Date.parse(action.endedAt);
      const span = { trace, id: computeSpanId(`${id}/${name}`), parent: root.id, name, attributes };
      return [{ ...span, startMs: Date.parse(action.startedAt), endMs: ended, failed: action.state === 'failed' }];
    }),
  ];
}

type ReleasePart = 'id' | 'pipeline' | 'number' | 'state' | 'startedAt' | 'endedAt' | 'trigger' | 'actions';

/** In the terms of OpenTelemetry's conventions for CI and CD. */
const CICD_RESULTS: Readonly<Record<string, string>> = {
  ...{ succeeded: 'success', failed: 'failure', cancelled: 'cancellation', skipped: 'skip' },
};

/** The spans of the phases that a deploy attempt began (update, then bake) and of its revert. */
export function deployTrace(
  deploy: Pick<DeployStatus, 'id' | 'attempt' | 'phases' | 'revert' | 'endedAt'>,
): TraceSpan[] {
  const [pipeline = '', number] = deploy.id.split('/');
  const trace = computeTraceId(pipeline, Number(number));
  const endMs = Date.parse(deploy.endedAt ?? '') || 0;
  const span = (name: string, from: string | null, to: string | null, attributes = {}): TraceSpan[] => {
    if (from === null) return [];
    const startMs = Date.parse(from);
    const times = { startMs, endMs: Math.max(startMs, to === null ? endMs : Date.parse(to)) };
    const of = { trace, id: computeSpanId(`${deploy.id}/${deploy.attempt}/${name}`), parent: computeSpanId(deploy.id) };
    return [{ ...of, name, ...times, failed: false, attributes: { 'cicd.pipeline.name': pipeline, ...attributes } }];
  };
  return [
    ...deploy.phases.flatMap(({ name, startedAt, updatedAt, bakedAt, totals }) => [
      ...span(`update ${name}`, startedAt, updatedAt, totals ? { 'conveyor.tasks': totals.targeted } : {}),
      ...span(`bake ${name}`, updatedAt, bakedAt),
    ]),
    ...(deploy.revert === null ? [] : span('revert', deploy.revert.startedAt, deploy.revert.endedAt)),
  ];
}
