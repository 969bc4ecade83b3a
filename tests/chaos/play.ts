import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { workflowIds } from '../../domain/ids';
import type { PipelineState } from '../../domain/pipeline/state';
import type { CommandInput } from '../../domain/verbs';
import type { DeployStatus, ReleaseStatus } from '../../domain/views';
import { CALM } from '../workflows/flows';
import { executable, HOUR, MINUTE, type VirtualWorld } from '../workflows/world';
import { PATH, REPOSITORY } from './configuration';
import { HORIZON_MS } from './dice';
import { seeMoment, type AskedBack } from './judgeReverts';
import type { Happening, Scenario } from './scenario';

const DAY = 24 * HOUR;
/** How long a person may take to tidy up. */
const PATIENCE_MS = 72 * HOUR;
const LOOK_MS = 5 * MINUTE;
export const CANARY_ATTEMPTS = [1, 2];

/**
 * Plays a scenario from midnight on, until everything has ended; `log` gets every step and its result.
 * @returns each revert and rollback that a person asked for
 */
export async function play(
  world: VirtualWorld,
  scenario: Scenario,
  log: (line: string) => void,
): Promise<readonly AskedBack[]> {
  const story = new Story(world, scenario, log);
  await world.sleep(DAY - ((await world.now()) % DAY));
  await story.begin();
  for (const happening of scenario.happenings) await story.comes(happening);
  await story.tidyUp();
  await story.tend();
  return story.askedBack;
}

/** The deploy of a release, with the number of the release. */
export type Deploy = DeployStatus & { readonly release: number };

/** The deploys of a pipeline's releases, oldest first; a release that ended before its deploy has none. */
export const deploysOf = (world: VirtualWorld, pipeline: string): Promise<Deploy[]> =>
  runsOf(world, pipeline, 'deploy');

/** The deploy of one release; null if there is none. */
export const deployOf = (world: VirtualWorld, pipeline: string, release: number): Promise<Deploy | null> =>
  runOf(world, pipeline, release, 'deploy', 1);

/** … and its canaries, with all attempts. */
export async function canariesOf(world: VirtualWorld, pipeline: string): Promise<Deploy[]> {
  const attempts = CANARY_ATTEMPTS.map((attempt) => runsOf(world, pipeline, 'canary', attempt));
  return (await Promise.all(attempts)).flat();
}

async function runsOf(world: VirtualWorld, pipeline: string, action: string, attempt = 1): Promise<Deploy[]> {
  const numbers = await numbersOf(world, pipeline);
  const found = await Promise.all(numbers.map((number) => runOf(world, pipeline, number, action, attempt)));
  return found.filter((status) => status !== null);
}

export async function releasesOf(world: VirtualWorld, pipeline: string): Promise<ReleaseStatus[]> {
  const numbers = await numbersOf(world, pipeline);
  return Promise.all(numbers.map((number) => world.releaseStatus(pipeline, number)));
}

async function numbersOf(world: VirtualWorld, pipeline: string): Promise<number[]> {
  const { nextNumber } = await world.pipeline(pipeline).query<PipelineState>('pipeline');
  return Array.from({ length: nextNumber - 1 }, (_, index) => index + 1);
}

