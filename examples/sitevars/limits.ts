import { z } from 'zod';
import { checkedBy, sitevars, type SitevarPort, type Sitevars } from '../../sdk';

/** Sitevars of a shop: names with values, without a program; one has a checker. */
export const shopSitevars = (port: SitevarPort): Sitevars =>
  sitevars({
    port,
    checkers: {
      // The cart must never be unlimited, whatever its history.
      'cart-limits': checkedBy(z.looseObject({ items: z.number().int().min(1).max(500) })),
    },
  });

/** Replaces a configuration repository: a proposed value takes effect at once. */
export function inMemory(values: Readonly<Record<string, readonly unknown[]>>): SitevarPort {
  const histories = new Map(Object.entries(values));
  return {
    history: async (name) => histories.get(name) ?? [],
    propose: async (name, value) => {
      const history = [...(histories.get(name) ?? []), value];
      histories.set(name, history);
      return `${name}@${history.length}`;
    },
  };
}
