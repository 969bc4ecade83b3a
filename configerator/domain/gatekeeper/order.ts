import type { Restraint } from './project';

/** Statistics of a restraint from its tries. */
export interface TriedRestraint {
  /** The number of tries, and the number of times that it held. */
  seen: number;
  held: number;
  /** The total cost of all tries, in any unit. */
  cost: number;
}

/** Without tries, the costs of its kind are used. */
export const createTriedRestraint = ({ restraint }: Restraint): TriedRestraint => ({
  seen: 2,
  held: 1,
  cost: 2 * FIRST_COSTS[restraint],
});

/** Approximately in nanoseconds. */
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

/** From this number of tries on, older ones count half, so that the order adapts as users change. */
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
 * The order in which to try the restraints of a rule: by the cost per settled rule, the lowest first. It is the cheapest on average if
 * the restraints are independent. Equal costs keep the order of the file.
 */
export function cheapestOrder(all: readonly TriedRestraint[]): number[] {
  const price = all.map(({ seen, held, cost }) => {
    const settles = (seen - held) / seen;
    return settles > 0 ? cost / seen / settles : Infinity;
  });
  return all.map((_, index) => index).sort((one, other) => compare(price[one], price[other]) || one - other);
}

const compare = (one = 0, other = 0): number => (one === other ? 0 : one < other ? -1 : 1);