async function runOf(
  world: VirtualWorld,
  pipeline: string,
  release: number,
  action: string,
  attempt: number,
): Promise<Deploy | null> {
  try {
    return { ...(await world.deployStatus(pipeline, release, action, attempt)), release };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

class Story {
  readonly askedBack: AskedBack[] = [];
  private startMs = 0;
  private releases = 0;
  /** HTTP faults by id, and the times at which they end. */
  private readonly lifts: { id: string; atMs: number }[] = [];
  /** By workflow id. */
  private readonly looks = new Map<string, number>();
  /** Versions of the proposed changes, by the build that they bring. */
  private readonly proposed = new Map<string, string>();

  constructor(
    private readonly world: VirtualWorld,
    private readonly scenario: Scenario,
    private readonly log: (line: string) => void,
  ) {}

  async begin(): Promise<void> {
    const { seed, jobs, source } = this.scenario;
    await this.world.control('POST', '/control/reset', { seed });
    for (const { name, region, tasks, more } of jobs) await this.world.job(name, region, tasks, more);
    await this.configure();
    await this.world.apply(source, { ...CALM, reconcileIntervalMs: HOUR });
    this.startMs = await this.world.now();
  }

  /** The values committed before the story, and their readers. */
  private async configure(): Promise<void> {
    const { configuration, jobs } = this.scenario;
    if (configuration === undefined) return;
    await this.config('commits', { change: (await this.propose('kv:1')).change });
    for (const { name } of jobs) await this.config('subscribers', { job: name, paths: [PATH] });
    for (const hosts of configuration.hosts) await this.config('subscribers', { ...hosts, paths: [PATH] });
  }

  private config<T>(what: string, body: object): Promise<T> {
    return this.world.control<T>('POST', `/control/config/${what}`, body);
  }

  private propose(build: string): Promise<{ change: number; version: string }> {
    return this.config('changes', { repository: REPOSITORY, values: { [PATH]: { build } } });
  }

  /** A version that is released again is the same change. */
  private async versionOf(build: string): Promise<string> {
    if (this.scenario.configuration === undefined) return build;
    const known = this.proposed.get(build) ?? (await this.propose(build)).version;
    this.proposed.set(build, known);
    return known;
  }

  async comes(happening: Happening): Promise<void> {
    await this.liftBefore(happening.atMs);
    await this.sleepUntil(happening.atMs);
    const answer = await this.happens(happening).catch(refused);
    const { atMs, ...what } = happening;
    this.log(`${minutes(atMs)} ${JSON.stringify(what)}: ${answer}`);
  }

  /** Repairs everything, and ends every freeze and hold. */
  async tidyUp(): Promise<void> {
    await this.liftBefore(HORIZON_MS);
    await this.sleepUntil(HORIZON_MS);
    await this.liftBefore(Infinity);
    await this.lift('unfreeze');
    await this.lift('unhold');
  }

  private async lift(verb: 'unfreeze' | 'unhold'): Promise<void> {
    this.log(`tidy up: ${verb}: ${await this.ofPipeline(verb).catch(refused)}`);
  }

  /** A person looks every few minutes, and helps deploys and releases that have stood still since the last look. */
  async tend(): Promise<void> {
    const { world, scenario } = this;
    const isOver = async (): Promise<boolean> => {
      const { active, held } = await world.pipelineStatus(scenario.pipeline);
      // A revert that ends after the horizon holds the pipeline, and other releases wait for a person.
      if (active.length > 0 && held !== null) await this.lift('unhold');
      for (const release of active) {
        await this.help(release, 'deploy', 1);
        if (scenario.source.actions['canary'])
          for (const attempt of CANARY_ATTEMPTS) await this.help(release, 'canary', attempt);
      }
      return active.length === 0;
    };
    await world.until('nothing is under way', isOver, { stepMs: LOOK_MS, withinMs: PATIENCE_MS });
  }

  private async help(release: number, action: string, attempt: number): Promise<void> {
    const { pipeline } = this.scenario;
    const deploy = await runOf(this.world, pipeline, release, action, attempt);
    const stands = deploy?.paused ?? deploy?.pausedGroups?.map((group) => ({ by: 'health', ...group }))[0];
    if (stands === undefined || deploy?.state === 'ended') return;
    const id = workflowIds.deploy(pipeline, release, action, attempt);
    const look = (this.looks.get(id) ?? 0) + 1;
    this.looks.set(id, look);
    if (look % 3 !== 0) return;
    const verb = look <= 6 ? 'resume' : 'cancel';
    const answer = await this.world.command(id, verb, BY).then(({ effect }) => effect, refused);
    this.log(`tidy up: ${verb} ${id}, ${stands.by}: ${stands.reason}: ${answer}`);
    if (look > 6) await this.world.describeVersion('kv:1', {});
  }

  private async happens(happening: Happening): Promise<string> {
    const { world, scenario } = this;
    switch (happening.kind) {
      case 'release':
        return this.released(happening);
      case 'roll-back': {
        const { active } = await world.pipelineStatus(scenario.pipeline);
        const of = Math.min(this.releases, ...active.map((number) => number - 1));
        const input = { ...BY, notBad: happening.notBad };
        return this.goesBack('roll-back', of, input, async () => {
          const begun = await world.rollBack(scenario.pipeline, of, input);
          const seen = begun.duplicate ? {} : { seen: await seeMoment(world, scenario, of) };
          return { release: begun.number, ...seen, said: this.begun(begun) };
        });
      }
      case 'temporal':
        return this.stopped(happening);
      case 'push': {
        const { version, skipBake = false } = happening;
        return this.begun(await world.push(scenario.pipeline, await this.versionOf(version), { skipBake }));
      }
      case 'command':
        if (happening.to === 'pipeline') return this.ofPipeline(happening.verb);
        if (happening.to === 'release' || happening.verb !== 'revert') return this.ofRelease(happening);
        return this.goesBack('revert', this.releases, happening.input, async () => ({
          release: null,
          said: await this.ofRelease(happening),
        }));
      case 'fault': {
        const { id } = await world.control<{ id: string }>('POST', '/control/faults', happening.fault);
        if (happening.forMs !== undefined) this.lifts.push({ id, atMs: happening.atMs + happening.forMs });
        return id;
      }
      case 'config':
        // A share of hosts may be empty, and a region may have no observer of that name.
        return this.config(happening.what, happening.body).then(JSON.stringify, String);
      case 'resize':
        await world.control('PATCH', `/control/jobs/${happening.job}`, { tasks: happening.tasks });
        return 'done';
      case 'version':
        await world.describeVersion(happening.version, happening.behaviour);
        return 'done';
    }
  }

  /** Records the answer, and the facts at that moment. */
  private async goesBack(
    verb: AskedBack['verb'],
    of: number,
    { actor = '', reason = '' }: CommandInput,
    ask: () => Promise<Exclude<AskedBack['answer'], { refused: string }> & { said: string }>,
  ): Promise<string> {
    const asked = { verb, of, actor, reason, atMs: await this.world.now() };
    try {
      const { said, ...answer } = await ask();
      this.askedBack.push({ ...asked, answer });
      return said;
    } catch (error) {
      const why = refused(error).replace('refused: ', '');
      const seen = await seeMoment(this.world, this.scenario, of, why);
      this.askedBack.push({ ...asked, answer: { refused: why, seen } });
      throw error;
    }
  }

  private async ofPipeline(verb: Extract<Happening, { kind: 'command' }>['verb']): Promise<string> {
    const { effect } = await this.world.command(workflowIds.pipeline(this.scenario.pipeline), verb);
    return effect;
  }

  private async released({ version: build, fatBytes }: Extract<Happening, { kind: 'release' }>): Promise<string> {
    const { pipeline } = this.scenario;
    const version = await this.versionOf(build);
    if (fatBytes === undefined) return this.begun(await this.world.release(pipeline, version));
    const metadata = { notes: 'x'.repeat(fatBytes) };
    return this.begun(await this.world.start(pipeline, { artifacts: [{ ...executable(version), metadata }] }));
  }

  /** Bypasses Conveyor entirely. */
  private async stopped({ how, of }: Extract<Happening, { kind: 'temporal' }>): Promise<string> {
    const { pipeline, jobs } = this.scenario;
    const { service } = jobs[0]?.more as { service: string };
    const ids = {
      pipeline: workflowIds.pipeline(pipeline),
      release: workflowIds.release(pipeline, this.releases),
      deploy: workflowIds.deploy(pipeline, this.releases, 'deploy', 1),
      lock: this.scenario.configuration
        ? workflowIds.serviceLock('config', `${REPOSITORY}/feed`)
        : workflowIds.serviceLock('twine', service),
    };
    const handle = this.world.client.workflow.getHandle(ids[of]);
    await (how === 'cancel' ? handle.cancel() : handle.terminate('chaos'));
    return ids[of];
  }

  private begun({ number }: { readonly number: number }): string {
    this.releases = number;
    return `release ${number}`;
  }

  private async ofRelease({ to, verb, input, twice, atMs }: Extract<Happening, { kind: 'command' }>): Promise<string> {
    const { pipeline } = this.scenario;
    const release = workflowIds.release(pipeline, this.releases);
    const id = to === 'release' ? release : workflowIds.deploy(pipeline, this.releases, 'deploy', 1);
    const handle = this.world.client.workflow.getHandle(id);
    const updateId = `at-${atMs}`;
    const send = () => handle.executeUpdate<{ effect: string }, [object]>(verb, { args: [input], updateId });
    const { effect } = await send();
    if (twice) expect(await send()).toMatchObject({ effect });
    return effect;
  }

  private async liftBefore(ms: number): Promise<void> {
    for (;;) {
      const next = this.lifts.filter(({ atMs }) => atMs <= ms).sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) return;
      this.lifts.splice(this.lifts.indexOf(next), 1);
      await this.sleepUntil(next.atMs);
      await this.world.control('DELETE', `/control/faults/${next.id}`);
      this.log(`${minutes(next.atMs)} ${next.id} is over`);
    }
  }

  private async sleepUntil(atMs: number): Promise<void> {
    const restMs = this.startMs + atMs - (await this.world.now());
    if (restMs > 0) await this.world.sleep(restMs);
  }
}

const BY = { actor: 'user:alice', reason: 'tidying up' };

const minutes = (ms: number): string => `${(ms / MINUTE).toFixed(1)} min`;

/** The text of a refusal; any other error is a defect. */
function refused(error: unknown): string {
  if (error instanceof WorkflowUpdateFailedError) return `refused: ${error.cause?.message ?? ''}`;
  if (error instanceof WorkflowNotFoundError) return 'refused: there is none';
  throw error;
}
