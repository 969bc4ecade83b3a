import type { Hono } from 'hono';
import { pathDown, walkDependents } from '../../domain/dependents';
import { ExtensionError, serveDependencyGraph } from '../../sdk/server';
import type { Simulation } from '../simulation';
import { dependentsIn } from './targets';

/**
 * The build service's graph of the simulated monorepo. The dependencies are the same at each revision. Revisions are
 * ordered by the number at their end, as in `12` or `r12`.
 */
export const dependencyGraph = (simulation: Simulation): Hono =>
  serveDependencyGraph('builds', {
    getDependents: ({ target, revisions, depth, among }) => {
      const from = requireRevision(revisions.from);
      const to = revisions.to === undefined ? Infinity : requireRevision(revisions.to);
      const { targets } = simulation.state;
      const isKnown = (name: string): boolean => targets.has(name) || dependentsIn(targets).has(name);
      if (!isKnown(target)) return { affected: [] };
      const reached = walkDependents(dependentsIn(targets), target, depth);
      const affected = among.flatMap((built) => {
        const found = reached.get(built.target);
        const at = parseRevisionOrder(built.revision);
        if (found === undefined || at === undefined || at < from || at >= to) return [];
        return [{ ...built, depth: found.depth, path: [...pathDown(reached, built.target)] }];
      });
      return { affected };
    },
  });

function requireRevision(revision: string): number {
  const order = parseRevisionOrder(revision);
  if (order !== undefined) return order;
  throw new ExtensionError(
    'unknown-revision',
    `${revision} is not a revision: they end in a number, such as 12 or r12`,
  );
}

/** Undefined if the text is not a revision. */
function parseRevisionOrder(revision: string): number | undefined {
  const digits = /\d{1,15}$/.exec(revision)?.[0];
  return digits === undefined ? undefined : Number(digits);
}
