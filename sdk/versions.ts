import { compare, satisfies, valid } from 'semver';

/** Semantic versions, compared by npm's own library (decision 45). */
export const SEMANTIC_ORDER = { isVersion: (text: string): boolean => valid(text) !== null, compare };

/** Whether a version is in a range such as `^2`, as for packages of npm. */
export const isInRange = (version: string, range: string): boolean => satisfies(version, range);
