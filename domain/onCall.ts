import { NAME } from './ids';
import { DAY_MS } from './milliseconds';
import { PRINCIPAL } from './principals';

/** The release of a paused deploy waits for that long at most before it pages. */
export const LONGEST_PAGE_WAIT_MS = DAY_MS;

/** A person, a group, a receiver of the settings, or the URL of a schedule; the variable of a URL may begin it. */
export const WHO_IS_PAGED =
  /^((user|group):[A-Za-z0-9._@-]+|[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?|https?:\/\/\S+|\$\{\w+\}([/?]\S*)?)$/;

/** The reading of `page`. */
export type PageTarget =
  | { readonly kind: 'principal'; readonly principal: string }
  | { readonly kind: 'receiver'; readonly name: string }
  | { readonly kind: 'schedule'; readonly url: string };

export function readPageTarget(page: string): PageTarget {
  if (PRINCIPAL.test(page)) return { kind: 'principal', principal: page };
  return NAME.test(page) ? { kind: 'receiver', name: page } : { kind: 'schedule', url: page };
}

/** The answer of a schedule, `{ "onCall": "user:alice" }`: a person, a group or a receiver; undefined for anything else. */
export function readScheduleAnswer(text: string | undefined): Exclude<PageTarget, { kind: 'schedule' }> | undefined {
  const said = parseObject(text ?? '')?.['onCall'];
  if (typeof said !== 'string' || said.length > LONGEST_PAGED_NAME) return undefined;
  const target = readPageTarget(said);
  return target.kind === 'schedule' ? undefined : target;
}

const LONGEST_PAGED_NAME = 200;

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
