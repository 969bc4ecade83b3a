import { FLEET_LIMITS } from '../fleet/limits';
import type { Unit } from '../fleet/unit';
import { PlanError, refuseManyUnits } from './planLimits';

/** The answer of `fetchDeployUnits`. `next`: the start of the next page; null after the last page; left out by push types without pages. */
export interface UnitsPage {
  readonly service: string;
  readonly units: readonly Unit[];
  readonly next?: string | null | undefined;
}

export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string;
}

export interface AllUnits {
  readonly service: string;
  readonly units: Unit[];
  readonly inPages: boolean;
}

/**
 * All units of a push type, page by page if it has pages.
 * @throws PlanError if there are too many; the result of `pageAgain` if a page comes twice.
 */
export async function allUnits(
  pushType: string,
  fetchPage: (request: PageRequest) => Promise<UnitsPage>,
  pageAgain: () => Error,
): Promise<AllUnits> {
  const { chunk, unpagedUnits } = FLEET_LIMITS;
  const units: Unit[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await fetchPage({ limit: chunk, ...(cursor === undefined ? {} : { cursor }) });
    units.push(...page.units);
    const { service, next } = page;
    if (next === undefined && units.length > unpagedUnits)
      throw new PlanError(
        `${pushType} has ${units.length} units and does not page them; without paging a deploy has at most ${unpagedUnits}`,
      );
    refuseManyUnits(pushType, units.length);
    if (next === undefined || next === null) return { service, units, inPages: next !== undefined };
    if (next === cursor || page.units.length === 0) throw pageAgain();
    cursor = next;
  }
}
