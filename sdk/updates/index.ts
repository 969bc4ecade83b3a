/** Shared by push types that track their fleet by tasks: the tasks that an update means, its commands, and a memory that survives crashes. */
export { countLacking, trackUpdate } from './answers';
export { deployOf, pendingSlots, progressOf, reservedSlots, slotsOf, unfinished, unitOf, withReverts } from './choose';
export {
  Memory,
  newSlot,
  type PastStart,
  type Slot,
  type State,
  type UnitState,
  type Update,
  type UnitUpdate,
} from './memory';
export { acceptRemoval, beginStops, endStops, isRemoval, describeUnit } from './removals';
export {
  beginChange,
  countRoom,
  countStart,
  endChange,
  finishUpdates,
  listOutOfService,
  nextChanges,
  type Change,
  type Pace,
} from './rounds';
export { healthTasks, startName } from './tasks';
export type { LockHeld } from './turns';
export { acceptUpdate, commandUpdate, updateCommands, type Updatable, type Verb } from './updates';
