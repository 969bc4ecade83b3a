import { releaseId } from '../ids';
import { aligned, block, list, moment, sections } from '../markdown';
import type { PipelineStatus, ReleaseSummary } from '../views';
import type { ActiveRelease, PipelineState } from './state';

/** `status PIPELINE -o json`, but for the address of the Web UI. */
export function pipelineStatus(state: PipelineState): Omit<PipelineStatus, 'webUi'> {
  const { spec, active, held, knownBad, good, history, commands, nextNumber } = state;
  const lastGood = Object.entries(good).flatMap(([action, deploys]) => {
    const last = deploys.at(-1);
    return last ? [[action, { release: last.release, version: last.version }] as const] : [];
  });
  return {
    id: spec.pipeline,
    kind: 'pipeline',
    description: spec.description,
    owners: spec.owners,
    labels: spec.labels,
    state: held ? 'held' : 'active',
    active: active.map(({ number }) => number),
    lastRelease: nextNumber > 1 ? nextNumber - 1 : null,
    held,
    knownBad,
    lastGood: Object.fromEntries(lastGood),
    releases: [...history.slice(-RECENT), ...active.map((release) => summary(spec.pipeline, release))].sort(
      (a, b) => a.number - b.number,
    ),
    commands,
  };
}

const RECENT = 10;

const summary = (pipeline: string, release: ActiveRelease): ReleaseSummary => ({
  id: releaseId(pipeline, release.number),
  kind: 'release',
  pipeline,
  number: release.number,
  state: release.state,
  cause: null,
  trigger: release.trigger,
  startedAt: release.createdAt,
  endedAt: null,
  artifacts: release.artifacts,
});

/** The current details of a pipeline in the Temporal Web UI (DESIGN §4 rule 12). */
export function pipelineDetails(state: PipelineState): string {
  const { id, held, lastGood, releases, knownBad } = pipelineStatus(state);
  const good = Object.entries(lastGood).map(
    ([action, { release, version }]) => `${action}: \`${version}\`, since release ${release}`,
  );
  return sections(
    `## ${id}`,
    held ? `**held by ${held.actor} since ${moment(held.at)} UTC: ${held.reason}**` : '',
    good.length > 0 ? list('In production', good) : 'Nothing was deployed yet.',
    releases.length > 0 ? `Releases, newest first, and when they started (UTC)\n${aligned(newestFirst(releases))}` : '',
    list(
      'Known bad: never deployed again unless a person allows it',
      knownBad.map(({ artifact, reason }) => `\`${artifact}\`: ${reason}`),
    ),
    `Next:\n${block(nextOf(id, held !== null, knownBad.at(-1)?.artifact))}`,
  );
}

const newestFirst = (releases: readonly ReleaseSummary[]): string[][] =>
  [...releases]
    .reverse()
    .map(({ number, state, cause, startedAt }) => [String(number), state, moment(startedAt), cause ?? '']);

function nextOf(id: string, held: boolean, bad: string | undefined): string[] {
  const reason = '--reason "…"';
  return [
    `conveyor history ${id}`,
    held ? `conveyor unhold ${id} ${reason}` : `conveyor hold ${id} ${reason}`,
    ...(bad === undefined ? [] : [`conveyor allow-artifact ${id} ${bad} ${reason}`]),
  ];
}
