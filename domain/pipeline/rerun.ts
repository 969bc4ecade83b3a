import { formatIdentity, type Artifact } from '../artifact';
import { releaseId } from '../ids';
import { NOT_RERUN } from '../release/rerun';
import type { HistoryRow, Trigger } from '../views';
import { findKnownBad } from './digests';
import { getReleasePlace } from './place';
import { queueRelease, type ActiveRelease, type KnownBad, type PipelineState } from './state';
import { completeArtifacts } from './submissions';

/** Repeats the failed actions of an ended release: a new release with the same inputs, in the same place. */

/** The reason why a release cannot run again, and an alternative. */
export interface NoRerun {
  readonly why: string;
  readonly instead: string;
}

/** The rerun under way, of the release itself or of another with the same place; undefined if there is none. */
export function rerunUnderWay(state: PipelineState, of: number): number | undefined {
  const row = state.history.find(({ number }) => number === of);
  const place = row && getReleasePlace(row);
  return state.active.find((one) => one.rerunOf !== undefined && getReleasePlace(one) === place)?.number;
}

export function whyNotRerun(state: PipelineState, of: number): NoRerun | undefined {
  const id = releaseId(state.spec.pipeline, of);
  const running = state.active.find(({ number }) => number === of);
  if (running?.state === 'running')
    return {
      why: running.gone ? 'it was ended through Temporal, and work that it began is not over' : 'it has not ended',
      instead: running.gone
        ? 'try again once that is over'
        : `conveyor retry ${id}/ACTION starts a failed action again`,
    };
  if (running) return { why: 'it has not started yet', instead: `conveyor status ${id} shows why it waits` };
  const row = state.history.find(({ number }) => number === of);
  if (row === undefined)
    return {
      why: 'its pipeline does not remember it any more',
      instead: `conveyor release ${state.spec.pipeline} --artifact NAME=VERSION releases the same versions`,
    };
  const why = findRerunObstacle(state, row);
  return why === undefined ? undefined : { why, instead: suggestInstead(state, row) };
}

/** Whether a request would start another rerun: none is under way, nothing stands against it, and no artifact is known-bad. */
export const canRerun = (state: PipelineState, { number, artifacts }: HistoryRow): boolean =>
  rerunUnderWay(state, number) === undefined &&
  whyNotRerun(state, number) === undefined &&
  findBadArtifact(state, number, artifacts) === undefined;

function findRerunObstacle(state: PipelineState, row: HistoryRow): string | undefined {
  if (row.state === 'succeeded') return 'it succeeded, so there is nothing to run again';
  if (NOT_RERUN.has(row.trigger.kind)) return `it is ${KINDS[row.trigger.kind] ?? 'no ordinary release'}`;
  if (row.neverStarted) return 'it never started, so there is nothing to carry over';
  const again = state.history.find(
    (other) =>
      other.number !== row.number && other.state === 'succeeded' && getReleasePlace(other) === getReleasePlace(row),
  );
  if (again) return `release ${again.number} ran it again and succeeded`;
  const newer = findNewerBegun(state, row);
  return (
    newer && `release ${newer.release} is newer and has begun ${newer.action}, and no older one begins that any more`
  );
}

const KINDS: Partial<Readonly<Record<Trigger['kind'], string>>> = {
  rollback: 'a rollback',
  emergency: 'an emergency',
  'follow-on': 'a follow-on',
  undeploy: 'an undeploy',
};

/**
 * The action that a newer release has begun and that a rerun would begin too: the rerun would bring back something
 * older.
 */
function findNewerBegun(
  { spec, newestBegun }: PipelineState,
  row: HistoryRow,
): { readonly action: string; readonly release: number } | undefined {
  const inOrder = spec.releases.supersede === 'never';
  const isAsked = (type: string | undefined): boolean => type === 'deploy' || (type === 'manual-pick' && !inOrder);
  const begun = Object.entries(newestBegun).filter(([action]) => isAsked(spec.actions[action]?.type));
  const found = begun.find(([, release]) => release > getReleasePlace(row));
  return found && { action: found[0], release: found[1] };
}

function suggestInstead({ spec }: PipelineState, { trigger, artifacts, deploys, number }: HistoryRow): string {
  if (trigger.kind === 'rollback')
    return `conveyor revert ${releaseId(spec.pipeline, trigger.of ?? number)} --reason "…" asks for it again`;
  if (trigger.kind === 'emergency')
    return `conveyor push ${spec.pipeline} ${deploys[0]?.action ?? 'ACTION'} --emergency --reason "…" asks for it again`;
  if (trigger.kind === 'follow-on')
    return `conveyor status ${spec.pipeline} shows how to update the units that it left out`;
  const inputs = Object.keys(spec.artifacts).flatMap((name) => artifacts.find((one) => one.name === name) ?? []);
  const given = inputs.map(({ name, version }) => ` --artifact ${name}=${version}`).join('');
  return `conveyor release ${spec.pipeline}${given} releases the same versions from the beginning`;
}

/** A known-bad artifact among its inputs and outputs: none is deployed again until a person allows it. */
export function findBadArtifact(
  state: PipelineState,
  of: number,
  given: readonly Artifact[],
): [Artifact, KnownBad] | undefined {
  const row = state.history.find(({ number }) => number === of);
  const all = [...inputsOfRerun(state, given), ...(row?.artifacts ?? [])];
  for (const artifact of all) {
    const bad = findKnownBad(state, artifact);
    if (bad) return [artifact, bad];
  }
  return undefined;
}

/** Whether these are the inputs of the release, as far as its pipeline knows. */
export function hasSameInputs({ history }: PipelineState, of: number, given: readonly Artifact[]): boolean {
  const row = history.find(({ number }) => number === of);
  if (row === undefined || row.omitted?.['artifacts'] !== undefined) return true;
  const had = new Set(row.artifacts.map(formatIdentity));
  return given.every((artifact) => had.has(formatIdentity(artifact)));
}

/** The inputs of the release that the pipeline still takes, and the latest values of the others that it takes now. */
const inputsOfRerun = (state: PipelineState, given: readonly Artifact[]): readonly Artifact[] =>
  completeArtifacts(
    state,
    given.filter(({ name }) => Object.hasOwn(state.spec.artifacts, name)),
  );

/** Queues it in the place of the release that it repeats. Its inputs do not become the latest values. */
export function rerunCreated(
  state: PipelineState,
  of: number,
  given: readonly Artifact[],
  trigger: Trigger,
  nowMs: number,
): PipelineState {
  const row = state.history.find(({ number }) => number === of);
  return queueRelease(state, inputsOfRerun(state, given), trigger, nowMs, rerunFields(of, row));
}

const rerunFields = (of: number, row: HistoryRow | undefined): Pick<ActiveRelease, 'rerunOf' | 'place'> => ({
  rerunOf: of,
  place: row ? getReleasePlace(row) : of,
});
