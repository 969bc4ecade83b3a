import { pickIdentity, type Artifact } from '../artifact';
import { ARTIFACT_LIMITS, REQUEST_LIMITS, STATE_LIMITS } from '../limits';
import { cutText, firstWithin, jsonBytes, newestWithin } from '../size';
import type { DeployRow, HistoryRow, OmittedCounts } from '../views';
import type { GoodDeploy, PipelineState } from './state';

/**
 * Cuts the records of a pipeline, so that its state stays small under any load (domain/limits.ts): only identities of artifacts that
 * no deploy needs any more, and the newest entries of lists. A row counts the entries that were cut from it.
 */

/** The limit for texts from a signal, which no door has checked: the same that a door applies. */
const TEXT = Math.max(REQUEST_LIMITS.reason.max, ARTIFACT_LIMITS.metadataValue.max);

/** A value from a signal, with its texts cut. */
export function cutTexts<T>(value: T): T {
  if (typeof value === 'string') return cutText(value, TEXT) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cutTexts) as T;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [cutText(key, TEXT), cutTexts(part)])) as T;
}

/** An artifact as a release reports it; it may come from a service that knows no limits. */
export const limitArtifact = (artifact: Artifact): Artifact =>
  jsonBytes(artifact) > ARTIFACT_LIMITS.whole.max ? cutTexts(pickIdentity(artifact)) : artifact;

/** The artifacts in full as far as the pipeline knows them; the others stay as they are. */
export function inFull({ good, inputs }: Pick<PipelineState, 'good' | 'inputs'>, artifacts: readonly Artifact[]) {
  const known = [
    ...Object.values(inputs),
    ...Object.values(good).flatMap((deploys) => deploys.flatMap(listGoodArtifacts)),
  ];
  const wanted = artifacts.map((artifact) => [artifact.name, artifact.version, artifact.digest].join('\n'));
  return artifacts.map((artifact, index) => {
    const same = known.filter((one) => [one.name, one.version, one.digest].join('\n') === wanted[index]);
    return same.reduce((best, one) => (jsonBytes(one) > jsonBytes(best) ? one : best), artifact);
  });
}

const listGoodArtifacts = ({ artifacts }: GoodDeploy): readonly Artifact[] => artifacts;

const ROW = STATE_LIMITS.historyRow.max;
/** The part of a row for long lists. The rest is for the trigger with its reason. */
const ROW_ARTIFACTS = ROW / 2;
const ROW_UNITS = ROW / 16;
const ROW_DEPLOYS = ROW / 4;

/** A row of the history, with its lists cut to the limit of a row; artifacts with short metadata stay whole. */
export function limitHistoryRow(whole: HistoryRow): HistoryRow {
  const row = cutTexts(whole);
  const isShort = jsonBytes(row.artifacts) <= ROW_ARTIFACTS;
  const artifacts = isShort ? row.artifacts : firstWithin(row.artifacts.map(pickIdentity), ROW_ARTIFACTS);
  const units = row.followOn && firstWithin(row.followOn.units, ROW_UNITS);
  const deploys = newestWithin(row.deploys.map(limitDeployRow), ROW_DEPLOYS);
  const omitted = countOmitted({
    artifacts: row.artifacts.length - artifacts.length,
    units: row.followOn && units ? (row.followOn.more ?? 0) + row.followOn.units.length - units.length : 0,
    deploys: row.deploys.length - deploys.length,
  });
  return {
    ...row,
    artifacts,
    deploys,
    ...(row.followOn && units ? { followOn: { action: row.followOn.action, units } } : {}),
    ...(omitted ? { omitted } : {}),
  };
}

function limitDeployRow(row: DeployRow): DeployRow {
  const { skipped = [], overridden = [] } = row;
  const units = firstWithin(skipped, ROW_UNITS);
  const overrides = firstWithin(overridden, ROW_UNITS);
  const omitted = countOmitted({
    skipped: skipped.length - units.length,
    overridden: overridden.length - overrides.length,
  });
  return {
    ...row,
    version: cutText(row.version, REQUEST_LIMITS.word.max),
    ...(skipped.length > 0 ? { skipped: units } : {}),
    ...(overridden.length > 0 ? { overridden: overrides } : {}),
    ...(omitted ? { omitted } : {}),
  };
}

function countOmitted(lists: OmittedCounts): OmittedCounts | undefined {
  const some = Object.entries(lists).filter(([, count]) => count > 0);
  return some.length === 0 ? undefined : Object.fromEntries(some);
}
