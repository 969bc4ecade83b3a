import { z } from 'zod';
import { MIB, type Protocol } from './common';
import { DEPENDENTS_RULES } from './contradictions/others';

/** The most built targets in one call (docs/reference/protocols.md#dependency-graph). */
export const MAX_BUILT_TARGETS = 1_000;
/** The longest chain of dependencies that a call may ask for. */
export const MAX_DEPTH = 100;

const targetName = z.string().min(1).max(256);
const revision = z.string().min(1).max(128);

/** A target as it was built, at a revision. */
const builtTargetSchema = z.object({ target: targetName, revision });
/** A built target in the request of `getDependents`, under `among` (docs/reference/protocols.md#getdependents). */
export type BuiltTarget = z.infer<typeof builtTargetSchema>;

/** An affected target of the request, and the chain by which the bug reaches it: itself first, the target with the bug last. */
const affectedTargetSchema = z.object({
  target: targetName,
  revision,
  depth: z.int().min(0).max(MAX_DEPTH),
  path: z
    .array(targetName)
    .min(1)
    .max(MAX_DEPTH + 1),
});
/** A row in the answer of `getDependents`: a built target that the bug reaches (docs/reference/protocols.md#getdependents). */
export type AffectedTarget = z.infer<typeof affectedTargetSchema>;

/**
 * The dependency graph protocol (docs/reference/protocols.md#dependency-graph; Conveyor §3.2): which of some built targets contain another target at
 * a revision from `revisions.from` until before `revisions.to`. The service knows the order of revisions and the graph at each of them. Conveyor asks
 * only about targets that it would deploy and never for all dependents, so no answer is larger than its question.
 */
export const dependencyGraphProtocol = {
  getDependents: {
    request: z.object({
      target: targetName,
      revisions: z.object({ from: revision, to: revision.optional() }),
      /** The longest chain of dependencies in between. */
      depth: z.int().min(1).max(MAX_DEPTH),
      among: z.array(builtTargetSchema).max(MAX_BUILT_TARGETS, {
        error: `one call is about at most ${MAX_BUILT_TARGETS} built targets`,
      }),
    }),
    response: z.object({ affected: z.array(affectedTargetSchema).max(MAX_BUILT_TARGETS) }),
    contradictions: DEPENDENTS_RULES,
    maxAnswerBytes: 8 * MIB,
    mutates: false,
  },
} as const satisfies Protocol;
/** The methods of a dependency graph (docs/reference/protocols.md#dependency-graph). */
export type DependencyGraphProtocol = typeof dependencyGraphProtocol;
