import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { workflowIds } from '../../domain/ids';
import { DAY_MS } from '../../domain/milliseconds';
import { HOUR, type VirtualWorld } from '../workflows/world';
import type { Commit } from './commits';
import { PEOPLE } from './inputs';
import { behaviourOf, type Inhabitant } from './population';

/** Plays some weeks of pipelines that share a world; resolves to when they were over, ms since the epoch. */
export async function play(world: VirtualWorld, inhabitants: readonly Inhabitant[], weeks: number): Promise<Lived> {
  const startMs = await untilMonday(world);
  const lives = inhabitants.map((inhabitant) => new Life(world, inhabitant));
  for (const life of lives) await life.begin();
  const happenings = lives.flatMap((life) => life.inhabitant.commits.map((commit) => ({ life, commit })));
  happenings.sort((a, b) => a.commit.atMs - b.commit.atMs);
  const endMs = weeks * 7 * DAY_MS;
  for (let hourMs = 0; hourMs <= endMs; hourMs += PEOPLE.looksEveryHours * HOUR) {
    while ((happenings[0]?.commit.atMs ?? Infinity) < hourMs) {
      const { life, commit } = happenings.shift() ?? never();
      await sleepUntil(world, startMs + commit.atMs);
      await life.comes(commit);
    }
    for (const life of lives.filter((each) => each.isWatched(hourMs))) {
      await sleepUntil(world, startMs + hourMs);
      await life.tend(hourMs);
    }
  }
  await sleepUntil(world, startMs + endMs);
  return { startMs, endMs: startMs + endMs, open: await closeAll(world, lives) };
}

export interface Lived {
  readonly startMs: number;
  readonly endMs: number;
  /** Releases that had not ended days after they were cancelled. */
  readonly open: readonly string[];
}

const never = (): never => {
  throw new Error('there was one');
};

/** A Monday, at midnight. */
async function untilMonday(world: VirtualWorld): Promise<number> {
  const now = await world.now();
  // The epoch began on a Thursday.
  const sinceMonday = (now + 3 * DAY_MS) % (7 * DAY_MS);
  await world.sleep(7 * DAY_MS - sinceMonday);
  return now + 7 * DAY_MS - sinceMonday;
}

async function sleepUntil(world: VirtualWorld, atMs: number): Promise<void> {
  const restMs = atMs - (await world.now());
  if (restMs > 0) await world.sleep(restMs);
}

/** So that no workflow is left behind; what they come to lies after the weeks that are counted. */
async function closeAll(world: VirtualWorld, lives: readonly Life[]): Promise<string[]> {
  for (const life of lives) await life.cancelAll();
  for (let waited = 0; waited < CLOSING_DAYS * 8; waited += 1) {
    const open = (await Promise.all(lives.map((life) => life.active()))).flat();
    if (open.length === 0) return [];
    await world.sleep(3 * HOUR);
    for (const life of lives) await life.tend(Infinity);
  }
  return (await Promise.all(lives.map((life) => life.active()))).flat();
}

/** A deploy that is going back takes as long as its updates. */
const CLOSING_DAYS = 10;

/** One pipeline, and the people who look after it. */
class Life {
  /** By release number. */
  private readonly commits = new Map<number, Commit>();
  /** Releases that a person will find to be bad only when all is done. */
  private readonly unseen = new Set<number>();
  /** Until when, after the beginning, the fleet may still be as an unhealthy version left it. */
  private unhealthyUntilMs = 0;
  private readonly cleared = new Set<string>();

  constructor(
    private readonly world: VirtualWorld,
    readonly inhabitant: Inhabitant,
  ) {}

  async begin(): Promise<void> {
    const { jobs, source, settings } = this.inhabitant;
    for (const { name, region, tasks, more } of jobs) await this.world.job(name, region, tasks, more);
    await this.world.apply(source, settings);
  }

