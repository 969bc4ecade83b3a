import { withReason } from '../text';
import type { Classification, DeployOutcome, Pause } from '../views';
import type { Control, Overtaken } from './control';
import { keptWords } from './keptWords';
import type { Inheritance } from './planRevert';
import type { DeployInput, DeployRecord, DeployResult } from './state';
import { withoutThem } from './unavailable';
import { unlistedWords } from './unlisted';

/** Why a deploy ends; the outcome and whose fault it was follow from it (docs/design/deploy.md#ends). */
export type Ending =
  | { readonly kind: 'succeeded'; readonly reason?: string }
  /** `by` is `health`, or the person who asked. */
  | {
      readonly kind: 'reverted' | 'revert-failed';
      readonly by: string;
      readonly reason: string;
      /** Whether the version is known-bad from now on. */
      readonly bad: boolean;
      /** What it was paused by when the revert was asked for. */
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

/** The end of a deploy that a person or another release stopped. */
export const cancelled = (
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

/** The end of a deploy that goes back. Health judges its version bad; a person says whether it is. */
export function takenBack(
  { by, reason }: { readonly by: string; readonly reason: string },
  { revert }: Control,
): Extract<Ending, { kind: 'reverted' | 'revert-failed' }> {
  const asked = by === 'health' ? null : revert;
  return { kind: 'reverted', by, reason, bad: asked?.notBad !== true, paused: asked?.paused ?? null };
}

/** It is through; units that it left out wait for a follow-on, and tasks that are missing start on the version. */
export function succeeded(
  { version }: Pick<DeployInput, 'version'>,
  { skipped, missing, keptUnits, unlisted }: Pick<DeployRecord, 'skipped' | 'missing' | 'keptUnits' | 'unlisted'>,
): Ending {
  if (skipped.length === 0 && missing === null && !keptUnits && !unlisted) return { kind: 'succeeded' };
  const which = `${skipped.length === 0 ? '' : 'available '}${keptUnits ? 'other ' : ''}unit`;
  const units = `every ${which}${unlisted ? ' that is listed' : ''}`;
  const kept = keptUnits ? `; ${keptWords(keptUnits)}` : '';
  const lost = unlisted ? `; ${unlistedWords(unlisted, version)}` : '';
  const text = `${units} runs ${version}${missing === null ? '' : ` but for ${missing}`}${kept}${lost}`;
  return { kind: 'succeeded', reason: skipped.length === 0 ? text : `${text}, ${withoutThem(skipped)}` };
}

export function resultOf(
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
    ...(classification === 'bad-failure' ? { blame: blameOf(ending, pushType) } : {}),
    version,
    reason: wording(ending, version),
    reverted: 'bad' in ending ? { by: ending.by, bad: ending.bad } : null,
    spans,
    ...(ending.kind === 'succeeded' && !outdated && skipped.length === 0 ? { unchanged: true } : {}),
    ...(skipped.length > 0 ? { skipped } : {}),
    ...(overridden.length > 0 ? { overridden } : {}),
    ...(ending.kind === 'cancelled' && ending.overtaken ? { cause: ending.overtaken.why } : {}),
  };
}

/**
 * What an ended deploy leaves to inherit, for its pipeline: null once every unit is settled on one version, whatever was
 * there to inherit before; undefined: as before.
 */
export function leftBehind(result: DeployResult | undefined): { readonly leaves?: Inheritance | null } {
  if (result?.outcome === 'succeeded' || result?.outcome === 'reverted') return { leaves: null };
  return result?.leaves === undefined ? {} : { leaves: result.leaves };
}

/** A deploy that a person ends while it waits for a dependency, the fleet or a timeout failed because of those, not of the change. */
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

/** What a dependency is called that failures count against. */
export const pushTypeWords = (pushType: string): string => `push type ${pushType}`;
export const HEALTH_DATA = 'health data';

/** What a bad failure failed by: what it was paused by, else what refused it, or the revert that did not come through. */
function blameOf(ending: Ending, pushType: string): string {
  const paused = 'paused' in ending ? ending.paused : null;
  if (paused !== null && isBroken(paused)) return paused.on ?? BLAMES[paused.by] ?? paused.by;
  return ending.kind === 'failed' ? pushTypeWords(pushType) : 'revert';
}

/** A pause of a workflow that began before dependencies were named says no more than this. */
const BLAMES: Readonly<Partial<Record<Pause['by'], string>>> = {
  dependency: 'a dependency',
  timeout: 'update timeout',
  unit: 'unavailable units',
};

const BROKEN: ReadonlySet<Pause['by']> = new Set(['dependency', 'timeout', 'unit']);

const isBroken = (paused: Pause | null): boolean => paused !== null && BROKEN.has(paused.by);

function wording(ending: Ending, version: string): string {
  switch (ending.kind) {
    case 'succeeded':
      return ending.reason ?? `every unit runs ${version}`;
    case 'reverted':
      return withReason(`reverted by ${ending.by === 'health' ? 'itself' : ending.by}`, ending.reason);
    case 'revert-failed':
      return withReason(`${ending.by} ended it before the revert was through`, ending.reason);
    case 'failed':
      return ending.reason;
    case 'cancelled':
      return `${stopped(ending)}${ending.mixed ? '; the fleet runs both versions' : ''}`;
  }
}

const stopped = ({ overtaken, actor, reason }: Extract<Ending, { kind: 'cancelled' }>): string =>
  overtaken ? `${overtaken.why} by release ${overtaken.by}` : withReason(`cancelled by ${actor}`, reason);
