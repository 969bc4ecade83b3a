import type { FleetLook, LookRequest } from '../../activities/fetchAgain';
import type { ImpossiblePlan, PlanRequest } from '../../activities/fleet';
import { describeKeptUnits } from '../../domain/deploy/keptUnitsText';
import { describeUnlisted, type UnlistedUnits } from '../../domain/deploy/unlistedUnits';
import type { Ending } from '../../domain/deploy/outcome';
import { SHOWN_UNITS } from '../../domain/fleet/limits';
import { toPart } from '../../domain/deploy/snapshot';
import { change, leavesToOthers, withPlan, type Fleet } from '../../domain/deploy/state';
import { withoutThem } from '../../domain/deploy/unavailable';
import { plural } from '../../domain/text';
import { callUntilAnswered, type PushCall } from './calls';
import { checkLockstep } from './lockstep';
import { callOrPause } from './refusals';
import type { HealthWatcher } from './needs';
import { heedUnavailable } from './unavailable';

/**
 * Validates the configuration with the push type, and learns the service that the units belong to. @returns the ending if the deploy cannot continue.
 */
export async function introduce(run: HealthWatcher): Promise<Ending | undefined> {
  if (run.record.service !== null) return undefined;
  const { pushType } = run.input.spec;
  const valid = await callUntilAnswered(run, 'validateConfig', (push) =>
    push.validateConfig(run.call, run.input.artifacts, run.input.restores),
  );
  if ('refused' in valid) return { kind: 'failed', reason: valid.refused, fault: 'conveyor' };
  const { problems, service, unsigned } = valid.value;
  if (unsigned !== undefined) return { kind: 'failed', reason: unsigned, fault: 'change' };
  if (problems.length === 0) return void run.patch({ service });
  const text = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return { kind: 'failed', reason: `${pushType} does not accept the configuration: ${text}`, fault: 'change' };
}

/**
 * Reads the units, records the version that each runs, and plans. Nothing has been updated yet, so a deploy that cannot work ends
 * here.
 * @returns the ending if the deploy cannot continue.
 */
export async function prepare(run: HealthWatcher): Promise<Ending | undefined> {
  while (run.record.plan === null || run.record.cursor < 0) {
    run.enter('planning');
    const hopeless = (await checkLockstep(run)) ?? (await plan(run));
    if (hopeless !== 'again') return hopeless;
  }
  return undefined;
}

async function plan(run: HealthWatcher): Promise<Ending | 'again' | undefined> {
  const made = await callUntilAnswered(run, 'fetchDeployUnits', (push) =>
    push.planUnits(run.call, buildPlanRequest(run)),
  );
  if ('refused' in made) return { kind: 'failed', reason: made.refused, fault: 'conveyor' };
  if ('impossible' in made.value) return buildImpossibleEnding(run, made.value);
  const { plan: planned, fleet, unavailable, signed, kept, unlisted } = made.value;
  if (signed !== undefined) run.note('signatures', signed);
  run.set((record, now) => change(withPlan(record, planned, fleet), now, kept ? { keptUnits: kept } : {}));
  if (kept) run.note('units-kept', describeKeptUnits(kept));
  noteUnlisted(run, unlisted);
  const names = planned.phases.map(({ name }) => name).join(', ');
  run.note('planned', `${plural(planned.phases.length, 'phase')} over ${plural(fleet.units, 'unit')}: ${names}`);
  const again = await heedUnavailable(run, unavailable, fleet.units);
  if (again) return again;
  const { skipped } = run.record;
  return run.input.followOn && skipped.length === fleet.units
    ? { kind: 'succeeded', reason: `nothing was updated, ${withoutThem(skipped)}` }
    : undefined;
}

/** If another pipeline has updated all units of a follow-on, it has nothing left to do. */
const buildImpossibleEnding = ({ input }: HealthWatcher, { impossible, isKept }: ImpossiblePlan): Ending =>
  isKept && input.followOn
    ? { kind: 'succeeded', reason: impossible }
    : { kind: 'failed', reason: impossible, fault: 'change' };

