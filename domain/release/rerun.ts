import { identityOf, type Artifact } from '../artifact';
import type { ActionSpec, PipelineSpec } from '../spec/pipeline';
import type { ActionState, ReleaseSummary } from '../views';
import { dependencies, inputsOf } from './graph';
import type { ActionRecord, ReleaseInput, ReleaseRecord } from './state';

/** What a release has come to, for one that runs it again. Its spec is that of its pipeline when it was created. */
export interface Recollection {
  readonly number: number;
  readonly actions: PipelineSpec['actions'];
  readonly artifacts: readonly Artifact[];
  /** What `changed` compared with. */
  readonly previous: readonly Artifact[];
  readonly records: Readonly<Record<string, Pick<ActionRecord, 'state' | 'message' | 'outputs' | 'carriedFrom'>>>;
}

/** What a rerun takes over, if what comes before it turns out as it did then. */
export interface Recalled {
  readonly previous: readonly Artifact[];
  readonly states: Readonly<Record<string, ActionState>>;
  readonly carried: Readonly<Record<string, Carried>>;
}

export interface Carried {
  /** The release whose run it was. */
  readonly from: number;
  /** Identities of its inputs, in order. */
  readonly inputs: readonly string[];
  readonly outputs: readonly Artifact[];
  readonly message: string | null;
}

export const recollectionOf = (
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
 * What a rerun may carry over from a release: what succeeded, has the same definition now, and leaves nothing behind but its outputs.
 * A deploy says something about the fleet, a canary about tasks that are gone, a pick is about one release, and a wait about
 * another pipeline: these are always done again.
 */
export function recalled(actions: PipelineSpec['actions'], before: Recollection): Recalled {
  const carried = Object.entries(before.records).flatMap(([name, { state, message, outputs, carriedFrom }]) => {
    const [was, now] = [before.actions[name], actions[name]];
    if (state !== 'succeeded' || was === undefined || now === undefined) return [];
    if (DONE_AGAIN.has(now.type) || canonical(was) !== canonical(now)) return [];
    const inputs = inputsOf(before.actions, name, before.artifacts, (maker) => before.records[maker]?.outputs ?? []);
    return [[name, { from: carriedFrom ?? before.number, inputs: inputs.map(identityOf), outputs, message }] as const];
  });
  const states = Object.entries(before.records).map(([name, { state }]) => [name, state] as const);
  return { previous: before.previous, states: Object.fromEntries(states), carried: Object.fromEntries(carried) };
}

const DONE_AGAIN: ReadonlySet<ActionSpec['type']> = new Set(['deploy', 'canary', 'manual-pick', 'wait-for']);

/** The same for the same definition, whatever the order of its keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/**
 * What an action that could start is carried over with; undefined when it has to run. It is carried when its inputs are those of
 * before, and all that it needs came out as before without doing anything new.
 */
export function carriedOver(
  { carried, states }: Pick<Recalled, 'carried' | 'states'>,
  { spec, artifacts }: Pick<ReleaseInput, 'spec' | 'artifacts'>,
  record: Pick<ReleaseRecord, 'actions' | 'deploys'>,
  name: string,
): Carried | undefined {
  const found = carried[name];
  if (found === undefined) return undefined;
  const inputs = inputsOf(spec.actions, name, artifacts, (maker) => record.actions[maker]?.outputs ?? []);
  const same = JSON.stringify(inputs.map(identityOf)) === JSON.stringify(found.inputs);
  const needs = dependencies(spec.actions).get(name) ?? [];
  return same && needs.every((need) => isAsBefore(spec, record, states, need)) ? found : undefined;
}

function isAsBefore(
  { actions }: Pick<PipelineSpec, 'actions'>,
  record: Pick<ReleaseRecord, 'actions' | 'deploys'>,
  states: Recalled['states'],
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
 * Whether `conveyor rerun` is what to type after the end of a release, as far as the release itself knows: not where a newer one took its
 * place, nor where something was reverted, which a person has to allow first.
 */
export const offersRerun = (
  { state, cause, trigger }: Pick<ReleaseSummary, 'state' | 'cause' | 'trigger'>,
  reverted: boolean,
): boolean =>
  (state === 'failed' || (state === 'cancelled' && cause === 'operator')) && !NOT_RERUN.has(trigger.kind) && !reverted;

/** Those that are one deploy, and are asked for in words of their own. */
export const NOT_RERUN: ReadonlySet<string> = new Set(['rollback', 'emergency', 'follow-on']);
