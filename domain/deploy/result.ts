import { onUnits, type BroughtReport } from '../brought';
import { hash } from '../hash';
import type { DeploySpec } from '../spec/deploy';
import { formatTime } from '../text';
import { failurePoint } from './failurePoint';
import { heldUnits } from './held';
import { resultOf, type Ending } from './outcome';
import { inheritanceOf, reachedParts } from './planRevert';
import { idsOf, selected } from './snapshot';
import type { DeployInput, DeployRecord, DeployResult, Fleet } from './state';
import { withRemains } from './steps';

/** What a deploy answers to its release: how it ended, how far it came, and what whoever deploys or goes back next has to know. */
export const deployResult = (ending: Ending, input: DeployInput, record: DeployRecord): DeployResult =>
  withHeld(
    input,
    record,
    withBefore(
      input,
      record,
      withInheritance(input, record, withProgress(input, record, resultOf(ending, input, record))),
    ),
  );

/** A rollback to it goes there again, whatever the rules say by then. */
function withHeld({ canary, followOn }: DeployInput, { fleet }: DeployRecord, result: DeployResult): DeployResult {
  const held =
    fleet === null || canary || followOn || result.outcome !== 'succeeded'
      ? undefined
      : heldUnits(fleet.now ?? fleet.snapshot, fleet.ofRules);
  return held === undefined ? result : { ...result, held };
}

/**
 * What it has brought to its service, for the lock of the service; where it did not come through, what it may have left there. A follow-on
 * completes what its release brought, and a canary is undone.
 */
export function recordBrought(
  { pipeline, release, action, version, artifacts, spec, rollback, followOn, canary }: DeployInput,
  record: DeployRecord,
  { outcome, unchanged }: DeployResult,
): BroughtReport | undefined {
  const { fleet, endedAtMs, keptUnits, updates } = record;
  if (followOn || canary || fleet === null) return undefined;
  const brought = {
    pipeline,
    release,
    action,
    version,
    artifacts,
    at: formatTime(endedAtMs ?? 0),
    config: configOf(spec),
  };
  if (outcome !== 'succeeded') {
    if (outcome === 'reverted' || updates.length === 0) return undefined;
    const reached = reachedUnits(record, fleet);
    return onUnits({ ...brought, stopped: true }, reached ? { ids: reached } : { marks: fleet.marks });
  }
  const kept = keptUnits?.names ?? [];
  const units = idsOf(fleet.now ?? fleet.snapshot);
  return onUnits(
    { ...brought, ...(rollback || unchanged ? { back: true } : {}), ...(kept.length > 0 ? { kept } : {}) },
    { ids: units && [...units, ...kept], marks: fleet.marks },
  );
}

/** Those that updates went to, where the workflow knows the units. */
function reachedUnits(record: DeployRecord, fleet: Fleet): readonly string[] | undefined {
  const units = fleet.now ?? fleet.snapshot;
  return 'units' in units ? selected(units.units, reachedParts(record)).map(({ id }) => id) : undefined;
}

/** By which locks tell configurations apart. */
export const configOf = ({ config }: Pick<DeploySpec, 'config'>): number => hash(JSON.stringify(config));

function withProgress({ canary }: DeployInput, record: DeployRecord, result: DeployResult): DeployResult {
  const progress = result.outcome === 'succeeded' || canary ? null : failurePoint(record);
  const reported = withRemains(result, record);
  return progress === null ? reported : { ...reported, progress };
}

/** What the first release is taken back to, once it has ended, is what the fleet ran before. */
function withBefore(
  { lastGood, canary, version }: DeployInput,
  { fleet }: DeployRecord,
  result: DeployResult,
): DeployResult {
  const { ran = null, ranEach } = fleet ?? {};
  const isFirst = result.outcome === 'succeeded' && lastGood === null && !canary;
  if (isFirst && ranEach !== undefined) return { ...result, beforeEach: ranEach };
  return isFirst && ran !== null && ran !== version ? { ...result, before: ran } : result;
}

/** What is left mixed is to be reverted to what ran before, also by whoever deploys next. */
function withInheritance(
  { version, canary, inherited }: DeployInput,
  { fleet, updates }: DeployRecord,
  result: DeployResult,
): DeployResult {
  const isComplete = result.outcome === 'succeeded' || result.outcome === 'reverted';
  if (isComplete || canary || fleet === null || updates.length === 0) return result;
  return { ...result, leaves: inheritanceOf(version, fleet.snapshot, inherited) };
}
