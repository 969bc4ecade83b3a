import { budgetChecker } from './budget';
import type { AnyChecker } from './checker';
import { endStateChecker } from './endState';
import { forwardMotionChecker } from './forwardMotion';
import { onceEachChecker } from './onceEach';
import { oneDeployChecker } from './oneDeploy';
import { reservedChecker } from './reserved';
import { revertScopeChecker } from './revertScope';
import { trafficChecker } from './traffic';
import { taskControlChecker } from './taskControl';

/** The invariants of ARCHITECTURE.md#invariants that a fleet can see. */
export const CHECKERS: readonly AnyChecker[] = [
  budgetChecker,
  forwardMotionChecker,
  oneDeployChecker,
  revertScopeChecker,
  reservedChecker,
  onceEachChecker,
  endStateChecker,
  taskControlChecker,
  trafficChecker,
];
