import type { PushTypeProtocol, ResponseOf } from '../../../sdk';
import type { UnitUpdate } from '../../../sdk/updates';
import { countDecision, type DecisionCounts } from './countHosts';
import type { RolloutDecision } from './decisions';
import type { SlowrollFleet, UnitPlace } from './slowrollFleet';

/** Where updates stand, and when they end. */

export type ProgressRow = ResponseOf<PushTypeProtocol['trackUpdates']>['units'][number];

/** The share of the hosts of an update, from 0 to below 1, that may fail without ending it. */
export type FailureShare = (packageName: string) => number;

export function trackDecision(fleet: SlowrollFleet, place: UnitPlace, decision: RolloutDecision): ProgressRow {
  const update = fleet.state.updates[decision.update]?.units[place.unit];
  const counts = countDecision(fleet, place, decision);
  if (update === undefined) throw new Error(`${decision.update} does not concern ${place.unit}`);
  if (decision.removes) return trackRemoval(decision, update, counts, explainState(fleet, place, update, counts));
  const isRevert = decision.undoes.length > 0;
  const targeted = isRevert ? Math.max(decision.targeted, counts.members) : decision.targeted;
  const live = Math.min(targeted, Math.max(0, counts.live - decision.already));
  const failed = Math.min(counts.failed, targeted - live);
  return {
    ...{ id: place.unit, state: nameProgress(update, counts), targeted, updated: live + failed, live, failed },
    unreachable: Math.min(counts.unreachable, targeted - live - failed),
    gone: 0,
    ...explainState(fleet, place, update, counts),
  };
}

/** A removal that is done stays so when the unit is back. */
function trackRemoval(
  { targeted, unit }: RolloutDecision,
  update: UnitUpdate,
  counts: DecisionCounts,
  explained: { readonly reason?: string },
): ProgressRow {
  const gone = update.state === 'done' ? targeted : Math.min(targeted, counts.gone);
  const isLeft = update.state === 'active' && gone < targeted;
  const reasons = [
    ...(isLeft ? [`${targeted - gone} hosts still have the package`] : []),
    ...(explained.reason === undefined ? [] : [explained.reason]),
  ];
  return {
    ...{ id: unit, state: nameProgress(update, counts), targeted, updated: 0, live: 0, failed: 0, gone },
    unreachable: Math.min(counts.unreachable, targeted - gone),
    ...(reasons.length > 0 && { reason: reasons.join('; ') }),
  };
}

/** An update is never done while this process does not know what its hosts run. */
function nameProgress({ state }: UnitUpdate, counts: DecisionCounts): ProgressRow['state'] {
  const hasBegun = counts.live + counts.failed + counts.flying + counts.troubled + counts.gone > 0;
  if (state === 'active') return hasBegun ? 'updating' : 'pending';
  if (state === 'ended') return counts.flying > 0 ? 'updating' : 'failed';
  return state === 'done' && counts.unknown > 0 ? 'updating' : state;
}

function explainState(
  fleet: SlowrollFleet,
  place: UnitPlace,
  { reason, state }: UnitUpdate,
  counts: DecisionCounts,
): { reason?: string } {
  if (reason !== undefined) return { reason };
  const { unknown, troubled, silent } = counts;
  const parts = [
    ...(unknown > 0 ? [`unknown: ${unknown} hosts have not polled since the server started`] : []),
    ...(troubled > 0 ? [explainTroubled(fleet, place, counts)] : []),
    ...(silent > 0 && state === 'active' ? [nameSilent(fleet, counts)] : []),
  ];
  return parts.length === 0 ? {} : { reason: parts.join('; ') };
}

/** `silent: shop-1, shop-2, shop-3, shop-4, shop-5 and 7 more` */
function nameSilent({ hosts }: SlowrollFleet, { silent, silentFirst }: DecisionCounts): string {
  const more = silent - silentFirst.length;
  const names = silentFirst.map((index) => hosts.table.nameHost(index)).join(', ');
  return `silent: ${names}${more > 0 ? ` and ${more} more` : ''}`;
}

/** `in trouble, and tried again: 3 (disk-full 2, network 1), such as shop-1 since 2026-11-30T12:00:00.000Z: no space` */
function explainTroubled(
  { hosts, troubles }: SlowrollFleet,
  { packageName }: UnitPlace,
  { troubled, causes, sample }: DecisionCounts,
): string {
  const trouble = troubles.find(packageName, sample, hosts.readRecords(packageName));
  const all = Object.entries(causes).map(([cause, count]) => `${cause} ${count}`);
  const since = new Date(trouble?.since ?? 0).toISOString();
  const reason = trouble?.reason ?? trouble?.cause ?? 'other';
  const name = hosts.table.nameHost(sample);
  return `in trouble, and tried again: ${troubled} (${all.join(', ')}), such as ${name} since ${since}: ${reason}`;
}

/**
 * Ends the updates that have nothing left to do, and those of which too many hosts failed.
 * @returns whether any is still under way
 */
export function settleUpdates(fleet: SlowrollFleet, share: FailureShare): boolean {
  let [isOpen, isChanged] = [false, false];
  for (const [unit, decisions] of Object.entries(fleet.state.decisions ?? {})) {
    const place = fleet.units.get(unit);
    if (place === undefined) continue;
    for (const decision of decisions) {
      const update = fleet.state.updates[decision.update]?.units[unit];
      if (update?.state !== 'active') continue;
      const end = judgeEnd(fleet, place, decision, share(place.packageName));
      if (end === undefined) isOpen = true;
      else {
        Object.assign(update, end);
        isChanged = true;
      }
    }
  }
  if (isChanged) {
    fleet.touch();
    fleet.memory.save();
  }
  return isOpen;
}

function judgeEnd(
  fleet: SlowrollFleet,
  place: UnitPlace,
  decision: RolloutDecision,
  share: number,
): Pick<UnitUpdate, 'state' | 'reason'> | undefined {
  const { failed, pending, flying, troubled, unknown, unreachable } = countDecision(fleet, place, decision);
  if (failed > Math.floor(share * decision.targeted)) {
    const reason = fleet.findReason(decision) ?? `${decision.version} did not come up on ${failed} hosts`;
    return { state: 'failed', reason };
  }
  if (pending + flying + troubled + unknown > 0 || (decision.removes && unreachable > 0)) return undefined;
  return { state: 'done' };
}
