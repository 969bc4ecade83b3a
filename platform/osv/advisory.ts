import { z } from 'zod';
import { whyNotAdvisory, type Advisory } from '../../domain/bugs/advisory';
import { conveyorError } from '../../domain/errors';
import { BUG_LIMITS } from '../../domain/limits';
import { jsonBytes } from '../../domain/size';
import { SEMANTIC_ORDER } from './versions';

const nameText = z.string().trim().min(1).max(256);
const versionText = z.string().trim().min(1).max(128);

/**
 * A record in the OSV format, of which is kept what says which versions are affected. Refused is one that says it of no version, has been
 * withdrawn, or is too large to be carried along.
 */
export const advisorySchema = z
  .object({
    id: z.string().trim().min(1).max(BUG_LIMITS.revision.max),
    withdrawn: z.string().optional().describe('an advisory that has been withdrawn is refused'),
    affected: z.array(
      z.object({
        package: z.object({ ecosystem: nameText, name: nameText, purl: nameText.optional() }),
        ranges: z
          .array(
            z.object({
              type: nameText,
              events: z.array(
                z.object({
                  introduced: versionText.optional(),
                  fixed: versionText.optional(),
                  last_affected: versionText.optional(),
                  limit: versionText.optional(),
                }),
              ),
            }),
          )
          .default([]),
        versions: z.array(versionText).default([]),
      }),
    ),
  })
  .superRefine((advisory, context) => {
    const why = whyNotKept(advisory);
    if (why !== undefined) context.addIssue({ code: 'custom', message: why });
  })
  .describe('a record in the OSV format, such as https://osv.dev has; other fields of it are let be');

/** An advisory from the text of a file. @throws ConveyorError `advisory-invalid` */
export function parseAdvisory(json: string, file: string): Advisory {
  const parsed = advisorySchema.safeParse(parsedJson(json, file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw conveyorError('advisory-invalid', { file, why: `${path === '' ? '' : `${path}: `}${issue?.message ?? ''}` });
}

function parsedJson(json: string, file: string): unknown {
  if (json.length > MAX_RECORD)
    throw conveyorError('advisory-invalid', { file, why: 'it is larger than any advisory' });
  try {
    return JSON.parse(json) as unknown;
  } catch {
    throw conveyorError('advisory-invalid', { file, why: 'it is not JSON' });
  }
}

/** Records with all that is said besides are a few kB. */
const MAX_RECORD = 1_048_576;

function whyNotKept(advisory: Advisory & { readonly withdrawn?: string | undefined }): string | undefined {
  if (advisory.withdrawn !== undefined) return `${advisory.id} was withdrawn at ${advisory.withdrawn}`;
  const { max } = BUG_LIMITS.advisory;
  const bytes = jsonBytes(advisory);
  if (bytes > max) return `what it affects has ${bytes} bytes; the limit is ${max}: leave out what nobody here uses`;
  return whyNotAdvisory(advisory, SEMANTIC_ORDER);
}
