import type { Override } from '../../../configerator/store/port';
import { isAimedAt, type Host } from '../../../configerator/domain/overrides';
import { configChecker, placeName } from './checker';

interface SettledMemory {
  /** Paths in the order in which they first appeared, so that a cell keeps its number. */
  readonly places: Map<string, number>;
  readonly exposed: Map<string, readonly Override[]>;
  /** The newest commit of each path. */
  readonly newest: Map<string, number>;
  /** By cell: its path and the commit that it has. */
  readonly placeOf: (number | null)[];
  readonly sequenceOf: (number | null)[];
  readonly overridden: Map<number, { readonly as: Host; readonly place: string; readonly revision: string }>;
  /** Cells of absent hosts. */
  readonly absent: Set<number>;
}

/** 18: once all faults are over and nothing is new, no host has an override that has ended, and every host has the newest commit. */
export const settledChecker = configChecker<SettledMemory>({
  name: 'config-settled',
  invariant: 18,
  fresh: () => ({
    ...{ places: new Map(), exposed: new Map(), newest: new Map() },
    ...{ placeOf: [], sequenceOf: [], overridden: new Map(), absent: new Set() },
  }),
  see: (event, memory) => {
    switch (event.kind) {
      case 'committed':
        for (const { path } of event.commit.values)
          memory.newest.set(placeName(event.repository, path), event.commit.sequence);
        return null;
      case 'exposed':
        memory.exposed.set(placeName(event.repository, event.path), event.overrides);
        return null;
      case 'seen': {
        const place = placeName(event.repository, event.answer.path);
        const { cell, as, answer } = event;
        if (!memory.places.has(place)) memory.places.set(place, memory.places.size);
        memory.placeOf[cell] = memory.places.get(place) ?? 0;
        memory.sequenceOf[cell] = answer.sequence;
        if (answer.override === null) memory.overridden.delete(cell);
        else memory.overridden.set(cell, { as, place, revision: answer.override });
        return null;
      }
      case 'left':
        event.cells.forEach((cell) => memory.absent.add(cell));
        return null;
      case 'began':
        for (const cell of event.cells) {
          memory.sequenceOf[cell] = 0;
          memory.overridden.delete(cell);
          memory.absent.delete(cell);
        }
        return null;
      case 'returned':
        event.cells.forEach((cell) => memory.absent.delete(cell));
        return null;
      case 'settled':
        return findKeptOverride(memory) ?? findMissedCommit(memory);
    }
  },
});

function findKeptOverride({ overridden, exposed, absent }: SettledMemory): string | null {
  for (const [cell, { as, place, revision }] of overridden) {
    const isMeant = exposed.get(place)?.some((one) => one.revision === revision && isAimedAt(one, as)) ?? false;
    if (!isMeant && !absent.has(cell)) return `${as.name} still has ${place} of ${revision}, which has ended`;
  }
  return null;
}

function findMissedCommit({ places, newest, placeOf, sequenceOf, absent }: SettledMemory): string | null {
  const wanted = [...places.keys()].map((place) => ({ place, sequence: newest.get(place) ?? 0 }));
  for (const [cell, index] of placeOf.entries()) {
    const at = typeof index === 'number' ? wanted[index] : undefined;
    if (at === undefined || absent.has(cell) || (sequenceOf[cell] ?? 0) >= at.sequence) continue;
    return `a host has ${at.place} of commit ${sequenceOf[cell] ?? 0}, though ${at.sequence} has reached all`;
  }
  return null;
}
