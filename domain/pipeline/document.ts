import { over } from '../excess';
import type { ExportedOffers } from '../offers/moved';
import { trimCommands } from '../commandTrim';
import { STATE_LIMITS } from '../limits';
import { isByAdmin, type Policy } from '../principals';
import { DEFAULT_SETTINGS, type Settings } from '../settings';
import { jsonBytes } from '../size';
import { formatTime } from '../text';
import { KEPT_RELEASES } from './recordOutcome';
import { fitState } from './stateSize';
import { pickIdentity } from '../artifact';
import { refuseLargeSpec } from './refuseApply';
import { asImported, formatSortedFields } from './pipelineImport';
import { notPermitted, toPolicy, tooLarge, type Refusal } from './refusal';
import { isSpec } from './shapes';
import { hasOffered, newPipeline, type ActiveRelease, type PipelineState } from './state';

/** The records of a pipeline that are worth keeping outside Temporal; running work is not among them. */
const RECORDED = [
  ...(['spec', 'nextNumber', 'newestBegun', 'good', 'inherited', 'knownBad', 'inputs', 'followed', 'late'] as const),
  ...(['held', 'frozen', 'revertsInARow', 'keys', 'history', 'commands'] as const),
  ...(['badUnlisted', 'inheritedOmitted', 'pushed', 'deployedAt', 'offered', 'uses'] as const),
] as const;

type PipelineRecords = Pick<PipelineState, (typeof RECORDED)[number]>;

/**
 * The output of `conveyor pipeline export`: JSON for `import`. A later version of Conveyor reads documents of an earlier one.
 */
export interface PipelineDocument extends PipelineRecords {
  readonly kind: 'conveyor.pipeline';
  readonly version: 1;
  readonly exportedAt: string;
  readonly pipeline: string;
  readonly offers?: ExportedOffers;
}

export const toPipelineDocument = (state: PipelineState, nowMs: number, offers?: ExportedOffers): PipelineDocument => ({
  kind: 'conveyor.pipeline',
  version: 1,
  exportedAt: formatTime(nowMs),
  pipeline: state.spec.pipeline,
  ...pickRecords(state),
  ...(offers === undefined ? {} : { offers }),
});

const pickRecords = (from: PipelineRecords): PipelineRecords =>
  Object.fromEntries(
    RECORDED.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])),
  ) as unknown as PipelineRecords;

/**
 * Owners of an existing pipeline may replace its records, but not by records that would reuse the number of a release.
 */
export function refuseImport(
  state: PipelineState | null,
  document: PipelineDocument,
  groups: Policy['groups'],
  actor: string,
  permitted?: string,
): Refusal | undefined {
  if (!isSpec(document.spec)) return { code: 'invalid-state', message: 'its spec is none that an export wrote' };
  const policy = state === null ? { owners: document.spec.owners, groups } : toPolicy(state);
  const forbidden = notPermitted(policy, { actor, permitted }, document.pipeline);
  if (forbidden) return forbidden;
  const excess = refuseLargeSpec(document.spec, groups) ?? refuseLargeRecords(state, document, groups);
  if (excess !== undefined) return excess;
  if (state === null || document.nextNumber >= state.nextNumber) return undefined;
  return {
    code: 'invalid-state',
    message:
      `its next release is ${state.nextNumber}, and that of the file ${document.nextNumber}: numbers would be given twice. ` +
      'Export it again, or write the higher nextNumber into the file',
  };
}

/** Refuses records that a pipeline could not carry even with the greatest possible cuts. */
function refuseLargeRecords(
  state: PipelineState | null,
  document: PipelineDocument,
  groups: Policy['groups'],
): Refusal | undefined {
  const carried = fitState(importDocument(state, document, groups, DEFAULT_SETTINGS, { actor: '', nowMs: 0 }));
  return tooLarge(
    over(STATE_LIMITS.knownBad, jsonBytes(carried.knownBad)) ?? over(STATE_LIMITS.state, jsonBytes(carried)),
  );
}

/** The actor of an import, and the rule that permits it. */
export interface Importer {
  readonly actor: string;
  readonly permitted?: string | undefined;
  readonly nowMs: number;
}

/**
 * The pipeline with the records of a document; releases under way continue. Known-bad entries, a hold and a freeze stay until a person lifts them. No
 * entry of a document counts as done by a person here or as seen by a worker. A revert relies on an inheritance without checking it, so an
 * inheritance counts only if an admin imports it, or if no rules exist.
 */
