import type { Restraint } from './project';

/** Statistics of a restraint from its tries. */
export interface TriedRestraint {
  /** How often it was tried, and how often it held. */
  seen: number;
  held: number;
  /** The total cost of all tries, in any unit. */
  cost: number;
}

/** Nothing is known yet, so that the costs of its kind speak. */
export const untried = ({ restraint }: Restraint): TriedRestraint => ({
  seen: 2,
  held: 1,
  cost: 2 * FIRST_COSTS[restraint],
});

/** About as many nanoseconds. */
const FIRST_COSTS: Readonly<Record<Restraint['restraint'], number>> = {
  employee: 5,
  id: 20,
  country: 20,
  region: 20,
  app: 20,
  device: 20,
  locale: 40,
  'new-user': 60,
  bucket: 150,
  slice: 150,
  'app-version': 400,
  laser: 1000,
};

/** Older tries count half once there are so many, so that the order follows users as they change. */
const REMEMBERED = 2000;

export function learn(tried: TriedRestraint, held: boolean, cost: number): void {
  tried.seen += 1;
  tried.held += held ? 1 : 0;
  tried.cost += cost;
  if (tried.seen < REMEMBERED) return;
  tried.seen /= 2;
  tried.held /= 2;
  tried.cost /= 2;
}

/**
 * The order in which to try the restraints of a rule: the least cost for each rule that is settled first, which is the cheapest
 * in the mean as long as they do not depend on each other. As written where nothing speaks for another order.
 */
export function cheapestOrder(all: readonly TriedRestraint[]): number[] {
  const price = all.map(({ seen, held, cost }) => {
    const settles = (seen - held) / seen;
    return settles > 0 ? cost / seen / settles : Infinity;
  });
  return all.map((_, index) => index).sort((one, other) => compare(price[one], price[other]) || one - other);
}

const compare = (one = 0, other = 0): number => (one === other ? 0 : one < other ? -1 : 1);
