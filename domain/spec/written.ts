import { z } from 'zod';
import { SPEC_LIMITS } from '../limits';
import { action, ACTION_TYPES, pipelineSchema } from './pipeline';
import { VALUE_OF_MATRIX } from './expressible';
import { listOf, name, text } from './scalars';

/** The pipeline file as people write it: some of its actions come from templates and matrices, which `expandActions` resolves. */

const paramName = z.string().regex(/^[a-z][A-Za-z0-9-]{0,62}$/, {
  error: 'expected letters, digits and hyphens, at most 63, beginning with a lower-case letter',
});

type Field = Exclude<KeysOf<z.input<typeof action>>, 'type'>;
type KeysOf<T> = T extends unknown ? keyof T : never;

/** For all types of action. Parameters are filled in before these are checked. */
const uncheckedFields = Object.fromEntries(
  action.options
    .flatMap(({ shape }) => Object.keys(shape))
    .filter((key) => key !== 'type')
    .map((key) => [key, z.unknown().optional()]),
) as Record<Field, z.ZodOptional<z.ZodUnknown>>;

const type = z.enum(ACTION_TYPES);

export const templatesSchema = z.record(name, z.unknown()).meta({ maxProperties: SPEC_LIMITS.templates.max });

/** A parameter without a default has to be given. */
export const templateSchema = z.strictObject({
  params: z.record(paramName, z.unknown()).meta({ maxProperties: SPEC_LIMITS.params.max }).default({}),
  action: z.strictObject({ type, ...uncheckedFields }),
});

const axisValue = z.union([z.number().int(), text()], {
  error: 'expected a text or a number, which becomes a part of a name',
});

const matrix = z
  .record(paramName, listOf(axisValue.meta(VALUE_OF_MATRIX), SPEC_LIMITS.axisValues).min(1))
  .meta({ maxProperties: SPEC_LIMITS.axes.max });

const exclude = listOf(z.record(paramName, axisValue).meta({ minProperties: 1 }), SPEC_LIMITS.excludes).optional();

/** One action for each combination of the parameters' values. */
export const matrixAction = z.strictObject({ type, matrix, exclude, ...uncheckedFields });

/** An action from a template, with fields of its own that override it. */
export const templateAction = z
  .strictObject({
    uses: name,
    params: z.record(paramName, z.unknown()).default({}),
    matrix: matrix.optional(),
    exclude,
    ...uncheckedFields,
  })
  .refine(({ matrix: of, exclude: left }) => of !== undefined || left === undefined, {
    error: 'exclude leaves out combinations of a matrix, and there is none',
    path: ['exclude'],
  })
  .meta({ dependencies: { exclude: ['matrix'] } });

/** For editors and the compiler; the file itself is checked piece by piece. */
export const writtenPipeline = pipelineSchema.extend({
  templates: z.record(name, templateSchema).meta({ maxProperties: SPEC_LIMITS.templates.max }).default({}),
  actions: z
    .record(name, z.union([action, templateAction, matrixAction]))
    .meta({ minProperties: 1, maxProperties: SPEC_LIMITS.actions.max }),
});

/** A pipeline as an argument of `definePipeline`. */
export type WrittenPipeline = z.input<typeof writtenPipeline>;

/**
 * For pipelines written in TypeScript: `export const pipeline = definePipeline({ … })`, or as the default export; checked by the compiler and by the
 * same schema.
 */
export const definePipeline = (source: WrittenPipeline): WrittenPipeline => source;
