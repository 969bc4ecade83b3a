import { compare, valid } from 'semver';

/** Semantic versions, compared by npm's own library (decision 45). */
export const SEMANTIC_ORDER = { isVersion: (text: string): boolean => valid(text) !== null, compare };
