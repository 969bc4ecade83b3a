import { servePushType } from '../../sdk';

/** A push type for two hosts that change their version at once; each host is a unit with one task. */
const hosts = new Map([
  ['web-1', 'web:1'],
  ['web-2', 'web:1'],
]);
const updates = new Map<string, string[]>(); // update id → the hosts that it changed

export const hostsPushType = servePushType('hosts', {
  validateConfig: () => ({ problems: [] }),
  fetchDeployUnits: () => ({
    service: 'web',
    units: [...hosts].map(([id, version]) => ({ id, labels: {}, size: 1, version, mixed: false, available: true })),
  }),
  needsPush: ({ targets }) => ({
    units: targets.map(({ unit, version }) => ({ id: unit, size: 1, outdated: hosts.get(unit) === version ? 0 : 1 })),
  }),
  executeUpdates: ({ updateId, targets }) => {
    // A revert names the updates that it undoes: only their hosts are meant.
    const meant = targets.filter(
      ({ unit, updatedBy }) => updatedBy?.some((id) => updates.get(id)?.includes(unit)) ?? true,
    );
    if (!updates.has(updateId)) for (const { unit, version } of meant) hosts.set(unit, version); // once, however often asked
    updates.set(
      updateId,
      meant.map(({ unit }) => unit),
    );
    return { accepted: targets.map(({ unit }) => unit) };
  },
  trackUpdates: ({ updateId }) => ({
    units: (updates.get(updateId) ?? []).map((id) => ({
      ...{ id, state: 'done' as const, targeted: 1, updated: 1, live: 1 },
      ...{ failed: 0, unreachable: 0, gone: 0 },
    })),
  }),
  pauseUpdates: () => ({}),
  resumeUpdates: () => ({}),
  cancelUpdates: () => ({}),
  runHealthChecks: () => ({ units: [], deploy: { checks: [] } }), // judgeTargets of sdk/ does it, given a data source
});
