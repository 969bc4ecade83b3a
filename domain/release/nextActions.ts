import { formatIdentity, type Artifact } from '../artifact';
import type { ActionSpec, PipelineSpec } from '../spec/pipeline';
import type { ActionState } from '../views';
import { dependencies, artifactValues } from './graph';

/** The input of `nextActions`: the state of each action, and the artifacts of the release. */
export interface ReleaseProgress {
  readonly spec: Pick<PipelineSpec, 'actions'>;
  readonly states: Readonly<Record<string, ActionState>>;
  /** The inputs of the release. */
  readonly artifacts: readonly Artifact[];
  /** The outputs of each action, by its name: a condition sees the same artifact as an input would. */
  readonly outputs?: Readonly<Record<string, readonly Artifact[]>>;
  /** The inputs and outputs of the pipeline's last release, for `changed`. */
  readonly previous: readonly Artifact[];
}

export type NextAction =
  | { readonly kind: 'start'; readonly action: string }
  | { readonly kind: 'skip'; readonly action: string; readonly reason: string };

/**
 * The next steps: every waiting action whose needs have all ended is started or skipped (docs/design/pipeline.md#conditions). An action
 * never comes before its needs, and never twice. Repeated application ends with every action ended.
 */
export function nextActions(progress: ReleaseProgress): NextAction[] {
  const needs = dependencies(progress.spec.actions);
  return Object.entries(progress.spec.actions).flatMap(([action, spec]): NextAction[] => {
    if (getActionState(progress, action) !== 'waiting') return [];
    const ended = (needs.get(action) ?? []).map((need): EndedNeed => [need, getActionState(progress, need)]);
    if (!ended.every(([, state]) => hasActionEnded(state))) return [];
    const reason = whySkip(progress, action, spec, ended);
    return reason === undefined ? [{ kind: 'start', action }] : [{ kind: 'skip', action, reason }];
  });
}

export const hasActionEnded = (state: ActionState): boolean =>
  state === 'succeeded' || state === 'failed' || state === 'cancelled' || state === 'skipped';

/**
 * Whether a release whose actions have all ended succeeded. A failure counts unless a later action that runs on
 * failure, or always, succeeded.
 */
export function hasSucceeded({ spec, states }: Pick<ReleaseProgress, 'spec' | 'states'>): boolean {
  const needs = dependencies(spec.actions);
  const absorbed = (failed: string): boolean =>
    Object.entries(spec.actions).some(
      ([name, action]) =>
        action.runIf !== 'success' && states[name] === 'succeeded' && (needs.get(name) ?? []).includes(failed),
    );
  return Object.entries(states).every(
    ([name, state]) => state === 'succeeded' || state === 'skipped' || (state === 'failed' && absorbed(name)),
  );
}

const getActionState = ({ states }: ReleaseProgress, action: string): ActionState => states[action] ?? 'waiting';

/** An action that must end before another, and its end. */
type EndedNeed = readonly [action: string, state: ActionState];

function whySkip(
  progress: ReleaseProgress,
  name: string,
  spec: ActionSpec,
  needs: readonly EndedNeed[],
): string | undefined {
  const ended = needs.map(([, state]) => state);
  if (spec.join === 'any' && needs.length > 0 && spec.runIf === 'success')
    return ended.includes('succeeded') ? whyFalse(progress, name, spec) : 'none of what it needs succeeded';
  if (spec.runIf === 'failure' && !ended.includes('failed')) return 'nothing that it needs failed';
  const missing = needs.find(([, state]) => state !== 'succeeded');
  if (spec.runIf === 'success' && missing !== undefined) {
    const [need, state] = missing;
    return `it needs ${need}, which ${state === 'failed' ? 'failed' : `was ${state}`}`;
  }
  return whyFalse(progress, name, spec);
}

function whyFalse(progress: ReleaseProgress, name: string, spec: ActionSpec): string | undefined {
  const clause = spec.when.find((candidate) => !clauseHolds(progress, name, candidate));
  return clause === undefined ? undefined : `its condition ${JSON.stringify(clause)} does not hold`;
}

function clauseHolds(progress: ReleaseProgress, name: string, clause: ActionSpec['when'][number]): boolean {
  if ('action' in clause) return getActionState(progress, clause.action) === clause.outcome;
  if ('changed' in clause) {
    const now = seenBy(progress, name, clause.changed);
    // If a release makes an artifact several times, the release before had several versions of it.
    return now !== undefined && !progress.previous.some((before) => formatIdentity(before) === formatIdentity(now));
  }
  const artifact = seenBy(progress, name, clause.artifact);
  const value = clause.field === 'version' ? artifact?.version : artifact?.metadata[clause.field];
  return value !== undefined && clause.in.includes(value);
}

function seenBy({ spec, artifacts, outputs }: ReleaseProgress, action: string, artifact: string): Artifact | undefined {
  return artifactValues(spec.actions, action, artifact, artifacts, (producer) => outputs?.[producer] ?? [])[0];
}