export function importDocument(
  state: PipelineState | null,
  document: PipelineDocument,
  groups: PipelineState['groups'],
  settings: Settings,
  { actor, permitted, nowMs }: Importer,
): PipelineState {
  const base = newPipeline(document.spec, groups, settings);
  const { active, ready, deploys, mutexes, history } = state ?? base;
  const records = asImported(pickRecords(document), state);
  const vouched = permitted === undefined || isByAdmin({ permitted });
  const all = new Map([...records.history, ...history].map((row) => [row.number, row]));
  return {
    ...base,
    ...records,
    ...{ active, ready, deploys, mutexes },
    ...(vouched ? {} : { inherited: state?.inherited ?? {} }),
    imported: { actor, at: formatTime(nowMs), vouched },
    ...(state ? keepLastingFacts(state, records) : {}),
    history: [...all.values()].sort((a, b) => a.number - b.number).slice(-KEPT_RELEASES),
  };
}

/** The facts about an existing pipeline that no import removes. */
function keepLastingFacts(
  { held, frozen, badUnlisted = 0, ...state }: PipelineState,
  records: PipelineRecords,
): Partial<PipelineState> {
  const listed = new Set(records.knownBad.map(({ artifact }) => artifact));
  const unlisted = Math.max(badUnlisted, records.badUnlisted ?? 0);
  const commands = new Map([...records.commands, ...state.commands].map((each) => [formatSortedFields(each), each]));
  return {
    ...{ held: held ?? records.held, frozen: frozen ?? records.frozen },
    ...{
      newestBegun: newestOfBoth(records.newestBegun, state.newestBegun),
      keys: keysOfBoth(records.keys, state.keys),
    },
    ...(state.begunAt ? { begunAt: state.begunAt } : {}),
    ...(state.proofs ? { proofs: state.proofs } : {}),
    ...(hasOffered(state) ? { offered: true } : {}),
    ...usesOfBoth(records.uses, state.uses),
    ...(unlisted > 0 ? { badUnlisted: unlisted } : {}),
    knownBad: [...records.knownBad, ...state.knownBad.filter(({ artifact }) => !listed.has(artifact))],
    commands: trimCommands(
      [...commands.values()].sort((a, b) => (a.at < b.at ? -1 : 1)),
      STATE_LIMITS.commands.max,
    ),
  };
}

function newestOfBoth(
  one: PipelineState['newestBegun'],
  other: PipelineState['newestBegun'],
): PipelineState['newestBegun'] {
  const actions = Object.keys({ ...one, ...other });
  return Object.fromEntries(actions.map((action) => [action, Math.max(one[action] ?? 0, other[action] ?? 0)]));
}

function usesOfBoth(one: PipelineState['uses'], other: PipelineState['uses']): Pick<PipelineState, 'uses'> {
  if (one === undefined && other === undefined) return {};
  const actions = Object.keys({ ...one, ...other });
  const of = (action: string) => [...new Set([...(one?.[action] ?? []), ...(other?.[action] ?? [])])];
  return { uses: Object.fromEntries(actions.map((action) => [action, of(action)])) };
}

const keysOfBoth = (one: PipelineState['keys'], other: PipelineState['keys']): PipelineState['keys'] =>
  [...new Map([...one, ...other])].slice(-STATE_LIMITS.keys.max);

/** The facts that Temporal still has about the releases of a pipeline whose own workflow has ended. */
export interface RecoveredFacts {
  /** No release has this or a higher number. */
  readonly nextNumber: number;
  /** Releases that the records may not have; each is looked at like a running one. */
  readonly releases: readonly ActiveRelease[];
}

/**
 * Continues with records that may be older than the last work: no number is given twice, and no release is forgotten.
 */
export function adoptReleases(state: PipelineState, { nextNumber, releases }: RecoveredFacts): PipelineState {
  const known = new Set([...state.active, ...state.history].map(({ number }) => number));
  const missed = releases
    .filter(({ number }) => !known.has(number))
    .map((release) => ({ ...release, artifacts: release.artifacts.map(pickIdentity) }));
  return {
    ...state,
    nextNumber: Math.max(state.nextNumber, nextNumber),
    active: [...state.active, ...missed].sort((a, b) => a.number - b.number),
  };
}
