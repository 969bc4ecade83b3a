import { z } from 'zod';
import { GUARANTEES, isGuarantee, REQUIRED, type Guarantee } from '../domain/isolation';

/**
 * Programs of configuration, which servers and workers run for their authors: `config.programs` of conveyor.config.yaml.
 */
export interface ProgramSettings {
  /** Guarantees that a machine may lack and still run them; none by default. */
  readonly allowMissing: readonly Guarantee[];
}

/** Names in a list, or in a text with commas, as in an environment variable. */
export const programsSchema = z
  .strictObject({
    allowMissing: z
      .union([z.array(z.string()), z.string().transform((text) => text.split(',').map((name) => name.trim()))])
      .transform((names) => names.filter((name) => name !== ''))
      .superRefine((names, context) => {
        const unknown = names.filter((name) => !isGuarantee(name));
        const message = `${unknown.join(', ')}: expected some of ${REQUIRED.join(', ')}`;
        if (unknown.length > 0) context.addIssue({ code: 'custom', message });
      })
      .transform((names) => names.filter(isGuarantee))
      .default([]),
  })
  .default({ allowMissing: [] });

/** The text that names all guarantees in a variable, for programs that only their author runs. */
export const ALL_MISSING = Object.keys(GUARANTEES).join(',');
