import { z } from 'zod';
import { whyNotAdvisory, type Advisory } from '../domain/advisory';
import { conveyorError } from '../../../domain/errors';
import { isJsonObject } from '../../../domain/json';
import { BUG_LIMITS } from '../../../domain/limits';
import { cutText, jsonBytes } from '../../../domain/size';
import { SEMANTIC_ORDER } from '../../../sdk/versions';

const nameText = z.string().trim().min(1).max(256);
const versionText = z.string().trim().min(1).max(128);

const affectedSchema = z.object({
  package: z.object(
    { ecosystem: nameText, name: nameText, purl: nameText.optional() },
    { error: 'it names no package, such as one that is a repository alone, and SBOMs list packages' },
  ),
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
});

const { max: MOST_UNHELD } = BUG_LIMITS.unheld;

/**
 * A record in the OSV format, reduced to the affected versions. It is refused if it names no affected version, has been
 * withdrawn, or is too large to store.
 */
export const advisorySchema = z
  .object({
    id: z.string().trim().min(1).max(BUG_LIMITS.revision.max),
    withdrawn: z.string().optional().describe('an advisory that has been withdrawn is refused'),
    affected: z.array(affectedSchema),
    unheld: z
      .array(z.string().max(BUG_LIMITS.path.max))
      .max(MOST_UNHELD + 1)
      .optional()
      .describe('packages of the record that cannot be compared with SBOMs, and why'),
  })
  .superRefine((advisory, context) => {
    const why = whyNotKept(advisory);
    if (why !== undefined) context.addIssue({ code: 'custom', message: why });
  })
  .describe('a record in the OSV format, such as those of https://osv.dev; its other fields are ignored');

/** A record as published: packages that can be compared with SBOMs are kept, and `unheld` names the others. */
export const publishedAdvisory = z.preprocess(withoutUnheld, advisorySchema);

/** If no package can be compared, all stay, so that the first is refused. */
function withoutUnheld(record: unknown): unknown {
  if (!isJsonObject(record) || !Array.isArray(record['affected'])) return record;
  const all = (record['affected'] as readonly unknown[]).map((one, at) => ({ one, why: whyUnheld(one, at) }));
  const held = all.flatMap(({ one, why }) => (why === undefined ? [one] : []));
  const unheld = all.flatMap(({ why }) => (why === undefined ? [] : [cutText(why, BUG_LIMITS.path.max)]));
  if (held.length === 0 || unheld.length === 0) return record;
  const more = unheld.length - MOST_UNHELD;
  return {
    ...record,
    affected: held,
    unheld: [...unheld.slice(0, MOST_UNHELD), ...(more > 0 ? [`and ${more} more`] : [])],
  };
}

function whyUnheld(one: unknown, at: number): string | undefined {
  const parsed = affectedSchema.safeParse(one);
  if (parsed.success)
    return whyNotAdvisory({ id: '', affected: [parsed.data] }, SEMANTIC_ORDER)?.replace('.0', `.${at}`);
  const [issue] = parsed.error.issues;
  return `affected.${[at, ...(issue?.path ?? [])].join('.')}: ${issue?.message ?? ''}`;
}

/** An advisory from the text of a file. @throws ConveyorError `advisory-invalid` */
export function parseAdvisory(json: string, file: string): Advisory {
  const parsed = publishedAdvisory.safeParse(parseAdvisoryJson(json, file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw conveyorError('advisory-invalid', { file, why: `${path === '' ? '' : `${path}: `}${issue?.message ?? ''}` });
}

function parseAdvisoryJson(json: string, file: string): unknown {
  if (json.length > MAX_RECORD)
    throw conveyorError('advisory-invalid', { file, why: 'it is larger than any advisory' });
  try {
    return JSON.parse(json.replace(/^\uFEFF/, '')) as unknown;
  } catch {
    throw conveyorError('advisory-invalid', { file, why: 'it is not JSON' });
  }
}

/** Records with all their fields take a few kB. */
const MAX_RECORD = 1_048_576;

function whyNotKept(advisory: Advisory & { readonly withdrawn?: string | undefined }): string | undefined {
  if (advisory.withdrawn !== undefined) return `${advisory.id} was withdrawn at ${advisory.withdrawn}`;
  const { max } = BUG_LIMITS.advisory;
  const bytes = jsonBytes(advisory);
  if (bytes > max)
    return `its affected versions take ${bytes} bytes; the limit is ${max}: leave out packages that are not used here`;
  return whyNotAdvisory(advisory, SEMANTIC_ORDER);
}
