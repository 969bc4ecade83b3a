import { ancestors, dependencies, findInputSource, type Edges } from '../../release/graph';
import type { Rule } from '../rule';
import type { PipelineSpec } from '../pipeline';
import { errorAt } from '../problem';
import { ambiguous } from './artifacts';

/** The actions form a graph without cycles, in which every action can run and every condition can be decided. */
const noActions: Rule = (spec) =>
  Object.keys(spec.actions).length > 0
    ? []
    : [errorAt(['actions'], 'no-actions', 'the pipeline does nothing', 'add an action, such as one of type deploy')];

const cycles: Rule = (spec) => {
  const edges = withLateProducers(spec);
  const reported = new Set<string>();
  return Object.keys(spec.actions).flatMap((name) => {
    if (reported.has(name) || !ancestors(edges, name).has(name)) return [];
    const cycle = cycleThrough(edges, name);
    cycle.forEach((member) => reported.add(member));
    const message = `${[...cycle, name].join(' needs ')}: none of them can ever start`;
    return [errorAt(['actions', name, 'needs'], 'cycle', message, 'remove one of these needs or inputs')];
  });
};

/** A shortest path from an action through its needs back to itself. */
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

/** If only later actions produce an input, that is also a cycle, unless the release brings it. */
function withLateProducers({ actions, artifacts }: PipelineSpec): Edges {
  const late = (name: string, input: string): readonly string[] => {
    const source = findInputSource(actions, name, input);
    return source.kind === 'later' && !Object.hasOwn(artifacts, input) ? source.actions : [];
  };
  return new Map(
    [...dependencies(actions)].map(([name, needs]) => [
      name,
      [...needs, ...(actions[name]?.inputs ?? []).flatMap((input) => late(name, input))],
    ]),
  );
}

/**
 * `runIf: failure` waits for the failure of a need. Without needs there is nothing to wait for, and an action after it cannot
 * also require the success of the same actions.
 */
const unreachable: Rule = (spec) => {
  const edges = dependencies(spec.actions);
  const succeeded = mustSucceed(spec, edges);
  return Object.entries(spec.actions).flatMap(([name, { runIf }]) => {
    const needs = edges.get(name) ?? [];
    if (runIf === 'failure' && needs.length === 0) {
      const message = `${name} runs when something that it needs fails, but it needs nothing`;
      return [
        errorAt(['actions', name, 'runIf'], 'unreachable-action', message, 'name in needs what it should wait for'),
      ];
    }
    const before = succeeded(name);
    const never = [...before].find((other) => {
      const theirs = edges.get(other) ?? [];
      return spec.actions[other]?.runIf === 'failure' && theirs.length > 0 && theirs.every((need) => before.has(need));
    });
    if (never === undefined) return [];
    const failing = (edges.get(never) ?? []).join(' or ');
    const message = `${never} runs only when ${failing} fails, and ${name} needs all of them to succeed`;
    return [
      errorAt(['actions', name], 'unreachable-action', message, 'join: any continues when one of them succeeded'),
    ];
  });
};

/** The actions that must have succeeded before an action can run. */
function mustSucceed({ actions }: PipelineSpec, edges: Edges): (name: string) => ReadonlySet<string> {
  const visit = (name: string, found: Set<string>): Set<string> => {
    const action = actions[name];
    if (action?.runIf !== 'success' || action.join !== 'all') return found;
    for (const need of edges.get(name) ?? []) if (!found.has(need)) visit(need, found.add(need));
    return found;
  };
  return (name) => visit(name, new Set());
}

/**
 * A condition about an action, or about its outputs, can be decided only after that action, and the output must come
 * from a single one.
 */
const findUndecidedConditions: Rule = (spec) => {
  const edges = dependencies(spec.actions);
  return listClauses(spec).flatMap(({ name, clause, path }) => {
    const open = listAwaitedActions(spec, name, clause).filter((action) => !ancestors(edges, name).has(action));
    if (open.length > 0) {
      const message = `${open.join(' and ')} may not have ended when ${name} is decided`;
      return [errorAt(path, 'undecided-condition', message, `add ${open.join(' or ')} to the needs of ${name}`)];
    }
    const artifact = findProducedArtifact(spec, clause);
    return artifact === undefined ? [] : ambiguous(spec, name, artifact, path);
  });
};

