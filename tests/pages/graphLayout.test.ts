import fc from 'fast-check';
import { layOutGraph, type GraphNode } from '../../pages/graph/layout';

const graphs: fc.Arbitrary<readonly GraphNode[]> = fc
  .array(fc.array(fc.nat(63), { maxLength: 6 }), { minLength: 1, maxLength: 64 })
  .map((all) =>
    all.map((needs, n) => ({ name: `a${n}`, needs: needs.filter((one) => one < n).map((one) => `a${one}`) })),
  );

test('in any graph each action has a place of its own, to the right of all that it needs', () => {
  fc.assert(
    fc.property(graphs, (nodes) => {
      const { nodes: placed, edges, rows, columns } = layOutGraph(nodes);
      const place = new Map(placed.map((node) => [node.name, node]));
      expect(new Set(placed.map(({ column, row }) => `${column} ${row}`)).size).toBe(nodes.length);
      for (const { name, needs } of nodes)
        for (const need of needs) expect(place.get(need)!.column).toBeLessThan(place.get(name)!.column);
      expect(edges).toHaveLength(nodes.reduce((sum, { needs }) => sum + new Set(needs).size, 0));
      expect(Math.max(...placed.map(({ row }) => row))).toBeLessThan(rows);
      expect(Math.max(...placed.map(({ column }) => column))).toBe(columns - 1);
    }),
  );
});

test('a line that passes a column goes through no action there', () => {
  const { nodes, edges } = layOutGraph([
    { name: 'build', needs: [] },
    { name: 'test', needs: ['build'] },
    { name: 'deploy', needs: ['test', 'build'] },
  ]);
  const [long] = edges.filter(({ from, to }) => from.name === 'build' && to.name === 'deploy');
  expect(long?.via).toHaveLength(1);
  expect(nodes.filter(({ column }) => column === 1).map(({ row }) => row)).not.toContain(long?.via[0]);
});

test('a circle, or a need that is unknown, does not keep the others from being drawn', () => {
  const { nodes } = layOutGraph([
    { name: 'a', needs: ['b', 'nothing'] },
    { name: 'b', needs: ['a'] },
  ]);
  expect(nodes.map(({ name }) => name)).toEqual(['a', 'b']);
});
