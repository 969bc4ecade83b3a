import type { FinderView } from '../../domain/views';
import type { DoctorCheck } from './check';

export function finderChecks(finders: readonly FinderView[]): DoctorCheck[] {
  const name = 'finders';
  if (finders.length === 0) return [];
  const failing = finders.filter((finder) => finder.state === 'failing' && !isWorkerLost(finder));
  const unasked = finders.filter((finder) => finder.state === 'unasked' || isWorkerLost(finder));
  if (failing.length + unasked.length === 0)
    return [{ name, state: 'ok', found: `${finders.length}, none failing`, how: null }];
  const words = ({ since, reason }: FinderView): string => `${since === null ? '' : `since ${since}: `}${reason ?? ''}`;
  return [
    ...failing.map((finder): DoctorCheck => ({
      ...{ name: `finder ${finder.id}`, state: 'missing', found: words(finder) },
      how: 'start its service, or correct its address in conveyor.config.yaml; nothing is lost meanwhile',
    })),
    // The finder is not at fault.
    ...unasked.map((finder): DoctorCheck => ({
      ...{ name: `finder ${finder.id}`, state: 'warning', found: words(finder) },
      how: 'see the check of workers: they should ask it; nothing is lost meanwhile',
    })),
  ];
}

/** The worker heartbeats while it waits for the finder, so a missing heartbeat is the worker's fault. */
const isWorkerLost = ({ state, reason }: FinderView): boolean =>
  state === 'failing' && /\bheartbeat timeout\b/i.test(reason ?? '');
