import { z } from 'zod';
import type { PipelineDocument } from '../pipeline/document';
import { isSpec } from '../pipeline/shapes';
import { lintPipeline } from './lint';
import type { PipelineSpec } from './pipeline';
import { formatPath } from './problem';
import { name } from './scalars';

/** The required content of an imported file. Rows of the history are for people, and are imported unchanged. */
const artifact = z.looseObject({
  ...{ name: z.string().min(1), kind: z.string(), version: z.string().min(1) },
  metadata: z.record(z.string(), z.unknown()).default({}),
});
const held = z.looseObject({ actor: z.string(), at: z.string(), reason: z.string() }).nullable();
const number = z.number().int().positive();
const snapshotFields = z.union([
  z.looseObject({ units: z.array(z.looseObject({ id: z.string() })) }),
  z.looseObject({ at: z.string(), pages: number }),
]);
const inheritance = z.looseObject({
  left: z.array(z.string()),
  before: snapshotFields,
  settled: z.array(z.string()).optional(),
});
const byName = <T extends z.ZodType>(value: T) => z.record(z.string(), value);

/** A spec in the stored form: durations are in ms, and defaults are filled in. */
export const specSchema = z.looseObject({
  pipeline: name,
  description: z.string(),
  owners: z.array(z.string()).min(1),
  labels: byName(z.string()),
  priority: z.enum(['low', 'normal', 'high', 'critical']),
  schedule: z.looseObject({ mode: z.string(), gates: z.string() }),
  releases: z.looseObject({ maxActive: number, supersede: z.string(), onRevert: z.string() }),
  artifacts: byName(z.looseObject({ finder: z.string() })),
  mutex: byName(z.looseObject({ scope: z.string() })),
  actions: byName(z.looseObject({ type: z.string() })),
  notify: z.array(z.looseObject({ url: z.string().optional(), to: z.string().optional() })),
});

/** A pipeline that can run, even with lint findings. */
export const keptSpec = specSchema.refine(isSpec, { error: 'not a spec as a pipeline keeps it' });

export const documentSchema = z
  .strictObject({
    kind: z.literal('conveyor.pipeline', { error: 'expected a file that conveyor pipeline export wrote' }),
    version: z.literal(1, { error: 'expected version 1; a later Conveyor wrote this file' }),
    exportedAt: z.string(),
    pipeline: name,
    spec: keptSpec,
    nextNumber: number,
    newestBegun: byName(z.number().int().nonnegative()),
    good: byName(
      z.array(
        z.looseObject({ release: z.number().int().nonnegative(), version: z.string(), artifacts: z.array(artifact) }),
      ),
    ),
    inherited: byName(inheritance),
    inheritedOmitted: byName(z.number()).optional(),
    knownBad: z.array(z.looseObject({ artifact: z.string(), at: z.string(), reason: z.string() })),
    badUnlisted: number.optional(),
    inputs: byName(artifact),
    followed: byName(z.array(z.string())),
    pushed: byName(z.number()).optional(),
    deployedAt: z.iso.datetime().optional(),
    offered: z.literal(true).optional(),
    uses: byName(z.array(z.string())).optional(),
    offers: z
      .strictObject({ made: z.array(z.string()), users: z.array(z.string()), more: z.number().int().nonnegative() })
      .optional(),
    late: z.array(z.looseObject({ artifact: z.string(), at: z.string(), behind: z.string() })),
    held,
    frozen: held,
    revertsInARow: z.number().int().nonnegative(),
    keys: z.array(z.tuple([z.string(), number])),
    history: z.array(z.looseObject({ number, state: z.string(), startedAt: z.string(), artifacts: z.array(artifact) })),
    commands: z.array(z.looseObject({ verb: z.string(), actor: z.string() })),
  })
  .refine((given) => given.pipeline === given.spec.pipeline, {
    path: ['spec', 'pipeline'],
    error: 'expected the name of the pipeline',
  })
  .refine((given) => given.history.every((row) => row.number < given.nextNumber), {
    path: ['nextNumber'],
    error: 'expected a number above those of the history',
  });

/** @returns the document, or the first mistake in it with its place. */
export function parsePipelineDocument(value: unknown): PipelineDocument | z.ZodError {
  const parsed = documentSchema.safeParse(value);
  return parsed.success ? (parsed.data as unknown as PipelineDocument) : parsed.error;
}

/**
 * The lint findings about the spec of a document. It is imported anyway: rules that are newer than the export must not prevent the
 * recovery of a lost pipeline, but the file may have been edited.
 */
export const lintImportedSpec = ({ spec }: Pick<PipelineDocument, 'spec'>): string[] =>
  specProblems(spec) ?? ['the spec is not one that conveyor pipeline export wrote; conveyor apply replaces it'];

/** The lint errors in a stored spec; undefined if it is not a spec. This takes long for a spec that exceeds its limits. */
export function specProblems(spec: PipelineSpec): string[] | undefined {
  try {
    const errors = lintPipeline(spec).filter(({ severity }) => severity === 'error');
    return errors.map(({ path, message, hint }) => `${formatPath(path)}: ${message}; ${hint}`);
  } catch {
    return undefined;
  }
}
