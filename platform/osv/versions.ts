import { compare, valid } from 'semver';
import type { VersionOrder } from '../../domain/bugs/advisory';

/** Semantic versions, compared by npm's own library (decision 45). */
export const SEMANTIC_ORDER: VersionOrder = { isVersion: (text) => valid(text) !== null, compare };
