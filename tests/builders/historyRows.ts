import type { HistoryRow, Trigger } from '../../domain/views';

type Deploy = HistoryRow['deploys'][number];

const MANUAL: Trigger = { kind: 'manual', actor: 'user:alice', key: null };

/** An ended release of `kvstore`, an hour after the previous one; its state follows from its deploys. */
export function pastRelease(number: number, deploys: readonly Deploy[], trigger: Partial<Trigger> = {}): HistoryRow {
  return {
    id: `kvstore/${number}`,
    kind: 'release',
    pipeline: 'kvstore',
    number,
    state: deploys.every(({ outcome }) => outcome === 'succeeded') ? 'succeeded' : 'failed',
    cause: null,
    trigger: { ...MANUAL, ...trigger },
    startedAt: new Date(number * 3_600_000).toISOString(),
    endedAt: new Date((number + 0.5) * 3_600_000).toISOString(),
    artifacts: [],
    durationMs: 1_800_000,
    deploys,
  };
}

/** A successful deploy. */
export const through = (version: string, more: Partial<Deploy> = {}): Deploy => ({
  action: 'deploy',
  outcome: 'succeeded',
  classification: 'success',
  version,
  ...more,
});

export const revertedBy = (by: string, version: string, more: Partial<Deploy> = {}): Deploy =>
  through(version, { outcome: 'reverted', classification: 'good-failure', reverted: { by, bad: true }, ...more });

export const letPass = (...checks: readonly string[]): Pick<Deploy, 'overridden'> => ({
  overridden: checks.map((check) => ({ check, actor: 'user:ana', reason: 'noise', at: '2026-11-23T17:00:00.000Z' })),
});
