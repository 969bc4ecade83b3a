import { finishUpdates, pendingSlots, unfinished, unitOf, type Slot } from '../../sdk/updates';
import { listPodPlaces, type KubeState } from './memory';

/** The end of a round: updates that are done, and whether another round is needed. Decisions about the memory, without effects. */

/** An update of a whole unit is done once new pods start on its version, too; `late` is why they do not yet. */
export function finishRound(
  state: KubeState,
  name: string,
  { late, isAway }: { readonly late?: string | undefined; readonly isAway: boolean },
): void {
  const move = state.moves?.[name];
  const update = move && state.updates[move.update]?.units[name];
  if (update?.state === 'active' && !isAway) {
    if (late !== undefined) update.reason = late;
    return;
  }
  for (const id of unfinished(state, name)) {
    const part = state.updates[id]?.units[name];
    if (part?.state === 'active') bringPodsLater(state, name, { id, version: part.version });
  }
  finishUpdates(state, name);
}

/** An unreachable pod gets the version when its node, or its cluster, answers again. */
function bringPodsLater(
  state: KubeState,
  name: string,
  { id, version }: { readonly id: string; readonly version: string },
): void {
  const places = listPodPlaces(state, name);
  for (const index of pendingSlots(state, name, id)) {
    const [slot, place] = [unitOf(state, name).slots[index], places[index]];
    if (slot?.isUnreachable && place) place.again = { version, update: id };
  }
}

/** The pods of a cluster that is away get their version when it is back: they hold up no deploy. */
export function markUnitAway(state: KubeState, name: string): void {
  for (const slot of unitOf(state, name).slots)
    if (!slot.gone) Object.assign(slot, { state: 'down', isUnreachable: true } satisfies Partial<Slot>);
  finishRound(state, name, { isAway: true });
}

/** Whether a unit has work left. */
export function isUnitOpen(state: KubeState, name: string): boolean {
  const active = unfinished(state, name).some((id) => state.updates[id]?.units[name]?.state === 'active');
  const isChanging = unitOf(state, name).slots.some(({ state: it }) => it === 'updating');
  const places = listPodPlaces(state, name);
  return (
    active || isChanging || places.some(({ change, again }) => change ?? again) || state.moves?.[name] !== undefined
  );
}