  async comes(commit: Commit): Promise<void> {
    const { version, fate, takes, fails, atMs } = commit;
    if (fate === 'bad' || fate === 'harmless') {
      await this.world.describeVersion(version, behaviourOf(commit));
      this.unhealthyUntilMs = atMs + UNHEALTHY_DAYS * DAY_MS;
    }
    const times = Object.fromEntries(Object.entries(takes).map(([action, ms]) => [action, String(ms)]));
    const source = { name: 'source', kind: 'source', version, metadata: { ...times, fails: fails.join(',') } };
    const { number } = await this.world.submit(this.inhabitant.name, [source]);
    if (number === null) return;
    this.commits.set(number, commit);
    if (fate === 'unseen') this.unseen.add(number);
  }

  /** Whether a person has a reason to look in this hour. */
  isWatched(hourMs: number): boolean {
    const isPickTime = this.inhabitant.cadence === 'manual-pick' && isAtPickTime(hourMs);
    return isPickTime || this.unseen.size > 0 || hourMs < this.unhealthyUntilMs;
  }

  async tend(hourMs: number): Promise<void> {
    if (this.inhabitant.cadence === 'manual-pick' && isAtPickTime(hourMs)) await this.pick();
    for (const number of await this.numbersActive()) await this.help(number).catch(refused);
    for (const number of this.unseen) await this.regret(number).catch(refused);
  }

  active(): Promise<string[]> {
    return this.numbersActive().then((numbers) => numbers.map((number) => `${this.inhabitant.name}/${number}`));
  }

  async cancelAll(): Promise<void> {
    for (const number of await this.numbersActive())
      await this.world.command(workflowIds.release(this.inhabitant.name, number), 'cancel').catch(refused);
  }

  private async numbersActive(): Promise<readonly number[]> {
    return (await this.world.pipelineStatus(this.inhabitant.name)).active;
  }

  /** The newest release that waits for it. */
  private async pick(): Promise<void> {
    for (const number of [...(await this.numbersActive())].sort((a, b) => b - a)) {
      const input = { action: 'pick', approve: true, reason: 'it is ten' };
      if (await this.world.pick(this.inhabitant.name, number, input).catch(refused)) return;
    }
  }

  /** Takes back what is bad, and lets pass what is not. */
  private async help(number: number): Promise<void> {
    const { world, inhabitant } = this;
    const { paused, endedAt } = await world.deployStatus(inhabitant.name, number);
    if (!paused || endedAt !== null) return;
    const id = workflowIds.deploy(inhabitant.name, number, 'deploy', 1);
    const commit = this.commits.get(number);
    if (paused.by === 'health' && commit?.fate === 'bad') return void (await world.command(id, 'revert'));
    if (commit?.fate === 'harmless' && !this.cleared.has(commit.version)) {
      // The cause is over; the next look finds it healthy.
      this.cleared.add(commit.version);
      return void (await world.describeVersion(commit.version, {}));
    }
    await world.command(id, 'resume');
  }

  private async regret(number: number): Promise<void> {
    const { world, inhabitant } = this;
    const { state, endedAt } = await world.releaseStatus(inhabitant.name, number);
    if (endedAt === null) return;
    const sinceMs = (await world.now()) - Date.parse(endedAt);
    if (state === 'succeeded' && sinceMs < PEOPLE.rollsBackAfterHours * HOUR) return;
    this.unseen.delete(number);
    if (state !== 'succeeded') return;
    await world.rollBack(inhabitant.name, number, { actor: 'user:alice', reason: 'customers complain' });
  }
}

const UNHEALTHY_DAYS = 3;

const isAtPickTime = (hourMs: number): boolean =>
  (hourMs % DAY_MS) / HOUR === PEOPLE.picksAtHour && (hourMs / DAY_MS) % 7 < 5;

/** Commands that are impossible now are no failure of the story; anything else is a defect. */
function refused(error: unknown): undefined {
  if (error instanceof WorkflowUpdateFailedError || error instanceof WorkflowNotFoundError) return undefined;
  throw error;
}
