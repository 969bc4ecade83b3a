import { hasChildren } from '../children/handOn';
import { deployId, releaseId } from '../ids';
import { formatTime } from '../text';
import type { ActionView, ReleaseStatus, ReleaseSummary } from '../views';
import { dependencies } from './graph';
import { releaseState, type ActionRecord, type ReleaseInput, type ReleaseRecord } from './state';

/** The output of `list releases -o json`. */
export function releaseSummary(record: ReleaseRecord, input: ReleaseInput): ReleaseSummary {
  const { pipeline } = input.spec;
  return {
    id: releaseId(pipeline, input.number),
    kind: 'release',
    pipeline,
    number: input.number,
    state: releaseState(record, input.spec),
    cause: record.cause,
    ...(record.causedBy === undefined ? {} : { causedBy: record.causedBy }),
    ...(input.rerunOf === undefined ? {} : { rerunOf: input.rerunOf }),
    trigger: input.trigger,
    startedAt: formatTime(record.startedAtMs),
    endedAt: record.endedAtMs === null ? null : formatTime(record.endedAtMs),
    artifacts: [...input.artifacts, ...Object.values(record.actions).flatMap(({ outputs }) => outputs)],
  };
}

/** The output of `status RELEASE -o json` (docs/reference/cli.md#a-release), without the address of the Web UI. */
export function releaseStatus(
  record: ReleaseRecord,
  input: ReleaseInput,
): Omit<ReleaseStatus, 'webUi' | 'children'> & { readonly isParent: boolean } {
  const needs = dependencies(input.spec.actions);
  return {
    ...releaseSummary(record, input),
    actions: Object.entries(record.actions).map(([name, action]) =>
      actionView(input, name, action, needs.get(name) ?? []),
    ),
    commands: record.commands,
    timeline: record.timeline,
    ...(record.pages ? { pages: Object.values(record.pages) } : {}),
    isParent: hasChildren(input) && record.endedAtMs !== null,
  };
}

function actionView(input: ReleaseInput, name: string, record: ActionRecord, needs: readonly string[]): ActionView {
  const { state, attempt, blockedBy, until, startedAt, endedAt, message, pickBy, approval, deploying } = record;
  const { carriedFrom, url, lock } = record;
  return {
    name,
    type: input.spec.actions[name]?.type ?? '',
    state,
    attempt,
    blockedBy,
    until,
    ...(state === 'blocked' && lock ? { lock } : {}),
    startedAt,
    endedAt,
    deploy: deploying ? deployId(input.spec.pipeline, input.number, name) : null,
    needs,
    progress: null,
    message,
    pickBy,
    ...(approval ? { approval } : {}),
    ...(carriedFrom === undefined ? {} : { carriedFrom }),
    ...(record.wishes === undefined ? {} : { wishes: record.wishes }),
    ...(record.unfit ? { unfit: record.unfit } : {}),
    ...(record.override ? { override: record.override } : {}),
    ...(record.knownBad === undefined ? {} : { knownBad: record.knownBad }),
    attempts: input.spec.actions[name]?.retry.attempts ?? 1,
    ...(url ? { url } : {}),
  };
}
