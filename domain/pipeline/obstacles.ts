import { FREE_MUTEX, type Mutex } from '../mutex';
import { whyFrozen } from './freeze';
import { byPlace, placeIn, getReleasePlace } from './place';
import type { PipelineState, ReadyAction } from './state';
import { isUndeploy } from './undeploy';

/** The reason why a ready action does not begin, and its end if that is known. */
export interface Obstacle {
  readonly by: 'freeze' | 'hold' | 'window' | 'calendar' | 'order' | 'deploy' | 'group' | 'pick' | 'offers';
  readonly why: string;
  readonly untilMs?: number;
}

/** @param reserved exclusion groups that older releases wait for. */
export function obstacleTo(
  state: PipelineState,
  ready: ReadyAction,
  nowMs: number,
  reserved: ReadonlyMap<string, number>,
): Obstacle | undefined {
  const { kind = 'deploy', rollback, emergency } = ready;
  if (kind === 'pick') return { by: 'pick', why: 'waiting for a person' };
  const frozen = rollback ? undefined : whyFrozen(state);
  if (frozen) return { by: 'freeze', ...frozen };
  if (kind === 'exclusive') return group(state, ready, reserved);
  if (ready.later) return { by: ready.later.untilMs === undefined ? 'offers' : 'window', ...ready.later };
  if (state.held && !rollback && !emergency && !isUndeploy(state, ready.release))
    return { by: 'hold', why: `the pipeline is held by ${state.held.actor}: ${state.held.reason}` };
  return (
    calendar(state, ready, nowMs) ??
    order(state, ready) ??
    findDeployObstacle(state, ready) ??
    group(state, ready, reserved)
  );
}

/** Deploys whose opening has to be looked up. */
export const listUnscheduledDeploys = (state: PipelineState): ReadyAction[] =>
  state.ready.filter((ready) => waitsForCalendar(state, ready) && ready.opensAtMs === undefined);

/** The calendar gates the first deploy of a release; later ones belong to the same rollout. */
function waitsForCalendar(state: PipelineState, { release, rollback, emergency, kind }: ReadyAction): boolean {
  const { spec, active } = state;
  const { mode, gates } = spec.schedule;
  if (mode !== 'calendar' || gates !== 'deploys' || rollback || emergency) return false;
  if (isUndeploy(state, release)) return false;
  const asking = active.find(({ number }) => number === release);
  return (kind ?? 'deploy') === 'deploy' && asking?.deploying !== true && asking?.followOn === undefined;
}

function calendar(state: PipelineState, ready: ReadyAction, nowMs: number): Obstacle | undefined {
  if (!waitsForCalendar(state, ready)) return undefined;
  const { opensAtMs } = ready;
  if (opensAtMs === undefined) return { by: 'calendar', why: 'the calendar is being looked up' };
  if (opensAtMs === null) return { by: 'calendar', why: 'the calendar never opens' };
  return opensAtMs <= nowMs
    ? undefined
    : { by: 'calendar', why: `waiting for the calendar (${state.spec.schedule.calendar ?? ''})`, untilMs: opensAtMs };
}

/** With `supersede: never`: the older release that may still begin the same action. The others wait until it has begun or ended. */
function order(state: PipelineState, { release, action, rollback, emergency }: ReadyAction): Obstacle | undefined {
  if (isUndeploy(state, release)) return undefined;
  if (rollback || emergency || state.spec.releases.supersede !== 'never') return undefined;
  const begunBy = state.newestBegun[action] ?? 0;
  const isFollowOn = ({ followOn }: PipelineState['active'][number]): boolean => followOn !== undefined;
  if (state.active.some((asking) => asking.number === release && isFollowOn(asking))) return undefined;
  const place = placeIn(state, release);
  const isBefore = (other: PipelineState['active'][number]): boolean =>
    getReleasePlace(other) > begunBy &&
    getReleasePlace(other) < place &&
    other.trigger.kind !== 'emergency' &&
    !isFollowOn(other);
  const [first] = state.active.filter(isBefore).sort(byPlace);
  return first && { by: 'order', why: `release ${first.number} comes first` };
}

function findDeployObstacle({ deploys, active }: PipelineState, { release }: ReadyAction): Obstacle | undefined {
  const other = otherHolder(deploys, release);
  if (other === undefined) return undefined;
  const makesWay = active.some(({ number, overtakenBy }) => String(number) === other && overtakenBy !== undefined);
  return { by: 'deploy', why: `release ${other} deploys${makesWay ? ' and was asked to make way' : ''}` };
}

function group(
  { mutexes }: PipelineState,
  { release, action, mutex = [] }: ReadyAction,
  reserved: ReadonlyMap<string, number>,
): Obstacle | undefined {
  for (const name of mutex) {
    const other = otherHolder(mutexes[name] ?? FREE_MUTEX, release);
    if (other !== undefined) return { by: 'group', why: `release ${other} holds ${name}` };
    // It asks again, just before it begins.
    if (mutexes[name]?.holder?.requesters.includes(`${release}/${action}`)) continue;
    const older = reserved.get(name);
    if (older !== undefined && older !== release)
      return { by: 'group', why: `release ${older} comes first for ${name}` };
  }
  return undefined;
}

const otherHolder = ({ holder }: Mutex, release: number): string | undefined =>
  holder === null || holder.owner === String(release) ? undefined : holder.owner;
