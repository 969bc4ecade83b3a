import { ancestorsOf, edgesOf, type Edges } from '../graph';
import type { Rule } from '../lint';
import { errorAt } from '../problem';

/** The actions make a graph without cycles, in which every action can run and every condition can be decided. */

const empty: Rule = (spec) =>
  Object.keys(spec.actions).length > 0
    ? []
    : [errorAt(['actions'], 'no-actions', 'the pipeline does nothing', 'add an action, such as one of type deploy')];

const cycles: Rule = (spec) => {
  const edges = edgesOf(spec);
  const reported = new Set<string>();
  return Object.keys(spec.actions).flatMap((name) => {
    if (reported.has(name) || !ancestorsOf(edges, name).has(name)) return [];
    const cycle = cycleThrough(edges, name);
    cycle.forEach((member) => reported.add(member));
    const message = `${[...cycle, name].join(' needs ')}: none of them can ever start`;
    return [errorAt(['actions', name, 'needs'], 'cycle', message, 'remove one of these needs or inputs')];
  });
};

/** A shortest way from an action through what it needs back to itself. */
function cycleThrough(edges: Edges, start: string): string[] {
  const ways: string[][] = [[start]];
  const seen = new Set<string>();
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    for (const next of edges.get(way.at(-1) ?? start) ?? []) {
      if (next === start) return way;
      if (!seen.has(next)) ways.push([...way, next]);
      seen.add(next);
    }
  }
  return [start];
}

/** `runIf: failure` waits for a failure of what it needs; without needs there is none to wait for. */
const unreachable: Rule = (spec) => {
  const edges = edgesOf(spec);
  return Object.entries(spec.actions).flatMap(([name, { runIf }]) => {
    if (runIf !== 'failure' || (edges.get(name)?.length ?? 0) > 0) return [];
    const message = `${name} runs when something that it needs fails, but it needs nothing`;
    return [
      errorAt(['actions', name, 'runIf'], 'unreachable-action', message, 'name in needs what it should wait for'),
    ];
  });
};

/** A condition about an action can be decided only after that action. */
const undecided: Rule = (spec) => {
  const edges = edgesOf(spec);
  return Object.entries(spec.actions).flatMap(([name, { when }]) =>
    when.flatMap((clause, index) => {
      if (!('action' in clause) || !Object.hasOwn(spec.actions, clause.action)) return [];
      if (ancestorsOf(edges, name).has(clause.action)) return [];
      const message = `${clause.action} may not have ended when ${name} is decided`;
      return [
        errorAt(
          ['actions', name, 'when', index],
          'undecided-condition',
          message,
          `add ${clause.action} to the needs of ${name}`,
        ),
      ];
    }),
  );
};

export const graphRules: readonly Rule[] = [empty, cycles, unreachable, undecided];
