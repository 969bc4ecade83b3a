import { STATE_LIMITS } from '../limits';
import type { DeployEndRecord, ReleaseResult } from '../release/state';
import { cutText, firstWithin } from '../size';
import { withdraw } from './admission';
import { recordDeploy, recordRelease, listUnrecorded } from './recordOutcome';
import type { PipelineState } from './state';

/** The end of a release that its pipeline still records as running. */
export type ReleaseEnd =
  /** The release reported its end, but the report was lost. */
  | { readonly kind: 'told'; readonly result: ReleaseResult }
  /** The release was ended from outside, and cannot report. */
  | {
      readonly kind: 'gone';
      readonly number: number;
      readonly endedAt: string;
      /** Its ended deploys, in order. */
      readonly deploys: readonly DeployEndRecord[];
      /**
       * The work that it left behind and that continues, in words: deploys, and runs that no service has stopped yet.
       */
      readonly open: readonly string[];
    };

/**
 * The records after the end of a release that cannot report it. It keeps its locks until all work that it began is over: one of its deploys
 * may revert for hours, and then its artifact is known-bad.
 */
export function reconcile(state: PipelineState, end: ReleaseEnd, nowMs: number): PipelineState {
  if (end.kind === 'told') return recordRelease(state, end.result, nowMs);
  const { number, endedAt, deploys } = end;
  const release = state.active.find((each) => each.number === number);
  if (release === undefined) return state;
  const booked = listUnrecorded(release, end).reduce(
    (next, deploy) => withdraw(recordDeploy(next, number, deploy, nowMs), { release: number, action: deploy.action }),
    state,
  );
  if (end.open.length > 0) return keepUses(state, markReleaseGone(booked, end));
  const result = { number, state: 'failed', cause: null, artifacts: release.artifacts, deploys, endedAt } as const;
  return keepUses(state, recordRelease(booked, result, nowMs));
}

/** It has told no other pipeline that its version has replaced those that used their offers. The next release tells them. */
function keepUses({ uses: before }: PipelineState, after: PipelineState): PipelineState {
  if (before === undefined) return after;
  const all = Object.entries(before).map(
    ([action, pipelines]) => [action, [...new Set([...pipelines, ...(after.uses?.[action] ?? [])])]] as const,
  );
  return { ...after, uses: { ...after.uses, ...Object.fromEntries(all) } };
}

/** It waits for nothing any more, but the work that it began is not over. */
const markReleaseGone = (state: PipelineState, { number, endedAt, open }: Extract<ReleaseEnd, { kind: 'gone' }>) => ({
  ...state,
  ready: state.ready.filter(({ release }) => release !== number),
  active: state.active.map((release) =>
    release.number === number ? { ...release, gone: { endedAt, open: openWithin(open) } } : release,
  ),
});

/** The first entries, in words, followed by the number of further ones. */
function openWithin(open: readonly string[]): readonly string[] {
  const kept = firstWithin(
    open.map((one) => cutText(one, STATE_LIMITS.open.max / 2)),
    STATE_LIMITS.open.max,
  );
  const more = open.length - kept.length;
  return more > 0 ? [...kept, `and ${more} more`] : kept;
}
