import { ApplicationFailure } from '@temporalio/activity';
import { allUnits, type AllUnits } from '../domain/deploy/allUnits';
import { PlanError } from '../domain/deploy/planLimits';
import { isNonRetryable } from './failure';
import type { DeployCall, Invoke } from './pushCalls';

/** All units of a push type. @throws PlanError if there are too many. */
export function fetchUnits(invoke: Invoke, call: DeployCall): Promise<AllUnits> {
  const { pushType } = call;
  return allUnits(
    pushType,
    (request) => invoke(call, 'fetchDeployUnits', request),
    () => ApplicationFailure.nonRetryable(`${pushType} answers the same page of units again`, 'extension-protocol'),
  );
}

/**
 * The given units that still exist. If the push type does not answer, or names none, all of them count, since an inventory may be empty for a
 * moment.
 */
export async function stillThere(invoke: Invoke, call: DeployCall, ids: readonly string[]): Promise<readonly string[]> {
  const fetched = await fetchUnits(invoke, call).catch(() => undefined);
  if (fetched === undefined || fetched.units.length === 0) return ids;
  const there = new Set(fetched.units.map(({ id }) => id));
  return ids.filter((id) => there.has(id));
}

/** Asks about units. If the push type refuses, it asks once more about those that still exist. */
export async function askOfPresent<T, A>(
  invoke: Invoke,
  call: DeployCall,
  about: readonly T[],
  { idOf, ask }: { readonly idOf: (one: T) => string; readonly ask: (some: readonly T[]) => Promise<A> },
): Promise<A> {
  return ask(about).catch(async (error: unknown) => {
    if (!isNonRetryable(error)) throw error;
    const there = new Set(await stillThere(invoke, call, about.map(idOf)));
    const left = about.filter((one) => there.has(idOf(one)));
    if (left.length === about.length) throw error;
    return ask(left);
  });
}

/** A running deploy is not planned again, so a person has to fix an impossible plan. */
export const orRefused = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => {
    throw error instanceof PlanError ? ApplicationFailure.nonRetryable(error.message, 'plan-impossible') : error;
  });
