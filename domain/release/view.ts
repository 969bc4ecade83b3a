import { hasChildren } from '../children/handOn';
import { deployId, releaseId } from '../ids';
import { formatTime } from '../text';
import { isActionVerb, RELEASE_VERBS, type ReleaseVerb } from '../verbs';
import type { AcceptedVerbs, ActionView, ReleaseStatus, ReleaseSummary } from '../views';
import { effectOfRelease, RELEASE_FREE, whyNotRelease } from './control';
import { dependencies } from './graph';
import { releaseState, type ActionRecord, type ReleaseControl, type ReleaseInput, type ReleaseRecord } from './state';

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
      actionView(
        ...([input, name, action, needs.get(name) ?? []] as const),
        record.endedAtMs === null ? collectReleaseVerbs(record, input, name) : {},
      ),
    ),
    commands: record.commands,
    timeline: record.timeline,
    ...(record.pages ? { pages: Object.values(record.pages) } : {}),
    ...(record.endedAtMs === null ? { accepts: collectReleaseVerbs(record, input) } : {}),
    isParent: hasChildren(input) && record.endedAtMs !== null,
  };
}

/** The verbs of the whole release, or of one action. A decision of a person that it is about to follow counts as not given. */
function collectReleaseVerbs(record: ReleaseRecord, { trigger }: ReleaseInput, action?: string): AcceptedVerbs {
  const ending = record.commands.findLast(({ verb, accepted }) => accepted && (verb === 'cancel' || verb === 'revert'));
  const control: ReleaseControl = {
    ...{ ...RELEASE_FREE, paused: record.paused },
    ending: ending ? { ...ending, revert: ending.verb === 'revert', notBad: false } : null,
  };
  // A window is skipped for the action or the deploy that waits for it.
  const isOffered = (verb: ReleaseVerb): boolean =>
    (isActionVerb(verb) || verb === 'skip-window') === (action !== undefined);
  const isBack = (verb: ReleaseVerb): boolean => verb === 'revert' && trigger.kind === 'undeploy';
  const input = action === undefined ? {} : { action, approve: true };
  return Object.fromEntries(
    RELEASE_VERBS.filter(
      (verb) => isOffered(verb) && !isBack(verb) && whyNotRelease(control, record, verb, input) === undefined,
    ).map((verb) => [verb, effectOfRelease(verb)]),
  );
}

function actionView(
  input: ReleaseInput,
  name: string,
  record: ActionRecord,
  needs: readonly string[],
  accepts: AcceptedVerbs,
): ActionView {
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
    ...(Object.keys(accepts).length > 0 ? { accepts } : {}),
  };
}
