import type { Artifact } from '../artifact';
import type { PipelineSpec } from '../spec/pipeline';

/** The DAG of a pipeline: `needs` plus the producer of each input (pipeline-spec.md "Graph"). */

type Actions = PipelineSpec['actions'];

/** The actions that must end before each action, by name. */
export function dependencies(actions: Actions): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.entries(actions).map(([name, action]) => {
      const producers = action.inputs.flatMap((input) => producerOf(actions, name, input) ?? []);
      return [name, [...new Set([...action.needs, ...producers])]];
    }),
  );
}

/**
 * Who produces an input of an action: its nearest ancestor that does, or the only action that does at all; undefined
 * when the artifact comes from outside the pipeline.
 */
function producerOf(actions: Actions, consumer: string, artifact: string): string | undefined {
  const producers = Object.keys(actions).filter(
    (name) => name !== consumer && actions[name]?.outputs.includes(artifact),
  );
  if (producers.length <= 1) return producers[0];
  const above = producers.filter((name) => ancestors(actions, consumer).has(name));
  return above.find((name) => !above.some((other) => other !== name && ancestors(actions, other).has(name)));
}

/** All actions that an action needs, directly or not. Terminates on cycles, which lint rejects. */
export function ancestors(actions: Actions, name: string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (current: string): void => {
    for (const need of actions[current]?.needs ?? []) {
      if (found.has(need)) continue;
      found.add(need);
      visit(need);
    }
  };
  visit(name);
  return found;
}

/** The value of each input of an action: what its producer made, else what the release was given. */
export function inputsOf(
  actions: Actions,
  name: string,
  given: readonly Artifact[],
  outputs: (action: string) => readonly Artifact[],
): Artifact[] {
  return (actions[name]?.inputs ?? []).flatMap((input) => {
    const producer = producerOf(actions, name, input);
    const values = producer === undefined ? given : outputs(producer);
    return values.filter((artifact) => artifact.name === input);
  });
}
