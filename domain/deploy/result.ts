import { NO_VERSION, onUnits, type BroughtReport } from '../broughtVersions';
import { hash } from '../hash';
import type { DeploySpec } from '../spec/deploy';
import { formatTime } from '../text';
import { failurePoint } from './failurePoint';
import { buildHeldUnits } from './heldUnits';
import { buildDeployResult, type Ending } from './outcome';
import { buildInheritance, listReachedParts } from './planRevert';
import { listSnapshotIds, selectUnits } from './snapshot';
import type { DeployInput, DeployRecord, DeployResult, Fleet } from './state';
import { withRemains } from './steps';

/** The answer of a deploy to its release: how it ended, how far it came, and the facts that the next deploy or rollback needs. */
export const deployResult = (ending: Ending, input: DeployInput, record: DeployRecord): DeployResult =>
  withHeld(
    input,
    record,
    withBefore(
      input,
      record,
      withInheritance(input, record, withProgress(input, record, buildDeployResult(ending, input, record))),
    ),
  );

/** A rollback to this deploy may update the same units again, regardless of the rules at that time. */
function withHeld(
  { canary, followOn, removal }: DeployInput,
  { fleet }: DeployRecord,
  result: DeployResult,
): DeployResult {
  const held =
    fleet === null || canary || followOn || removal || result.outcome !== 'succeeded'
      ? undefined
      : buildHeldUnits(fleet.now ?? fleet.snapshot, fleet.ofRules);
  return held === undefined ? result : { ...result, held };
}

/**
 * The versions that it has brought to its service, for the lock of the service. If it failed, the versions that it may have left there. A
 * follow-on completes the version of its release, and a canary is undone. A removal reports the units that it has removed.
 */
export function buildBroughtReport(
  { pipeline, release, action, version, artifacts, spec, rollback, followOn, canary, removal }: DeployInput,
  record: DeployRecord,
  { outcome, unchanged }: DeployResult,
): BroughtReport | undefined {
  const { fleet, endedAtMs, keptUnits, removed, updates } = record;
  if (followOn || canary || fleet === null) return undefined;
  const at = formatTime(endedAtMs ?? 0);
  const brought = { pipeline, release, action, version, artifacts, at, config: hashConfig(spec) };
  if (removal)
    return removed === undefined
      ? undefined
      : { ...brought, version: NO_VERSION, artifacts: [], marks: removed, removed: true };
  if (outcome !== 'succeeded') {
    if (outcome === 'reverted' || updates.length === 0) return undefined;
    const reached = listUpdatedUnitIds(record, fleet);
    return onUnits({ ...brought, stopped: true }, reached ? { ids: reached } : { marks: fleet.marks });
  }
  const kept = keptUnits?.names ?? [];
  const units = listSnapshotIds(fleet.now ?? fleet.snapshot);
  return onUnits(
    { ...brought, ...(rollback || unchanged ? { back: true } : {}), ...(kept.length > 0 ? { kept } : {}) },
    { ids: units && [...units, ...kept], marks: fleet.marks },
  );
}

/** The units to which updates went, if the workflow knows the units. */
function listUpdatedUnitIds(record: DeployRecord, fleet: Fleet): readonly string[] | undefined {
  const units = fleet.now ?? fleet.snapshot;
  return 'units' in units ? selectUnits(units.units, listReachedParts(record)).map(({ id }) => id) : undefined;
}

/** Locks distinguish configurations by this number. */
export const hashConfig = ({ config }: Pick<DeploySpec, 'config'>): number => hash(JSON.stringify(config));

function withProgress({ canary }: DeployInput, record: DeployRecord, result: DeployResult): DeployResult {
  const progress = result.outcome === 'succeeded' || canary ? null : failurePoint(record);
  const reported = withRemains(result, record);
  return progress === null ? reported : { ...reported, progress };
}

/** The versions of the fleet before it, for a rollback of the first release after its end. */
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

/** If units are left mixed, the next deploy too has to be able to revert them to their versions before. */
function withInheritance(
  { version, canary, inherited }: DeployInput,
  { fleet, updates }: DeployRecord,
  result: DeployResult,
): DeployResult {
  const isComplete = result.outcome === 'succeeded' || result.outcome === 'reverted';
  if (isComplete || canary || fleet === null || updates.length === 0) return result;
  return { ...result, leaves: buildInheritance(version, fleet.snapshot, inherited) };
}
