import type { AnyConfigChecker } from './checker';
import { exposureChecker } from './exposure';
import { neverBackChecker } from './neverBack';
import { orderChecker } from './order';
import { settledChecker } from './settled';

/** The invariants of ARCHITECTURE.md#invariants that the distribution of configuration can see. */
export const CONFIG_CHECKERS: readonly AnyConfigChecker[] = [
  orderChecker,
  exposureChecker,
  settledChecker,
  neverBackChecker,
];
