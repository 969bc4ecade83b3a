import fc from 'fast-check';
import { invertDependencies, pathDown, walkDependents } from '../../domain/dependents';

const graphs = fc
  .array(fc.array(fc.nat({ max: 19 }), { maxLength: 4 }), { minLength: 1, maxLength: 20 })
  .map((rows) => new Map<string, string[]>(rows.map((needed, n) => [`//t:${n}`, needed.map((one) => `//t:${one}`)])));

/** By looking at each dependency of each target, over and over. */
function slowly(graph: ReadonlyMap<string, readonly string[]>, target: string, depth: number): Set<string> {
  let within = new Set([target]);
  for (let far = 0; far < depth; far += 1)
    within = new Set([...within, ...[...graph].filter(([, deps]) => deps.some((one) => within.has(one))).map(([name]) => name)]); // prettier-ignore
  return within;
}

test('all dependents within the depth are found, and no others, whatever circles there are', () => {
  fc.assert(
    fc.property(graphs, fc.integer({ min: 0, max: 20 }), (graph, depth) => {
      const reached = walkDependents(invertDependencies(graph), '//t:0', depth);
      expect(new Set(reached.keys())).toEqual(slowly(graph, '//t:0', depth));
    }),
  );
});

test('each is found by a chain of real dependencies as long as its depth, which is the shortest', () => {
  fc.assert(
    fc.property(graphs, (graph) => {
      const reached = walkDependents(invertDependencies(graph), '//t:0', 100);
      for (const [name, { depth }] of reached) {
        const path = pathDown(reached, name);
        expect([path[0], path.at(-1), path.length]).toEqual([name, '//t:0', depth + 1]);
        for (const [nth, one] of path.slice(0, -1).entries()) expect(graph.get(one)).toContain(path[nth + 1]);
        if (depth > 0) expect(slowly(graph, '//t:0', depth - 1)).not.toContain(name);
      }
    }),
  );
});
