import { identityOf, type Artifact } from '../artifact';
import { STATE_LIMITS } from '../limits';
import { cutText, firstWithin, jsonBytes } from '../size';
import { formatTime, plural } from '../text';
import { heldBy, isKnownBad, type KnownBad, type PipelineState } from './state';

/**
 * Known-bad from now on; once is enough. Nothing is ever dropped: when the list grows long, older reasons are cut; when it is
 * full the pipeline is held, until a person has allowed some. What still runs then has room of its own. Should that be used up
 * as well, newcomers are only counted, and the pipeline stays held for good, since nobody could recognise them any more.
 */
export function markKnownBad(
  state: PipelineState,
  artifacts: readonly Artifact[],
  reason: string,
  nowMs: number,
): PipelineState {
  const fresh = new Set(artifacts.filter((artifact) => !isKnownBad(state, artifact)).map(identityOf));
  if (fresh.size === 0) return state;
  const why = cutText(reason, STATE_LIMITS.badReason.max);
  const bad = [...fresh].map((artifact): KnownBad => ({ artifact, at: formatTime(nowMs), reason: why }));
  const all = compacted([...state.knownBad, ...bad]);
  const knownBad = firstWithin(all, STATE_LIMITS.knownBad.max);
  const unlisted = (state.badUnlisted ?? 0) + all.length - knownBad.length;
  const next = { ...state, knownBad, ...(unlisted > 0 ? { badUnlisted: unlisted } : {}) };
  const full = whyBadFull(next);
  if (full === undefined || (state.held && unlisted === (state.badUnlisted ?? 0))) return next;
  return heldBy(next, 'service:conveyor', full, nowMs);
}

/** What of the known-bad an action of the pipeline may make again, the newest of it; nothing where there is none. */
export function badOutputs({ spec, knownBad }: Pick<PipelineState, 'spec' | 'knownBad'>): {
  readonly knownBad?: readonly string[];
} {
  const made = new Set(Object.values(spec.actions).flatMap(({ outputs }) => outputs));
  const bad = knownBad.map(({ artifact }) => artifact).filter((one) => made.has(one.split('@')[0] ?? ''));
  return bad.length === 0 ? {} : { knownBad: bad.slice(-WARNED_OF) };
}

/** Why nothing new may be deployed: there is no room for more that is bad. Undefined while there is. */
export function whyBadFull({
  knownBad,
  badUnlisted = 0,
}: Pick<PipelineState, 'knownBad' | 'badUnlisted'>): string | undefined {
  if (badUnlisted > 0)
    return `${plural(badUnlisted, 'known-bad artifact')} had no room in the list, so nobody can recognise them; this pipeline deploys nothing any more: continue with a new one, under another name`;
  if (!isOverHold(knownBad)) return undefined;
  return `the list of known-bad artifacts is full (${knownBad.length}): allow-artifact those that nobody will build again`;
}

const isOverHold = (bad: readonly KnownBad[]): boolean => jsonBytes(bad) > STATE_LIMITS.knownBadBeforeHold.max;

/** Nobody makes again what is older; should it happen, the deploy refuses it. */
const WARNED_OF = 20;
/** Of the newest people want to know why; of the others that they are bad. */
const WITH_REASON = 20;
const SHORT_REASON = 40;
/** Only the mark that something was cut. */
const NO_REASON = 3;

/** As many reasons as there is room for, first those of the newest; of each which artifact it is stays. */
function compacted(bad: readonly KnownBad[]): readonly KnownBad[] {
  const shorter = isOverHold(bad) ? withReasons(bad, SHORT_REASON, WITH_REASON) : bad;
  const short = isOverHold(shorter) ? withReasons(shorter, NO_REASON, WITH_REASON) : shorter;
  return jsonBytes(short) > STATE_LIMITS.knownBad.max ? withReasons(short, NO_REASON, 0) : short;
}

const withReasons = (bad: readonly KnownBad[], bytes: number, whole: number): readonly KnownBad[] =>
  bad.map((one, index) => (index < bad.length - whole ? { ...one, reason: cutText(one.reason, bytes) } : one));
