import { over } from '../excess';
import { REQUEST_LIMITS, SPEC_LIMITS } from '../limits';
import { jsonBytes } from '../size';
import type { Policy } from '../principals';
import type { PipelineSpec } from '../spec/pipeline';
import { isSpec, namesCalendar } from './shapes';
import type { PipelineState } from './state';
import { type Refusal, toPolicy, notPermitted, tooLarge } from './refusal';

const CALENDAR =
  'its blackouts name a calendar, which conveyor apply reads where the pipeline file lies; here name the dates';

/** An owner of an existing pipeline may change it; the creator of a pipeline must be an owner of the new one. */
export function refuseApply(
  state: PipelineState | null,
  spec: PipelineSpec,
  groups: Policy['groups'],
  actor: string,
  permitted?: string,
): Refusal | undefined {
  if (namesCalendar(spec)) return { code: 'invalid-state', message: CALENDAR };
  if (!isSpec(spec)) return { code: 'invalid-state', message: 'it is not a pipeline as conveyor apply sends it' };
  const policy = state === null ? { owners: spec.owners, groups } : toPolicy(state);
  return notPermitted(policy, { actor, permitted }, spec.pipeline) ?? refuseLargeSpec(spec, groups);
}

/** The schema of the file does not find lists that are small each, but large together. */
export const refuseLargeSpec = (spec: PipelineSpec, groups: Policy['groups']): Refusal | undefined =>
  tooLarge(
    over(SPEC_LIMITS.spec, jsonBytes(spec)) ??
      over(SPEC_LIMITS.ownersTogether, jsonBytes(spec.owners)) ??
      over(SPEC_LIMITS.labelsTogether, jsonBytes(labelWords(spec))) ??
      over(REQUEST_LIMITS.groups, jsonBytes(policyGroups(spec, groups))),
  );

/** Labels in the form of the search attribute `ConveyorLabels`. */
export const labelWords = ({ labels }: Pick<PipelineSpec, 'labels'>): string[] =>
  Object.entries(labels).map(([key, value]) => `${key}=${value}`);

/** The platform's groups that may act here; the pipeline does not need the others. */
export function policyGroups(
  spec: Pick<PipelineSpec, 'owners' | 'actions'>,
  groups: Policy['groups'],
): Policy['groups'] {
  const pickers = Object.values(spec.actions).flatMap((action) =>
    action.type === 'manual-pick' ? action.with.principals : [],
  );
  const named = new Set([...spec.owners, ...pickers]);
  return Object.fromEntries(Object.entries(groups).filter(([name]) => named.has(`group:${name}`)));
}
