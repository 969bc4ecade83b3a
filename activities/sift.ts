import { Context } from '@temporalio/activity';
import type { PlannedTarget } from '../domain/deploy/plan';
import {
  isServiceAway,
  MOST_MISSED,
  newSifting,
  applyPartAnswers,
  type PartAnswer,
  type SiftProgress,
  type Stretch,
} from '../domain/deploy/sift';
import { FLEET_LIMITS } from '../domain/fleet/limits';
import { isNonRetryable } from './failure';
import { CHUNKS_AT_ONCE, hashTexts, getTargetUnit, type DeployCall } from './pushCalls';

type Targets = readonly PlannedTarget[];
/** Sends targets as an update with that id. @throws if they are not taken */
export type SendAs = (updateId: string, targets: Targets) => Promise<void>;

/**
 * Begins with the portions that a push type takes; `isSame`: the push type has already refused exactly these targets as
 * a whole.
 */
export function beginSifting({ inPages }: DeployCall, count: number, isSame: boolean): SiftProgress {
  const portion = inPages ? FLEET_LIMITS.chunk : count;
  return newSifting(count, { portion, isKnown: isSame && count <= portion });
}

const MAX_REASON = 300;
/** Each update takes requests of its own to follow, and a push type may forget old ones. */
const MOST_IDS = 20;

/**
 * Sends the rest in parts, a few at a time, and reports the progress after each few.
 * @throws the error of a service that is down, or that refuses all of many units: then single units are not the cause.
 */
export async function siftTargets(
  targets: Targets,
  updateId: string,
  begun: SiftProgress,
  { sendAs, report }: { readonly sendAs: SendAs; readonly report: (sifting: SiftProgress) => void },
): Promise<SiftProgress> {
  let sifting: SiftProgress = { ...begun, silent: 0 };
  let failure: unknown;
  const answerTo = async (part: Stretch): Promise<PartAnswer> => {
    const some = targets.slice(...part);
    try {
      await sendAs(partId(updateId, some), some);
      return { part };
    } catch (error) {
      if (Context.current().cancellationSignal.aborted) throw error;
      failure = error;
      const reason = (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON);
      return { part, no: { id: some[0]?.unit ?? '', reason, isAnswer: isNonRetryable(error) } };
    }
  };
  while (sifting.left.length > 0) {
    sifting = applyPartAnswers(sifting, await Promise.all(sifting.left.slice(0, CHUNKS_AT_ONCE).map(answerTo)));
    report(sifting);
    if (isServiceAway(sifting)) throw failure;
  }
  const isOfAll = sifting.taken.length === 0 && (sifting.missed > MOST_MISSED || !isNonRetryable(failure));
  if (isOfAll && failure !== undefined) throw failure;
  return sifting;
}

/** The updates by which the taken targets can be followed: its parts, or if there are many, one that takes over from them. */
export async function mergeSentParts(
  targets: Targets,
  updateId: string,
  { taken }: SiftProgress,
  sendAs: SendAs,
): Promise<readonly string[]> {
  const parts = taken.map((part) => targets.slice(...part));
  const ids = parts.map((part) => partId(updateId, part));
  if (ids.length <= MOST_IDS) return ids;
  const whole = partId(updateId, parts.flat());
  try {
    await sendAs(whole, parts.flat());
    return [whole];
  } catch (error) {
    if (Context.current().cancellationSignal.aborted) throw error;
    return ids;
  }
}

/** Each part has its own id, since the push type may know the id of the whole with other units. */
const partId = (updateId: string, targets: Targets): string => `${updateId}.${hashTexts(targets.map(getTargetUnit))}`;
