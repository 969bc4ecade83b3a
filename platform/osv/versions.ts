import { compare, valid } from 'semver';
import type { VersionOrder } from '../../domain/bugs/advisory';

/** Semantic versions by the library that npm itself compares them with (decision 45). */
export const SEMANTIC_ORDER: VersionOrder = { isVersion: (text) => valid(text) !== null, compare };
