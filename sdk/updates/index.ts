/** Shared by push types that keep their fleet by tasks: which of them an update means, its commands, and a memory that outlives crashes. */
export { deployOf, pendingSlots, progressOf, reservedSlots, slotsOf, unfinished, unitOf } from './choose';
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
export { healthTasks, startName } from './tasks';
export { acceptUpdate, commandUpdate, updateCommands, type LockHeld, type Updatable, type Verb } from './updates';
