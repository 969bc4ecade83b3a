import type { z } from 'zod';

/** A value with its schema, as a program `*.config.ts` exports it. */
export interface ConfigDefinition {
  readonly kind: 'config';
  readonly schema: z.ZodType;
  readonly value: unknown;
}

/** Several values of one program: `{ eu: …, us: … }` of `feed/limits.config.ts` are `feed/limits.eu` and `feed/limits.us`. */
export interface ConfigDefinitions {
  readonly kind: 'configs';
  readonly configs: Readonly<Record<string, ConfigDefinition>>;
}

/** A rule for every value of a schema, as a file `*.validate.ts` exports it. */
export interface Invariant {
  readonly kind: 'invariant';
  readonly schema: z.ZodType;
  readonly holds: (value: unknown, about: { readonly path: string }) => unknown;
}

/** The value of a program, its default export. The output of the schema is distributed, as JSON. */
export function defineConfig<S extends z.ZodType>(schema: S, value: z.input<S>): ConfigDefinition {
  return { kind: 'config', schema, value };
}

/** Several values of one program, each with a name that follows that of the program. */
export function defineConfigs(configs: Readonly<Record<string, ConfigDefinition>>): ConfigDefinitions {
  return { kind: 'configs', configs };
}

/**
 * A rule for every value of a schema, by any author; its name is that of the export. It belongs in `NAME.validate.ts`
 * next to the `NAME.schema.ts` that exports the schema.
 * @param holds true, or a sentence that says why not
 */
export function invariant<S extends z.ZodType>(
  schema: S,
  holds: (value: z.output<S>, about: { readonly path: string }) => true | string,
): Invariant {
  return { kind: 'invariant', schema, holds: holds as Invariant['holds'] };
}
