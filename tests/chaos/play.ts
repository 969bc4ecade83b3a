import { WorkflowNotFoundError, WorkflowUpdateFailedError, type WorkflowHandle } from '@temporalio/client';
import { workflowIds } from '../../domain/ids';
import type { PipelineState } from '../../domain/pipeline/state';
import type { PipelineSource } from '../../domain/spec/pipeline';
import type { CommandInput } from '../../domain/verbs';
import type { DeployStatus, ReleaseStatus } from '../../domain/views';
import { CALM } from '../workflows/flows';
import { executable, HOUR, MINUTE, type VirtualWorld } from '../workflows/world';
import { PATH, REPOSITORY } from './configuration';
import { HORIZON_MS } from './dice';
import { judgeWaiting } from './judgeOffers';
import { seeMoment, type AskedBack } from './judgeReverts';
import { findCircle } from './offerCircles';
import { LAST_VERSION } from './offers';
import { OfferWatch } from './offerWatch';
import { membersOf, type Happening, type Member, type Offering, type Scenario } from './scenario';

const DAY = 24 * HOUR;
/** How long a person may take to tidy up. */
const PATIENCE_MS = 72 * HOUR;
const LOOK_MS = 5 * MINUTE;
const QUIET_LOOKS = 3;
/** The interval of looks at offers. */
const GLANCE_MS = 2 * MINUTE;
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
  const watch = scenario.offering && new OfferWatch(world, scenario, log);
  const story = new Story(world, scenario, log, watch);
  try {
    const askedBack = await playAll(story, world, scenario);
    expect([...(watch?.wrong ?? [])]).toEqual([]);
    return askedBack;
  } finally {
    watch?.end();
  }
}

async function playAll(story: Story, world: VirtualWorld, scenario: Scenario): Promise<readonly AskedBack[]> {
  await world.sleep(DAY - ((await world.now()) % DAY));
  await story.begin();
  for (const happening of scenario.happenings) await story.comes(happening);
  await story.tidyUp();
  await story.tend();
  if (scenario.offering) await story.conclude(scenario.offering);
  return story.askedBack;
}

/** The deploy of a release, with the number of the release. */
export type Deploy = DeployStatus & { readonly release: number };

/** The deploys of a pipeline's releases, oldest first; a release that ended before its deploy has none. */
export const deploysOf = (world: VirtualWorld, pipeline: string, action = 'deploy'): Promise<Deploy[]> =>
  runsOf(world, pipeline, action);

/** The deploy of one release; null if there is none. */
export const deployOf = (
  world: VirtualWorld,
  pipeline: string,
  release: number,
  action = 'deploy',
): Promise<Deploy | null> => runOf(world, pipeline, release, action, 1);

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

