/** Shared by push types that track their fleet by tasks: the tasks that an update means, its commands, and a memory that survives crashes. */
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
