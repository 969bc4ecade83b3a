import type { ActionView } from '../domain/views';
import type { ListedRelease } from './models';

/** It waits for a pick or an approval of a person. */
export const waitsForPick = ({ pickBy, approval, state }: ActionView): boolean =>
  state === 'blocked' && (pickBy !== null || Boolean(approval));

/** The release, or one of its deploys, is paused by a person or for one. */
export const isPausedForPerson = ({ release: { paused, pausedDeploy, state } }: ListedRelease): boolean =>
  state === 'paused' || [paused, pausedDeploy].some((pause) => pause !== undefined && pause.by !== 'dependency');

/** It or its deploy is paused by a person or for one, or a person has to pick or approve. */
export const waitsForPerson = (row: ListedRelease): boolean =>
  isPausedForPerson(row) || (row.status?.actions ?? []).some(waitsForPick);
