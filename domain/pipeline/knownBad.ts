import { formatIdentity, type Artifact } from '../artifact';
import { STATE_LIMITS } from '../limits';
import { cutText, firstWithin, jsonBytes } from '../size';
import { formatTime, plural } from '../text';
import { holdPipeline, isKnownBad, type KnownBad, type PipelineState } from './state';

/**
 * Marks artifacts as known-bad, each once. No entry is ever dropped. If the list grows long, older reasons are cut. If it is full, the
 * pipeline is held until a person has allowed some entries; running work then has room of its own. If that is used up too, new entries
 * are only counted, and the pipeline stays held permanently, since they could no longer be recognised.
 */
export function markKnownBad(
  state: PipelineState,
  artifacts: readonly Artifact[],
  reason: string,
  nowMs: number,
): PipelineState {
  const fresh = new Set(artifacts.filter((artifact) => !isKnownBad(state, artifact)).map(formatIdentity));
  if (fresh.size === 0) return state;
  const why = cutText(reason, STATE_LIMITS.badReason.max);
  const bad = [...fresh].map((artifact): KnownBad => ({ artifact, at: formatTime(nowMs), reason: why }));
  const all = compactKnownBad([...state.knownBad, ...bad]);
  const knownBad = firstWithin(all, STATE_LIMITS.knownBad.max);
  const unlisted = (state.badUnlisted ?? 0) + all.length - knownBad.length;
  const next = { ...state, knownBad, ...(unlisted > 0 ? { badUnlisted: unlisted } : {}) };
  const full = whyBadFull(next);
  if (full === undefined || (state.held && unlisted === (state.badUnlisted ?? 0))) return next;
  return holdPipeline(next, 'service:conveyor', full, nowMs);
}

/** The newest known-bad artifacts that an action of the pipeline may produce again; empty if there are none. */
export function badOutputs({ spec, knownBad }: Pick<PipelineState, 'spec' | 'knownBad'>): {
  readonly knownBad?: readonly string[];
} {
  const made = new Set(Object.values(spec.actions).flatMap(({ outputs }) => outputs));
  const bad = knownBad.map(({ artifact }) => artifact).filter((one) => made.has(one.split('@')[0] ?? ''));
  return bad.length === 0 ? {} : { knownBad: bad.slice(-WARNED_OF) };
}

/**
 * The reason why no new version may be deployed: the list has no room for more bad artifacts. Undefined if it has room.
 */
export function whyBadFull({
  knownBad,
  badUnlisted = 0,
}: Pick<PipelineState, 'knownBad' | 'badUnlisted'>): string | undefined {
  if (badUnlisted > 0)
    return `${plural(badUnlisted, 'known-bad artifact')} had no room in the list and cannot be recognised; this pipeline deploys nothing any more: continue with a new one, under another name`;
  if (!isOverHold(knownBad)) return undefined;
  return `the list of known-bad artifacts is full (${knownBad.length}): allow-artifact those that will not be built again`;
}

const isOverHold = (bad: readonly KnownBad[]): boolean => jsonBytes(bad) > STATE_LIMITS.knownBadBeforeHold.max;

/** Actions hardly ever produce older artifacts again; if one does, the deploy refuses it. */
const WARNED_OF = 20;
/** People need the reasons of the newest; for the others it is enough that they are bad. */
const WITH_REASON = 20;
const SHORT_REASON = 40;
/** Room only for the mark that the text was cut. */
const NO_REASON = 3;

/** As many reasons as fit, those of the newest first; the identity of each artifact stays. */
function compactKnownBad(bad: readonly KnownBad[]): readonly KnownBad[] {
  const shorter = isOverHold(bad) ? withReasons(bad, SHORT_REASON, WITH_REASON) : bad;
  const short = isOverHold(shorter) ? withReasons(shorter, NO_REASON, WITH_REASON) : shorter;
  return jsonBytes(short) > STATE_LIMITS.knownBad.max ? withReasons(short, NO_REASON, 0) : short;
}

const withReasons = (bad: readonly KnownBad[], bytes: number, whole: number): readonly KnownBad[] =>
  bad.map((one, index) => (index < bad.length - whole ? { ...one, reason: cutText(one.reason, bytes) } : one));