/** A condition that contradicts the needs of the action. */
const impossible: Rule = (spec) => {
  const succeeded = mustSucceed(spec, dependencies(spec.actions));
  return listClauses(spec).flatMap(({ name, clause, path }) => {
    if (!('action' in clause) || clause.outcome === 'succeeded' || !succeeded(name).has(clause.action)) return [];
    const message = `${name} runs only after ${clause.action} succeeded, so this never holds`;
    const hint = 'let it run whatever came before: runIf: always';
    return [errorAt([...path, 'outcome'], 'unreachable-action', message, hint)];
  });
};

/** A deploy waits until no canary is left on its units, so it would wait for a canary that is kept until that deploy has ended. */
const findCanaryDeadlocks: Rule = (spec) => {
  const edges = dependencies(spec.actions);
  return Object.entries(spec.actions).flatMap(([name, action]) => {
    if (action.type !== 'canary' || action.with.keepUntil === undefined) return [];
    const { keepUntil, pushType } = action.with;
    const awaited = [keepUntil, ...ancestors(edges, keepUntil)].filter((each) => !ancestors(edges, name).has(each));
    const deploy = awaited.find((each) => {
      const candidate = spec.actions[each];
      return candidate?.type === 'deploy' && candidate.with.pushType === pushType;
    });
    if (deploy === undefined) return [];
    const message = `${name} is kept until ${keepUntil} ends, and ${deploy} waits until ${name} is gone`;
    const hint = `keep it until an action that ends before ${deploy} begins`;
    return [errorAt(['actions', name, 'with', 'keepUntil'], 'kept-by-deploy', message, hint)];
  });
};

/** A canary that is kept until the end of an earlier action is not kept at all. */
const findEndedKeepUntil: Rule = (spec) => {
  const edges = dependencies(spec.actions);
  return Object.entries(spec.actions).flatMap(([name, action]) => {
    const until = action.type === 'canary' ? action.with.keepUntil : undefined;
    if (until === undefined || (until !== name && !ancestors(edges, name).has(until))) return [];
    const message = `${name} is kept for nothing: ${until} has ended by then`;
    const hint = `name an action that comes after ${name}, or leave it out`;
    return [errorAt(['actions', name, 'with', 'keepUntil'], 'kept-in-vain', message, hint)];
  });
};

type Clause = PipelineSpec['actions'][string]['when'][number];

const listClauses = (spec: PipelineSpec) =>
  Object.entries(spec.actions).flatMap(([name, { when }]) =>
    when.map((clause, index) => ({ name, clause, path: ['actions', name, 'when', index] })),
  );

/**
 * The actions whose end a condition depends on: a named action, or the producers of an artifact that the release does
 * not bring.
 */
function listAwaitedActions(spec: PipelineSpec, name: string, clause: Clause): readonly string[] {
  const { actions } = spec;
  if ('action' in clause) return Object.hasOwn(actions, clause.action) ? [clause.action] : [];
  const artifact = findProducedArtifact(spec, clause);
  if (artifact === undefined) return [];
  const source = findInputSource(actions, name, artifact);
  return source.kind === 'outside' || source.kind === 'action' ? [] : source.actions;
}

/** The artifact of a condition if only actions produce it; one that the release brings always exists. */
function findProducedArtifact({ artifacts }: PipelineSpec, clause: Clause): string | undefined {
  if ('action' in clause) return undefined;
  const artifact = 'changed' in clause ? clause.changed : clause.artifact;
  return Object.hasOwn(artifacts, artifact) ? undefined : artifact;
}

export const graphRules: readonly Rule[] = [
  noActions,
  cycles,
  unreachable,
  findUndecidedConditions,
  impossible,
  findEndedKeepUntil,
  findCanaryDeadlocks,
];
