import { formatTime, withReason } from '../text';
import { releaseState, type ReleaseInput, type ReleaseRecord, type ReleaseResult } from './state';

/** The answer of a release that has ended to its pipeline. */
export function releaseResult(record: ReleaseRecord, input: ReleaseInput, nowMs: number): ReleaseResult {
  const state = releaseState(record, input.spec);
  const outputs = Object.values(record.actions).flatMap((action) => action.outputs);
  return {
    number: input.number,
    state: state === 'succeeded' || state === 'failed' ? state : 'cancelled',
    cause: record.cause,
    ...(record.causedBy === undefined ? {} : { causedBy: record.causedBy }),
    artifacts: [...input.artifacts, ...outputs],
    deploys: record.deploys,
    endedAt: formatTime(nowMs),
  };
}

/** How it ended, and the cause, in one sentence. */
export function endReason({ actions, cause }: Pick<ReleaseRecord, 'actions' | 'cause'>): string {
  const blamed = Object.entries(actions).find(([, { state }]) => state === 'failed' || state === 'cancelled');
  if (blamed === undefined) return 'every action succeeded';
  const [name, { state, message }] = blamed;
  return withReason(`${name} ${state}${cause === null ? '' : ` (${cause})`}`, message ?? '');
}
