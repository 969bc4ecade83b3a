import { formatIdentity, type Artifact } from '../artifact';
import type { ActionSpec, PipelineSpec } from '../spec/pipeline';
import type { ActionState, ActionView, ReleaseSummary } from '../views';
import { dependencies, resolveInputs } from './graph';
import type { ActionRecord, ReleaseInput, ReleaseRecord } from './state';

/** The results of a release, for one that runs it again. Its spec is the spec of its pipeline at its creation. */
export interface Recollection {
  readonly number: number;
  readonly actions: PipelineSpec['actions'];
  readonly artifacts: readonly Artifact[];
  /** The artifacts with which `changed` compared. */
  readonly previous: readonly Artifact[];
  readonly records: Readonly<Record<string, Pick<ActionRecord, 'state' | 'message' | 'outputs' | 'carriedFrom'>>>;
}

/** The results that a rerun takes over, provided that the actions before them have the same results. */
export interface RecalledResults {
  readonly previous: readonly Artifact[];
  readonly states: Readonly<Record<string, ActionState>>;
  readonly carried: Readonly<Record<string, CarriedResult>>;
}

export interface CarriedResult {
  /** The release that ran it. */
  readonly from: number;
  /** Identities of its inputs, in order. */
  readonly inputs: readonly string[];
  readonly outputs: readonly Artifact[];
  readonly message: string | null;
}

export const buildRecollection = (
  { number, spec, artifacts }: Pick<ReleaseInput, 'number' | 'spec' | 'artifacts'>,
  previous: readonly Artifact[],
  { actions }: Pick<ReleaseRecord, 'actions'>,
): Recollection => ({
  ...{ number, actions: spec.actions, artifacts, previous },
  records: Object.fromEntries(
    Object.entries(actions).map(([name, { state, message, outputs, carriedFrom }]) => [
      name,
      { state, message, outputs, ...(carriedFrom === undefined ? {} : { carriedFrom }) },
    ]),
  ),
});

/**
 * The results that a rerun may carry over from a release: of actions that succeeded, have the same definition now, and leave behind only
 * their outputs. Some actions always run again: a deploy is about the fleet, a canary about tasks that are gone, a pick about one release,
 * and a wait about another pipeline.
 */
export function recallResults(actions: PipelineSpec['actions'], before: Recollection): RecalledResults {
  const carried = Object.entries(before.records).flatMap(([name, { state, message, outputs, carriedFrom }]) => {
    const [was, now] = [before.actions[name], actions[name]];
    if (state !== 'succeeded' || was === undefined || now === undefined) return [];
    if (DONE_AGAIN.has(now.type) || canonical(was) !== canonical(now)) return [];
    const inputs = resolveInputs(
      before.actions,
      name,
      before.artifacts,
      (maker) => before.records[maker]?.outputs ?? [],
    );
    return [
      [name, { from: carriedFrom ?? before.number, inputs: inputs.map(formatIdentity), outputs, message }] as const,
    ];
  });
  const states = Object.entries(before.records).map(([name, { state }]) => [name, state] as const);
  return { previous: before.previous, states: Object.fromEntries(states), carried: Object.fromEntries(carried) };
}

const DONE_AGAIN: ReadonlySet<string> = new Set([
  'deploy',
  'canary',
  'manual-pick',
  'wait-for',
] satisfies ActionSpec['type'][]);

/** Whether a rerun may take over the result of an action, as far as its name and end tell. */
export const mayCarryOver = ({ type, state }: Pick<ActionView, 'type' | 'state'>): boolean =>
  state === 'succeeded' && !DONE_AGAIN.has(type);

/** The same text for the same definition, with its keys in any order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/**
 * The result that is carried over to an action that could start; undefined if it has to run. It is carried over if the inputs are the
 * same, and if all needs ended as before without doing anything new.
 */
export function findCarriedOver(
  { carried, states }: Pick<RecalledResults, 'carried' | 'states'>,
  { spec, artifacts }: Pick<ReleaseInput, 'spec' | 'artifacts'>,
  record: Pick<ReleaseRecord, 'actions' | 'deploys'>,
  name: string,
): CarriedResult | undefined {
  const found = carried[name];
  if (found === undefined) return undefined;
  const inputs = resolveInputs(spec.actions, name, artifacts, (maker) => record.actions[maker]?.outputs ?? []);
  const same = JSON.stringify(inputs.map(formatIdentity)) === JSON.stringify(found.inputs);
  const needs = dependencies(spec.actions).get(name) ?? [];
  return same && needs.every((need) => isAsBefore(spec, record, states, need)) ? found : undefined;
}

function isAsBefore(
  { actions }: Pick<PipelineSpec, 'actions'>,
  record: Pick<ReleaseRecord, 'actions' | 'deploys'>,
  states: RecalledResults['states'],
  name: string,
): boolean {
  const now = record.actions[name];
  if (now === undefined || now.state !== states[name]) return false;
  if (now.carriedFrom !== undefined || now.state === 'skipped') return true;
  if (now.state !== 'succeeded') return false;
  const { type } = actions[name] ?? {};
  if (type === 'deploy') return record.deploys.findLast(({ action }) => action === name)?.result.unchanged === true;
  return type === 'manual-pick' || type === 'wait-for';
}

/**
 * Whether to suggest `conveyor rerun` after the end of a release, as far as the release itself knows: not if a newer one took its place, and not
 * if a deploy was reverted, because a person has to allow the artifact first.
 */
export const offersRerun = (
  { state, cause, trigger }: Pick<ReleaseSummary, 'state' | 'cause' | 'trigger'>,
  reverted: boolean,
): boolean =>
  (state === 'failed' || (state === 'cancelled' && cause === 'operator')) && !NOT_RERUN.has(trigger.kind) && !reverted;

/** These kinds consist of one deploy, and have requests of their own. */
export const NOT_RERUN: ReadonlySet<string> = new Set(['rollback', 'emergency', 'follow-on', 'undeploy']);
