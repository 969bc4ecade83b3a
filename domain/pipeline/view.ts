import { releaseId } from '../ids';
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
    releases: [...history.slice(-RECENT), ...active.map((release) => summary(spec.pipeline, release))],
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
  const status = pipelineStatus(state);
  const good = Object.entries(status.lastGood).map(
    ([action, { release, version }]) => `- ${action}: \`${version}\`, since release ${release}`,
  );
  const releases = [...status.releases]
    .reverse()
    .map(({ number, state: at, cause, startedAt }) => `| ${number} | ${at} | ${cause ?? ''} | ${startedAt} |`);
  const bad = status.knownBad.map(({ artifact, reason }) => `- \`${artifact}\`: ${reason}`);
  return [
    `## ${status.id}`,
    status.held
      ? `**Held by ${status.held.actor} since ${status.held.at}: ${status.held.reason}**\n\n\`conveyor unhold ${status.id} --reason "…"\``
      : '',
    good.length > 0 ? `In production:\n${good.join('\n')}` : 'Nothing was deployed yet.',
    ['| Release | State | Cause | Started |', '|-|-|-|-|', ...releases].join('\n'),
    bad.length > 0 ? `Known bad:\n${bad.join('\n')}` : '',
  ]
    .filter((section) => section !== '')
    .join('\n\n')
    .slice(0, MAX_DETAILS);
}

const MAX_DETAILS = 16_000;
