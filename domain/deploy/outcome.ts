import { withReason } from '../text';
import type { Classification, DeployOutcome, Pause } from '../views';
import type { Control, Overtaken } from './control';
import { describeKeptUnits } from './keptUnitsText';
import type { Inheritance } from './planRevert';
import type { DeployInput, DeployRecord, DeployResult } from './state';
import { withoutThem } from './unavailable';
import { describeUnlisted } from './unlistedUnits';

/** The reasons why a deploy ends; the outcome and the fault follow from them (docs/design/deploy.md#ends). */
export type Ending =
  | { readonly kind: 'succeeded'; readonly reason?: string }
  /** `by` is `health`, or the person who asked for the revert. */
  | {
      readonly kind: 'reverted' | 'revert-failed';
      readonly by: string;
      readonly reason: string;
      /** Whether the version is known-bad from now on. */
      readonly bad: boolean;
      /** The pause that was in force when the revert was asked for. */
      readonly paused: Pause | null;
    }
  | {
      readonly kind: 'cancelled';
      readonly actor: string;
      readonly reason: string;
      readonly paused: Pause | null;
      readonly mixed: boolean;
      readonly overtaken?: Overtaken | null;
    }
  | { readonly kind: 'failed'; readonly reason: string; readonly fault: 'change' | 'conveyor' };

/** The ending of a deploy that a person or another release stopped. */
export const createCancelledEnding = (
  { cancel, paused, overtaken }: Control,
  mixed: boolean,
): Extract<Ending, { kind: 'cancelled' }> => ({
  kind: 'cancelled',
  actor: cancel?.actor ?? '',
  reason: cancel?.reason ?? '',
  paused,
  mixed,
  overtaken: cancel ? null : overtaken,
});

/** The ending of a deploy that reverts. Health marks its version as bad; a person decides whether it is. */
export function createRevertEnding(
  { by, reason }: { readonly by: string; readonly reason: string },
  { revert }: Control,
): Extract<Ending, { kind: 'reverted' | 'revert-failed' }> {
  const asked = by === 'health' ? null : revert;
  return { kind: 'reverted', by, reason, bad: asked?.notBad !== true, paused: asked?.paused ?? null };
}

/** All phases are over. Units that were left out wait for a follow-on, and missing tasks start on the version. */
export function createSuccessEnding(
  { version }: Pick<DeployInput, 'version'>,
  { skipped, missing, keptUnits, unlisted }: Pick<DeployRecord, 'skipped' | 'missing' | 'keptUnits' | 'unlisted'>,
): Ending {
  if (skipped.length === 0 && missing === null && !keptUnits && !unlisted) return { kind: 'succeeded' };
  const which = `${keptUnits ? 'other ' : ''}${skipped.length === 0 ? '' : 'available '}unit`;
  const units = `every ${which}${unlisted ? ' that is listed' : ''}`;
  const kept = keptUnits ? `; ${describeKeptUnits(keptUnits)}` : '';
  const lost = unlisted ? `; ${describeUnlisted(unlisted, version)}` : '';
  const text = `${units} runs ${version}${missing === null ? '' : ` except for ${missing}`}${kept}${lost}`;
  return { kind: 'succeeded', reason: skipped.length === 0 ? text : `${text}, ${withoutThem(skipped)}` };
}

export function buildDeployResult(
  ending: Ending,
  {
    version,
    spec: { pushType },
  }: Pick<DeployInput, 'version'> & { readonly spec: Pick<DeployInput['spec'], 'pushType'> },
  { spans, skipped, overridden, outdated }: Pick<DeployRecord, 'spans' | 'skipped' | 'overridden' | 'outdated'>,
): DeployResult {
  const classification = classify(ending);
  return {
    ...{ outcome: ending.kind satisfies DeployOutcome, classification },
    ...(classification === 'bad-failure' ? { blame: findBlame(ending, pushType) } : {}),
    version,
    reason: describeEnding(ending, version),
    reverted: 'bad' in ending ? { by: ending.by, bad: ending.bad } : null,
    spans,
    ...(ending.kind === 'succeeded' && !outdated && skipped.length === 0 ? { unchanged: true } : {}),
    ...(skipped.length > 0 ? { skipped } : {}),
    ...(overridden.length > 0 ? { overridden } : {}),
    ...(ending.kind === 'cancelled' && ending.overtaken ? { cause: ending.overtaken.why } : {}),
  };
}

/**
 * The inheritance that an ended deploy leaves for its pipeline. Null once every unit is settled on one version, even if there
 * was an inheritance before; undefined if it stays unchanged.
 */
export function pickInheritance(result: DeployResult | undefined): { readonly leaves?: Inheritance | null } {
  if (result?.outcome === 'succeeded' || result?.outcome === 'reverted') return { leaves: null };
  return result?.leaves === undefined ? {} : { leaves: result.leaves };
}

/**
 * If a person ends a deploy that waits for a dependency, the fleet or a timeout, the failure counts against those, not against the change.
 */
function classify(ending: Ending): Classification {
  switch (ending.kind) {
    case 'succeeded':
      return 'success';
    case 'reverted':
      return isBroken(ending.paused) ? 'bad-failure' : 'good-failure';
    case 'revert-failed':
      return 'bad-failure';
    case 'failed':
      return ending.fault === 'change' ? 'good-failure' : 'bad-failure';
    case 'cancelled':
      return isBroken(ending.paused) ? 'bad-failure' : 'good-failure';
  }
}

/** The name under which failures count against a dependency. */
export const pushTypeWords = (pushType: string): string => `push type ${pushType}`;
export const HEALTH_DATA = 'health data';

/** The cause of a bad failure: the cause of its pause, else the service that refused it, or the revert that failed. */
function findBlame(ending: Ending, pushType: string): string {
  const paused = 'paused' in ending ? ending.paused : null;
  if (paused !== null && isBroken(paused)) return paused.on ?? BLAMES[paused.by] ?? paused.by;
  return ending.kind === 'failed' ? pushTypeWords(pushType) : 'revert';
}

/** Names for pauses that wait for no dependency. */
const BLAMES: Readonly<Partial<Record<Pause['by'], string>>> = {
  timeout: 'update timeout',
  unit: 'unavailable units',
};

const BROKEN: ReadonlySet<Pause['by']> = new Set(['dependency', 'timeout', 'unit']);

const isBroken = (paused: Pause | null): boolean => paused !== null && BROKEN.has(paused.by);

function describeEnding(ending: Ending, version: string): string {
  switch (ending.kind) {
    case 'succeeded':
      return ending.reason ?? `every unit runs ${version}`;
    case 'reverted':
      return withReason(`reverted ${ending.by === 'health' ? 'automatically' : `by ${ending.by}`}`, ending.reason);
    case 'revert-failed':
      return withReason(`${ending.by} ended it before the revert had finished`, ending.reason);
    case 'failed':
      return ending.reason;
    case 'cancelled':
      return `${describeCancellation(ending)}${ending.mixed ? '; the fleet runs both versions' : ''}`;
  }
}

const describeCancellation = ({ overtaken, actor, reason }: Extract<Ending, { kind: 'cancelled' }>): string =>
  overtaken ? `${overtaken.why} by release ${overtaken.by}` : withReason(`cancelled by ${actor}`, reason);
