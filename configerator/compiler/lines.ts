import { z } from 'zod';
import type { JobResult, Line } from './job';

/**
 * Output of a program may have gone through objects that it has changed, so it is used only if it has the right form.
 */

const isJsonLine = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const failure = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('threw'), why: z.string(), where: z.string().nullable() }),
  z.object({ kind: z.literal('import'), from: z.string(), specifier: z.string(), why: z.string() }),
  z.object({ kind: z.literal('varies'), name: z.string(), first: z.string(), second: z.string() }),
  z.object({ kind: z.literal('misfit'), name: z.string(), why: z.string() }),
]);
const json = z.string().refine(isJsonLine);
const exported = z.object({
  name: z.string().regex(/^[A-Za-z0-9_-]*$/),
  schema: z.object({ file: z.string(), name: z.string() }).nullable(),
  json,
});
const checked = z.union([
  z.object({ json }),
  z.object({ misfit: z.string() }),
  z.object({ invariant: z.string(), refused: z.string() }),
  z.object({ invariant: z.string(), threw: z.string() }),
]);
const wrong = z.object({ why: z.string(), of: z.enum(['text', 'value', 'schema']) }).nullable();

const result: z.ZodType<JobResult> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('parse'),
    outcome: z.array(z.union([z.object({ code: z.string() }), z.object({ why: z.string() })])),
  }),
  z.object({ kind: z.literal('program'), outcome: z.union([z.array(exported), failure]) }),
  z.object({ kind: z.literal('check'), outcome: z.union([z.array(checked), failure]) }),
  z.object({ kind: z.literal('raw'), outcome: z.array(wrong) }),
]);
const line: z.ZodType<Line> = z.union([
  z.object({ at: z.object({ path: z.string(), invariant: z.string().nullable() }) }),
  z.object({ result }),
]);

/** Undefined for a line that our process would not write for such a job. */
export function readLine(text: string, kind: JobResult['kind']): Line | undefined {
  if (!isJsonLine(text)) return undefined;
  const { data } = line.safeParse(JSON.parse(text));
  return data !== undefined && 'result' in data && data.result.kind !== kind ? undefined : data;
}
