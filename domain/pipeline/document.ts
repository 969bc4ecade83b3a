import { over } from '../excess';
import { keptCommands } from '../keptCommands';
import { STATE_LIMITS } from '../limits';
import { isByAdmin, type Policy } from '../principals';
import { DEFAULT_SETTINGS, type Settings } from '../settings';
import { jsonBytes } from '../size';
import { formatTime } from '../text';
import { KEPT_RELEASES } from './recordOutcome';
import { fitted } from './fitted';
import { identified } from '../artifact';
import { refuseLargeSpec } from './refuseApply';
import { asImported, sortedText } from './imported';
import { notPermitted, policyOf, tooLarge, type Refusal } from './refusal';
import { isSpec } from './shapes';
import { newPipeline, type ActiveRelease, type PipelineState } from './state';

/** What of a pipeline is worth keeping outside of Temporal; what runs is not among it. */
const RECORDED = [
  ...(['spec', 'nextNumber', 'newestBegun', 'good', 'inherited', 'knownBad', 'inputs', 'followed', 'late'] as const),
  ...(['held', 'frozen', 'revertsInARow', 'keys', 'history', 'commands'] as const),
  ...(['badUnlisted', 'inheritedOmitted', 'pushed', 'deployedAt'] as const),
] as const;

type PipelineRecords = Pick<PipelineState, (typeof RECORDED)[number]>;

/** `conveyor pipeline export`: JSON that `import` takes; a later version of Conveyor reads what an earlier one wrote. */
export interface PipelineDocument extends PipelineRecords {
  readonly kind: 'conveyor.pipeline';
  readonly version: 1;
  readonly exportedAt: string;
  readonly pipeline: string;
}

export const documentOf = (state: PipelineState, nowMs: number): PipelineDocument => ({
  kind: 'conveyor.pipeline',
  version: 1,
  exportedAt: formatTime(nowMs),
  pipeline: state.spec.pipeline,
  ...recordsOf(state),
});

const recordsOf = (from: PipelineRecords): PipelineRecords =>
  Object.fromEntries(
    RECORDED.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])),
  ) as unknown as PipelineRecords;

/** Owners of what there is may replace its records, never by ones that would number a release again. */
export function refuseImport(
  state: PipelineState | null,
  document: PipelineDocument,
  groups: Policy['groups'],
  actor: string,
  permitted?: string,
): Refusal | undefined {
  if (!isSpec(document.spec)) return { code: 'invalid-state', message: 'its spec is none that an export wrote' };
  const policy = state === null ? { owners: document.spec.owners, groups } : policyOf(state);
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

/** Records that a pipeline could not carry, whatever may be cut of them. */
function refuseLargeRecords(
  state: PipelineState | null,
  document: PipelineDocument,
  groups: Policy['groups'],
): Refusal | undefined {
  const carried = fitted(imported(state, document, groups, DEFAULT_SETTINGS, { actor: '', nowMs: 0 }));
  return tooLarge(
    over(STATE_LIMITS.knownBad, jsonBytes(carried.knownBad)) ?? over(STATE_LIMITS.state, jsonBytes(carried)),
  );
}

/** Who imports a document, and by which rule. */
export interface Importer {
  readonly actor: string;
  readonly permitted?: string | undefined;
  readonly nowMs: number;
}

/**
 * The pipeline with the records of a document; releases under way continue. What is known to be bad stays so, and a hold or freeze stays,
 * until somebody says otherwise. Nothing in a document counts as done by a person or seen by a worker here. A revert relies on what a deploy left
 * behind without asking, so that counts only if an admin imports it, or if no rules exist.
 */
export function imported(
  state: PipelineState | null,
  document: PipelineDocument,
  groups: PipelineState['groups'],
  settings: Settings,
  { actor, permitted, nowMs }: Importer,
): PipelineState {
  const base = newPipeline(document.spec, groups, settings);
  const { active, ready, deploys, mutexes, history } = state ?? base;
  const records = asImported(recordsOf(document), state);
  const vouched = permitted === undefined || isByAdmin({ permitted });
  const all = new Map([...records.history, ...history].map((row) => [row.number, row]));
  return {
    ...base,
    ...records,
    ...{ active, ready, deploys, mutexes },
    ...(vouched ? {} : { inherited: state?.inherited ?? {} }),
    imported: { actor, at: formatTime(nowMs), vouched },
    ...(state ? lasting(state, records) : {}),
    history: [...all.values()].sort((a, b) => a.number - b.number).slice(-KEPT_RELEASES),
  };
}

/** What no records take away from a pipeline that there is. */
function lasting(
  { held, frozen, badUnlisted = 0, ...state }: PipelineState,
  records: PipelineRecords,
): Partial<PipelineState> {
  const listed = new Set(records.knownBad.map(({ artifact }) => artifact));
  const unlisted = Math.max(badUnlisted, records.badUnlisted ?? 0);
  const commands = new Map([...records.commands, ...state.commands].map((each) => [sortedText(each), each]));
  return {
    ...{ held: held ?? records.held, frozen: frozen ?? records.frozen },
    ...{
      newestBegun: newestOfBoth(records.newestBegun, state.newestBegun),
      keys: keysOfBoth(records.keys, state.keys),
    },
    ...(state.begunAt ? { begunAt: state.begunAt } : {}),
    ...(state.proofs ? { proofs: state.proofs } : {}),
    ...(unlisted > 0 ? { badUnlisted: unlisted } : {}),
    knownBad: [...records.knownBad, ...state.knownBad.filter(({ artifact }) => !listed.has(artifact))],
    commands: keptCommands(
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

const keysOfBoth = (one: PipelineState['keys'], other: PipelineState['keys']): PipelineState['keys'] =>
  [...new Map([...one, ...other])].slice(-STATE_LIMITS.keys.max);

/** What Temporal still knows of the releases of a pipeline whose own workflow has ended. */
export interface Found {
  /** No release has this number, nor a higher one. */
  readonly nextNumber: number;
  /** Those that the records may not know; what became of them is looked at as of any that runs. */
  readonly releases: readonly ActiveRelease[];
}

/** Records that may be older than what was done since: no number is given twice, and no release is forgotten. */
export function continuing(state: PipelineState, { nextNumber, releases }: Found): PipelineState {
  const known = new Set([...state.active, ...state.history].map(({ number }) => number));
  const missed = releases
    .filter(({ number }) => !known.has(number))
    .map((release) => ({ ...release, artifacts: release.artifacts.map(identified) }));
  return {
    ...state,
    nextNumber: Math.max(state.nextNumber, nextNumber),
    active: [...state.active, ...missed].sort((a, b) => a.number - b.number),
  };
}