/** Reads the units again, because the completion must reach all that exist now. */
export async function fetchAgain(run: HealthWatcher): Promise<void> {
  const { fleet } = run.record;
  while (fleet !== null) {
    const look = buildLookRequest(run);
    const fetched = await callOrPause(run, 'fetchDeployUnits', (push) =>
      push.fetchAgain(run.call, fleet.snapshot, look),
    );
    const { now, units, unavailable, marks } = fetched;
    // A longer list has one unit of each phase at its front; the last phase reaches all units.
    const most = Math.max(SHOWN_UNITS, fleet.withoutPast.length);
    const withoutPast = [...fleet.withoutPast, ...fetched.withoutPast].slice(0, most);
    const { marks: _, ...planned } = fleet;
    run.patch({ fleet: { ...planned, now, withoutPast, ...(marks === undefined ? {} : { marks }) } });
    noteUnlisted(run, fetched.unlisted);
    if (!(await heedUnavailable(run, unavailable, units))) return;
  }
}

/** The note has no effect on the deploy: it is for people, now and in the outcome. */
function noteUnlisted(run: HealthWatcher, unlisted: UnlistedUnits | undefined): void {
  if (unlisted) run.note('units-unlisted', describeUnlisted(unlisted, run.input.version));
  if (unlisted ?? run.record.unlisted) run.patch({ unlisted: unlisted ?? null });
}

/**
 * Finds the version that each unit runs now. A canary goes back to that, not to the version before it, since a deploy may have continued or
 * reverted meanwhile.
 * @returns whether the result differs from the last look.
 */
export async function lookAtPresent(run: HealthWatcher, how: HowToLook = {}): Promise<boolean> {
  const { fleet } = run.record;
  if (fleet === null) return false;
  return keepLook(run, fleet, await callOrPause(run, 'fetchDeployUnits', askForPresent(run, fleet, how)));
}

/** As `lookAtPresent`, but a refusal is returned, and is for the caller to bear. */
export async function tryToLookAtPresent(run: HealthWatcher): Promise<{ readonly refused?: string }> {
  const { fleet } = run.record;
  if (fleet === null) return {};
  const answer = await callUntilAnswered(run, 'fetchDeployUnits', askForPresent(run, fleet, {}));
  if ('refused' in answer) return answer;
  keepLook(run, fleet, answer.value);
  return {};
}

interface HowToLook {
  /** For a revert, which waits for no answer. */
  readonly atOnce?: true;
}

function askForPresent(run: HealthWatcher, { snapshot }: Fleet, how: HowToLook): PushCall<FleetLook> {
  const parts = run.record.plan?.phases.map((phase) => toPart(phase)) ?? [];
  const look = { ...buildLookRequest(run), parts, asNow: true as const, ...how };
  return (push) => push.fetchAgain(run.call, snapshot, look);
}

function keepLook(run: HealthWatcher, fleet: Fleet, { now, withoutPast, moved }: FleetLook): boolean {
  run.patch({ fleet: { ...fleet, snapshot: now, withoutPast } });
  return moved;
}

/** Another deploy of the units may have begun to revert since the last look. The canary then goes back to the versions that they run now. */
export const hasMovedSince = async (run: HealthWatcher): Promise<boolean> =>
  run.input.canary !== undefined && (await lookAtPresent(run));

export function buildPlanRequest(run: HealthWatcher): PlanRequest {
  const { spec, artifacts, emergency, canary, approvals } = run.input;
  return {
    ...{ spec, artifacts, kind: pickKind(run.input) },
    ...(canary ? { canary } : {}),
    ...(approvals ? { approvals } : {}),
    skipBake: emergency?.skipBake ?? false,
    ...buildLookRequest(run),
  };
}

function pickKind({ followOn, rollback, removal }: HealthWatcher['input']): PlanRequest['kind'] {
  if (removal) return 'removal';
  if (followOn) return 'follow-on';
  return rollback ? 'rollback' : 'deploy';
}

const buildLookRequest = ({ input, record }: HealthWatcher): LookRequest => ({
  ...(input.spec.allowEmpty ? { allowEmpty: true } : {}),
  ...(input.followOn ? { only: input.followOn.units } : {}),
  ...(record.since && leavesToOthers(input) ? { since: record.since } : {}),
  ...(input.inherited ? { inherited: input.inherited } : {}),
  ...(input.restores ? { restores: input.restores } : {}),
  rules: { lastGood: input.lastGood, deployed: input.version },
});
