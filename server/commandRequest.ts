import { z } from 'zod';
import { NAME } from '../domain/ids';
import {
  ALL_VERBS,
  INPUTS,
  inputRow,
  verbRow,
  type CommandInput,
  type InputKind,
  type InputName,
} from '../domain/verbs';

/** The schema of each kind of input in a request. */
const COMMAND_KINDS: Readonly<Record<InputKind, () => z.ZodType>> = {
  flag: () => z.boolean(),
  choice: () => z.boolean(),
  text: () => z.string().min(1),
  name: () => z.string().regex(NAME),
  version: () => z.string().regex(/^[^@]+@.+$/, { error: 'expected name@version' }),
  moment: () => z.iso.datetime({ offset: true, local: false }),
};

function buildInputSchema(name: InputName): z.ZodType {
  const { is, help } = inputRow(name);
  const verbs = ALL_VERBS.filter((verb) => verbRow(verb).inputs.includes(name));
  const value = typeof is === 'string' ? COMMAND_KINDS[is]() : z.enum(is);
  return value.optional().describe(`${verbs.join(', ')}: ${help}`);
}

type RequestFields = { readonly [N in InputName]: z.ZodOptional<z.ZodType<NonNullable<CommandInput[N]>>> };

/** The actor is the principal of the token; the other fields follow the rows of domain/verbs.ts. */
export const commandRequest = z.strictObject({
  reason: z.string().trim().min(1).optional().describe('why; it is recorded. Every verb needs one'),
  ...(Object.fromEntries(
    (Object.keys(INPUTS) as InputName[]).map((name) => [name, buildInputSchema(name)]),
  ) as RequestFields),
});
