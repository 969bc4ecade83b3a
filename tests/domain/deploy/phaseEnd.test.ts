import { explainEmptyCanary } from '../../../domain/deploy/canary';
import { computeTotals } from '../../../domain/deploy/counts';
import { newDeploy, type DeployRecord } from '../../../domain/deploy/state';
import { whyNoneMet } from '../../../domain/deploy/unavailable';
import type { CommandRecord } from '../../../domain/verbs';
import type { PhaseView, UnitCounts } from '../../../domain/views';

const counts = (targeted: number, live = 0): UnitCounts => ({ id: 'kvstore-x', targeted, updated: live, live });

describe('a phase that is over', () => {
  test.each<[string, UnitCounts[], boolean, string | null]>([
    ['succeeded when one task met the version', [counts(6), counts(6, 1)], false, null],
    ['succeeded when there was nothing to do', [counts(0)], false, null],
    ['succeeded when nothing was sent', [], false, null],
    ['is skipped when all its tasks are gone', [counts(12)], false, 'its tasks are gone'],
    ['is skipped when all its units are left out', [counts(12, 3)], true, 'its units are unavailable'],
  ])('%s', (_, units, isAway, why) => expect(whyNoneMet(computeTotals({ units }), isAway)).toBe(why));
});

describe('a canary', () => {
  const unit = { id: 'kvstore-x', labels: {}, size: 6, version: 'kv:1', mixed: false, available: true };
  const fleetOf = (units: readonly (typeof unit)[]) =>
    ({ snapshot: { units }, units: units.length }) as unknown as DeployRecord['fleet'];
  const record = (units: UnitCounts[], more: Partial<DeployRecord> = {}): DeployRecord => ({
    ...newDeploy(0),
    fleet: fleetOf([unit]),
    phases: [{ units } as unknown as PhaseView],
    ...more,
  });
  const skip = { verb: 'skip-phase', accepted: true } as unknown as CommandRecord;
  const NONE = 'no task was left for the canary';

  test.each<[string, DeployRecord, string | null]>([
    ['that had a task has shown something', record([counts(2, 1)]), null],
    ['that a person skipped has shown what they wanted', record([], { commands: [skip] }), null],
    ['without units has shown nothing', record([], { fleet: fleetOf([]) }), `${NONE}: there are no units`],
    [
      'of what runs everywhere has shown nothing',
      record([], { fleet: fleetOf([{ ...unit, version: 'kv:2' }]) }),
      `${NONE}: all of kvstore-x already run kv:2`,
    ],
    ['whose tasks are gone has shown nothing', record([counts(2)]), `${NONE}: those of kvstore-x are gone`],
    [
      'whose tasks others have has shown nothing',
      record([counts(0)]),
      `${NONE}: those of kvstore-x already run kv:2 or belong to other canaries`,
    ],
  ])('%s', (_, seen, why) => expect(explainEmptyCanary(seen, { version: 'kv:2' })).toBe(why));
});