/** The releases that have started: others have no workflow. */
async function numbersOf(world: VirtualWorld, pipeline: string): Promise<number[]> {
  const { nextNumber, history } = await world.pipeline(pipeline).query<PipelineState>('pipeline');
  const absent = new Set(history.flatMap(({ number, neverStarted }) => (neverStarted ? [number] : [])));
  return Array.from({ length: nextNumber - 1 }, (_, index) => index + 1).filter((number) => !absent.has(number));
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
  /** The newest release of each pipeline. */
  private readonly releases = new Map<string, number>();
  /** The ends of HTTP faults and of trouble with messages. */
  private readonly lifts: { id: string; atMs: number; end: () => unknown }[] = [];
  /** By workflow id. */
  private readonly looks = new Map<string, number>();
  /** Versions of the proposed changes, by the build that they bring. */
  private readonly proposed = new Map<string, string>();

  constructor(
    private readonly world: VirtualWorld,
    private readonly scenario: Scenario,
    private readonly log: (line: string) => void,
    private readonly watch: OfferWatch | undefined,
  ) {}

  async begin(): Promise<void> {
    const members = membersOf(this.scenario);
    await this.world.control('POST', '/control/reset', { seed: this.scenario.seed });
    this.world.messages.reset(this.scenario.seed);
    for (const { name, region, tasks, more } of members.flatMap(({ jobs }) => jobs))
      await this.world.job(name, region, tasks, more);
    await this.configure();
    for (const { source } of members) await this.apply(source);
    this.startMs = await this.world.now();
  }

  /** A retired pipeline continues with its records. */
  private async apply(source: PipelineSource): Promise<void> {
    const { world } = this;
    const handle = world.pipeline(source.pipeline);
    if (this.watch && (await isEnded(handle)))
      await world.client.workflow.start('pipeline', {
        ...{ workflowId: handle.workflowId, taskQueue: world.taskQueue, args: [await handle.query('pipeline')] },
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
    const looks = this.watch ? { waitIntervalMs: MINUTE } : {};
    await world.apply(source, { ...CALM, reconcileIntervalMs: HOUR, ...looks });
    this.watch?.applied(source);
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
  private async versionOf(build: string, pipeline: string): Promise<string> {
    if (this.scenario.configuration === undefined || pipeline !== this.scenario.pipeline) return build;
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
    for (const { pipeline } of membersOf(this.scenario)) {
      await this.lift('unfreeze', pipeline);
      await this.lift('unhold', pipeline);
    }
  }

  private async lift(verb: 'unfreeze' | 'unhold', pipeline: string): Promise<void> {
    this.log(`tidy up: ${verb}${this.nameOf(pipeline)}: ${await this.ofPipeline(pipeline, verb).catch(refused)}`);
  }

  private nameOf(pipeline: string): string {
    return pipeline === this.scenario.pipeline ? '' : ` ${pipeline}`;
  }

  /** A person looks every few minutes, and helps deploys and releases that have stood still since the last look. */
  async tend(): Promise<void> {
    let quiet = 0;
    const isOver = async (): Promise<boolean> => {
      let isQuiet = true;
      for (const member of membersOf(this.scenario)) isQuiet = (await this.tendPipeline(member)) && isQuiet;
      quiet = isQuiet ? quiet + 1 : 0;
      await this.watch?.look();
      // A deploy that waits for the offer of one that has just ended continues by itself.
      return quiet >= (this.watch ? QUIET_LOOKS : 1);
    };
    await this.world.until('nothing is under way', isOver, { stepMs: LOOK_MS, withinMs: PATIENCE_MS });
  }

  /** @returns whether nothing is under way, except deploys that wait for the offers of others */
  private async tendPipeline({ pipeline, source }: Member): Promise<boolean> {
    const { active, held } = await this.world.pipelineStatus(pipeline);
    // A revert that ends after the horizon holds the pipeline, and other releases wait for a person.
    if (active.length > 0 && held !== null) await this.lift('unhold', pipeline);
    for (const release of active) {
      await this.help(pipeline, release, 'deploy', 1);
      if (source.actions['canary'])
        for (const attempt of CANARY_ATTEMPTS) await this.help(pipeline, release, 'canary', attempt);
      if (source.actions['early']) await this.help(pipeline, release, 'early', 1);
    }
    return active.length === 0 || (await this.watch?.isWaiting(pipeline, active)) === true;
  }

  /**
   * Nothing more happens: each deploy that waits for offers does so for a reason. Then people correct the files, and release each pipeline once more,
   * after which both sides agree on everything.
   */
  async conclude({ last }: Offering): Promise<void> {
    const { world } = this;
    await judgeWaiting(world, this.scenario);
    for (const source of last) await this.apply(source);
    for (const { pipeline } of last) await this.lift('unhold', pipeline);
    for (const { pipeline } of last) {
      const version = await this.versionOf(LAST_VERSION, pipeline);
      this.log(`in the end: ${pipeline}: ${this.begun(pipeline, await world.release(pipeline, version))}`);
    }
    await this.tend();
    await judgeWaiting(world, this.scenario);
    // Deploys may wait for offers of one that was cancelled.
    for (const { pipeline } of last)
      for (const release of (await world.pipelineStatus(pipeline)).active)
        await world.command(workflowIds.release(pipeline, release), 'cancel', BY);
    const isOver = async ({ pipeline }: PipelineSource): Promise<boolean> =>
      (await world.pipelineStatus(pipeline)).active.length === 0;
    await world.until('all releases have ended', async () =>
      (await Promise.all(last.map(isOver))).every((over) => over),
    );
  }

  private async help(pipeline: string, release: number, action: string, attempt: number): Promise<void> {
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
    const { pipeline = scenario.pipeline } = happening;
    switch (happening.kind) {
      case 'release':
        return this.released(pipeline, happening);
      case 'roll-back':
        return this.rollsBack(pipeline, happening);
      case 'temporal':
        return this.stopped(pipeline, happening);
      case 'push': {
        const { version, skipBake = false } = happening;
        return this.begun(pipeline, await world.push(pipeline, await this.versionOf(version, pipeline), { skipBake }));
      }
      case 'command':
        if (happening.to === 'pipeline') return this.ofPipeline(pipeline, happening.verb, happening.input);
        if (happening.to === 'release' || happening.verb !== 'revert') return this.ofRelease(pipeline, happening);
        return this.goesBack(pipeline, 'revert', this.newest(pipeline), happening.input, async () => ({
          release: null,
          said: await this.ofRelease(pipeline, happening),
        }));
      case 'fault': {
        const { id } = await world.control<{ id: string }>('POST', '/control/faults', happening.fault);
        if (happening.forMs !== undefined) {
          const end = () => world.control('DELETE', `/control/faults/${id}`);
          this.lifts.push({ id, atMs: happening.atMs + happening.forMs, end });
        }
        return id;
      }
      case 'messages': {
        const end = world.messages.begin(happening.trouble);
        this.lifts.push({ id: happening.trouble.how, atMs: happening.atMs + happening.forMs, end });
        return 'begins';
      }
      case 'apply':
        return this.changed(happening);
      case 'sweep':
        return this.swept();
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

  private async rollsBack(pipeline: string, { notBad }: Extract<Happening, { kind: 'roll-back' }>): Promise<string> {
    const { world } = this;
    const { active } = await world.pipelineStatus(pipeline);
    const of = Math.min(this.newest(pipeline), ...active.map((number) => number - 1));
    const input = { ...BY, notBad };
    return this.goesBack(pipeline, 'roll-back', of, input, async () => {
      const begun = await world.rollBack(pipeline, of, input);
      const seen = begun.duplicate ? {} : { seen: await seeMoment(world, this.placed(pipeline), of) };
      return { release: begun.number, ...seen, said: this.begun(pipeline, begun) };
    });
  }

  /** As `conveyor apply`, which refuses circles of deploys that would wait for each other. */
  private async changed({ source, together }: Extract<Happening, { kind: 'apply' }>): Promise<string> {
    if (!together) {
      const circle = await findCircle(this.world, source);
      this.watch?.checkCircle(source, circle);
      if (typeof circle === 'string') return `refused: ${circle}`;
    }
    await this.apply(source);
    return 'applied';
  }

  private async swept(): Promise<string> {
    const start = this.world.client.workflow.start('artifactSweep', {
      ...{ workflowId: 'sweep/offer', taskQueue: this.world.taskQueue },
      args: [{ finder: 'offer', heartbeatTimeoutMs: HOUR }],
    });
    return start.then(
      () => 'begins',
      () => 'the last one is under way',
    );
  }

  private newest(pipeline: string): number {
    return this.releases.get(pipeline) ?? 0;
  }

  /** Only the first pipeline deploys configuration. */
  private placed(pipeline: string): Pick<Scenario, 'pipeline' | 'configuration'> {
    return pipeline === this.scenario.pipeline ? this.scenario : { pipeline };
  }

  /** Records the answer, and the facts at that moment. */
  private async goesBack(
    pipeline: string,
    verb: AskedBack['verb'],
    of: number,
    { actor = '', reason = '' }: CommandInput,
    ask: () => Promise<Exclude<AskedBack['answer'], { refused: string }> & { said: string }>,
  ): Promise<string> {
    const asked = { pipeline, verb, of, actor, reason, atMs: await this.world.now() };
    try {
      const { said, ...answer } = await ask();
      this.askedBack.push({ ...asked, answer });
      return said;
    } catch (error) {
      const why = refused(error).replace('refused: ', '');
      const seen = await seeMoment(this.world, this.placed(pipeline), of, why);
      this.askedBack.push({ ...asked, answer: { refused: why, seen } });
      throw error;
    }
  }

  private async ofPipeline(
    pipeline: string,
    verb: Extract<Happening, { kind: 'command' }>['verb'],
    { user }: CommandInput = {},
  ): Promise<string> {
    const input = user === undefined ? {} : { user };
    const { effect } = await this.world.command(workflowIds.pipeline(pipeline), verb, input);
    if (user !== undefined) this.watch?.usesEnded(pipeline, user);
    if (verb === 'retire') this.watch?.retired(pipeline);
    return effect;
  }

  private async released(
    pipeline: string,
    { version: build, fatBytes }: Extract<Happening, { kind: 'release' }>,
  ): Promise<string> {
    const version = await this.versionOf(build, pipeline);
    if (fatBytes === undefined) return this.begun(pipeline, await this.world.release(pipeline, version));
    const metadata = { notes: 'x'.repeat(fatBytes) };
    const artifacts = [{ ...executable(version), metadata }];
    return this.begun(pipeline, await this.world.start(pipeline, { artifacts }));
  }

  /** Bypasses Conveyor entirely. */
  private async stopped(pipeline: string, { how, of }: Extract<Happening, { kind: 'temporal' }>): Promise<string> {
    const { service } = this.scenario.jobs[0]?.more as { service: string };
    const ids = {
      pipeline: workflowIds.pipeline(pipeline),
      release: workflowIds.release(pipeline, this.newest(pipeline)),
      deploy: workflowIds.deploy(pipeline, this.newest(pipeline), 'deploy', 1),
      offers: workflowIds.offers(pipeline),
      lock: this.scenario.configuration
        ? workflowIds.serviceLock('config', `${REPOSITORY}/feed`)
        : workflowIds.serviceLock('twine', service),
    };
    const handle = this.world.client.workflow.getHandle(ids[of]);
    await (how === 'cancel' ? handle.cancel() : handle.terminate('chaos'));
    return ids[of];
  }

  private begun(pipeline: string, { number }: { readonly number: number }): string {
    this.releases.set(pipeline, number);
    return `release ${number}`;
  }

  private async ofRelease(
    pipeline: string,
    { to, verb, input, twice, atMs }: Extract<Happening, { kind: 'command' }>,
  ): Promise<string> {
    const release = workflowIds.release(pipeline, this.newest(pipeline));
    const id = to === 'release' ? release : workflowIds.deploy(pipeline, this.newest(pipeline), 'deploy', 1);
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
      await next.end();
      this.log(`${minutes(next.atMs)} ${next.id} is over`);
    }
  }

  private async sleepUntil(atMs: number): Promise<void> {
    const restMs = async (): Promise<number> => this.startMs + atMs - (await this.world.now());
    for (let ms = await restMs(); ms > 0; ms = await restMs()) {
      await this.world.sleep(this.watch ? Math.min(ms, GLANCE_MS) : ms);
      await this.watch?.look();
    }
  }
}

const BY = { actor: 'user:alice', reason: 'tidying up' };

const minutes = (ms: number): string => `${(ms / MINUTE).toFixed(1)} min`;

/** Its workflow has ended, as that of a retired pipeline does. */
const isEnded = (handle: WorkflowHandle): Promise<boolean> =>
  handle.describe().then(
    ({ status }) => status.name !== 'RUNNING',
    () => false,
  );

/** The text of a refusal; any other error is a defect. */
function refused(error: unknown): string {
  if (error instanceof WorkflowUpdateFailedError) return `refused: ${error.cause?.message ?? ''}`;
  if (error instanceof WorkflowNotFoundError) return 'refused: there is none';
  throw error;
}
