import type { RequestOf } from '../protocol/common';
import type { PushTypeProtocol, Target } from '../protocol/pushType';
import { busyWith, isOfAll, slotsOf, unitOf, withReverts } from './choose';
import type { Memory, State as Remembered, UnitUpdate } from './memory';
import { bringBack } from './removals';
import { passFence, refusal, refuseUnknown, refuseUpdate, supersede, type LockHeld } from './turns';

/** The state that updates change, and whether a version exists. */
export interface Updatable {
  readonly state: Remembered;
  readonly copies: {
    hasVersion(version: string): boolean;
    /** Whether the version makes a difference to a slot; left out if it always does. */
    isConcerned?(unit: string, index: number, version: string): boolean;
    /** The order in which slots of the same cost are taken, lowest first; left out if it is that of their indexes. */
    rank?(unit: string, index: number, version: string): number;
  };
}

/** The command of `pauseUpdates`, `resumeUpdates` or `cancelUpdates`. */
export type Verb = 'pause' | 'resume' | 'cancel';

/**
 * Accepts an update: decides and remembers which slots it means; the caller changes them afterwards, as listed by `pendingSlots`. All or nothing:
 * every error is found before the first unit is begun. A known update begins nothing again. `held` may be left out if fences are checked elsewhere.
 *
 * @throws ExtensionError 400: `invalid-request`; 404: `unknown-unit`, `unknown-version`; 409: `unit-busy`, `cancelled`, `fenced`
 */
export function acceptUpdate(
  fleet: Updatable,
  request: RequestOf<PushTypeProtocol['executeUpdates']>,
  held?: LockHeld,
): void {
  const { updateId, targets, wholeUnit, urgency } = request;
  const { updates } = fleet.state;
  if (updates[updateId]) return;
  refuseUpdate(
    fleet.state,
    updateId,
    targets.map(({ unit }) => unit),
  );
  for (const target of targets) refuseTarget(fleet, updateId, target);
  if (urgency !== 'revert') passFence(fleet.state, held);
  const all = (field: 'updatedBy' | 'exclude'): string[] => [...new Set(targets.flatMap((it) => it[field] ?? []))];
  const units = Object.fromEntries(targets.map((it) => [it.unit, accept(fleet, updateId, it, wholeUnit)]));
  updates[updateId] = { updatedBy: all('updatedBy'), exclude: all('exclude'), units };
}

/** Tasks in flight finish. An unknown update cannot be paused; one cancelled as a whole before it arrives will never begin. */
export function commandUpdate(
  fleet: Pick<Updatable, 'state'> & Partial<Updatable>,
  verb: Verb,
  { updateId, units }: RequestOf<PushTypeProtocol['pauseUpdates']>,
): void {
  const update = fleet.state.updates[updateId];
  if (!update && verb === 'cancel' && !units) fleet.state.cancelled.push(updateId);
  const { from, to } = COMMANDS[verb];
  for (const [name, unit] of Object.entries(update?.units ?? {})) {
    if (!from.includes(unit.state) || !(units?.includes(name) ?? true)) continue;
    unit.state = to;
    if (to === 'active') delete unit.reason;
    else unit.reason = `asked to ${verb}`;
  }
}

/** The three methods that only change whether an update may continue. */
export function updateCommands(memory: Memory) {
  const command =
    (verb: Verb) =>
    (request: RequestOf<PushTypeProtocol['pauseUpdates']>, { key }: { readonly key: string }) =>
      memory.once(verb, request, key, () => {
        commandUpdate(memory, verb, request);
        return {};
      });
  return { pauseUpdates: command('pause'), resumeUpdates: command('resume'), cancelUpdates: command('cancel') };
}

type State = UnitUpdate['state'];
const COMMANDS: Readonly<Record<Verb, { readonly from: readonly State[]; readonly to: State }>> = {
  pause: { from: ['active'], to: 'paused' },
  resume: { from: ['paused'], to: 'active' },
  cancel: { from: ['active', 'paused'], to: 'ended' },
};

/** An earlier update of the same deploy ends where it is. */
function accept({ state, copies }: Updatable, id: string, target: Target, wholeUnit: boolean): UnitUpdate {
  const unit = unitOf(state, target.unit);
  supersede(state, target.unit, id);
  const isBack = unit.removed !== undefined && isOfAll(target);
  if (isBack) bringBack(state, target.unit, id);
  const slots = slotsOf(
    state,
    target,
    (index) => copies.isConcerned?.(target.unit, index, target.version) ?? true,
    (index) => copies.rank?.(target.unit, index, target.version) ?? index,
  );
  // Slots already on their way to the version belong to this update from now on.
  for (const slot of slots.map((index) => unit.slots[index]))
    if (slot?.state === 'updating' && slot.version === target.version) slot.update = id;
  const undone = withReverts(state, target.updatedBy ?? []);
  if (wholeUnit || isBack || undone.has(unit.update ?? '')) [unit.version, unit.update] = [target.version, id];
  return { version: target.version, slots, state: 'active' };
}

function refuseTarget({ state, copies }: Updatable, id: string, target: Target): void {
  refuseUnknown(state, target.unit);
  if (!copies.hasVersion(target.version))
    throw refusal('unknown-version', `there is no version ${target.version}`, 404);
  const other = busyWith(state, id, target);
  if (other !== undefined) throw refusal('unit-busy', `${target.unit} is being updated by ${other}`);
}
