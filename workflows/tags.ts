import { upsertSearchAttributes } from '@temporalio/workflow';
import type { SearchAttributePair } from '@temporalio/common';
import { SEARCH_ATTRIBUTES } from '../domain/searchAttributes';

/** Search attributes to set; null removes one (docs/design/workflows.md#in-the-web-ui). */
export type Tags = {
  readonly [K in keyof typeof SEARCH_ATTRIBUTES]?:
    ((typeof SEARCH_ATTRIBUTES)[K] extends 'KEYWORD_LIST' ? readonly string[] : string) | null;
};

/** SQL stores keep 255 characters of a keyword. */
const MAX_KEYWORD = 255;

/** The attributes in the form that a start takes. */
export function tagPairs(tags: Tags): SearchAttributePair[] {
  return Object.entries(tags)
    .filter(([, value]) => value !== null)
    .map(
      ([name, value]) =>
        ({
          key: { name, type: SEARCH_ATTRIBUTES[name as keyof Tags] },
          value: cutKeyword(value),
        }) as SearchAttributePair,
    );
}

/** Sets several at once: each call is one event in the history. */
export function retag(tags: Tags): void {
  upsertSearchAttributes(
    Object.entries(tags).map(
      ([name, value]) =>
        ({
          key: { name, type: SEARCH_ATTRIBUTES[name as keyof Tags] },
          value: value === null ? null : cutKeyword(value),
        }) as SearchAttributePair,
    ),
  );
}

const cutKeyword = (value: unknown): unknown => (typeof value === 'string' ? value.slice(0, MAX_KEYWORD) : value);
