import { findInput } from '../../activities/readInput';
import { OfferBoards } from '../../activities/offerBoards';
import type { Artifact } from '../../domain/artifact';
import type { DeployInput } from '../../domain/deploy/state';
import { workflowIds } from '../../domain/ids';
import { listUsers, NO_OFFERS } from '../../domain/offers/board';
import type { Settings } from '../../domain/settings';
import type { PipelineSource } from '../../domain/spec/pipeline';
import { exampleFleet, exampleSource } from '../setup/examples';
import { CALM } from './flows';
import { MINUTE, type VirtualWorld } from './world';

/** The six pipelines of examples/teastore in virtual time, also several times in one world. */

const FILES = {
  webui: 'teastore/webui.yaml',
  image: 'teastore/image.yaml',
  recommender: 'teastore/recommender.yaml',
  auth: 'teastore/auth.yaml',
  persistence: 'teastore/persistence.yaml',
  registry: 'teastore/registry.yaml',
} as const;
export type Team = keyof typeof FILES;
/** Each before the teams whose services it uses. */
export const TEAMS = Object.keys(FILES) as Team[];

const artifact = (name: string, version: string, metadata: Artifact['metadata'] = {}): Artifact => ({
  ...{ name, kind: name, version, metadata },
});

/** The versions of release `n` of each team. */
const artifactsOf = (team: Team, n: number): readonly Artifact[] => {
  const executable = artifact('executable', `${team}:${n}`);
  switch (team) {
    case 'registry':
      return [artifact('network', `net:${n}`, { vpc: `vpc-${n}`, cluster: 'tea-1' }), executable];
    case 'auth':
    case 'webui':
      return [artifact('network', `${team}-net:${n}`, { group: `sg-${team}` }), executable];
    case 'persistence':
      return [artifact('database', `db:${n}`), executable];
    default:
      return [executable];
  }
};

type Deploy = Extract<PipelineSource['actions'][string], { type: 'deploy' }>;
const SETTINGS: Partial<Settings> = { ...CALM, waitIntervalMs: 2 * MINUTE };

interface ShopOptions {
  /** The beginning of the names of its pipelines and jobs, so that several shops fit into one world. */
  readonly prefix?: string;
  /** Whether its deploys have one task, no phases and no checks, for stories about nothing but offers. */
  readonly isSmall?: boolean;
}

/** One TeaStore. */
export class Shop {
  private readonly prefix: string;
  private readonly isSmall: boolean;

  constructor(
    private readonly world: VirtualWorld,
    { prefix = '', isSmall = false }: ShopOptions = {},
  ) {
    this.prefix = prefix;
    this.isSmall = isSmall;
  }

  /** Its jobs, and its six pipelines, none of which has been released. */
  async open(): Promise<void> {
    const { world, prefix } = this;
    for (const job of exampleFleet(FILES.registry)) {
      const names = { name: `${prefix}${job.name}`, service: `${prefix}${job.service}` };
      await world.control('POST', '/control/jobs', { ...job, ...names, ...(this.isSmall ? SMALL_JOB : {}) });
    }
    for (const team of TEAMS) await this.apply(team);
  }

  /** Applies the file of a team, or a changed one. */
  async apply(team: Team, change: (source: PipelineSource) => PipelineSource = (source) => source): Promise<void> {
    const source = change(exampleSource(FILES[team]));
    const actions = this.isSmall ? makeSmall(source.actions) : source.actions;
    await this.world.apply(inShop({ ...source, actions }, this.prefix), SETTINGS);
  }

  /** @returns the number of the release */
  async release(team: Team, n: number): Promise<number> {
    return (await this.world.start(this.name(team), { artifacts: artifactsOf(team, n) })).number;
  }

  name(team: Team): string {
    return `${this.prefix}${team}`;
  }

  async isIdle(): Promise<boolean> {
    const active = await Promise.all(
      TEAMS.map(async (team) => (await this.world.pipelineStatus(this.name(team))).active),
    );
    return active.every((releases) => releases.length === 0);
  }

  /** Why a deploy of a release waits; null if it does not. */
  async obstacle(team: Team, number: number, action: string): Promise<string | null> {
    const { actions } = await this.world.releaseStatus(this.name(team), number);
    const why = actions.find(({ name }) => name === action)?.blockedBy ?? null;
    return why === null ? null : this.withoutPrefix(why);
  }

  /** The first releases and all that they brought. */
  async result(): Promise<ShopResult> {
    return {
      states: await perTeam(async (team) => (await this.world.releaseStatus(this.name(team), 1)).state),
      runs: await this.runs(),
      offers: await perTeam((team) => this.offersOf(team)),
      env: await perTeam((team) => this.envOf(team, 1)),
      early: await this.early(),
    };
  }

  /** The versions of each job. */
  async runs(): Promise<Readonly<Record<string, string>>> {
    const jobs = (await this.world.jobs()).filter(({ name }) => name.startsWith(`${this.prefix}tea-`));
    return this.withoutPrefix(
      Object.fromEntries(jobs.map(({ name, versions }) => [name, Object.keys(versions).join()])),
    );
  }

  async offersOf(team: Team): Promise<Readonly<Record<string, OfferResult>>> {
    const { client, taskQueue } = this.world;
    const board = (await new OfferBoards(client, taskQueue).find(this.name(team))) ?? NO_OFFERS;
    const entries = board.offers.map(({ name, version, value }): [string, OfferResult] => {
      const users = listUsers(board, name).map(({ user }) => user);
      return [name, { version, value, users }];
    });
    return this.withoutPrefix(Object.fromEntries(entries));
  }

  /** The variables of the tasks, as the deploys of a release got them. */
  async envOf(team: Team, number: number): Promise<Readonly<Record<string, unknown>>> {
    const { client } = this.world;
    const entries = Object.keys(exampleSource(FILES[team]).actions).map(async (action) => {
      const id = workflowIds.deploy(this.name(team), number, action, 1);
      const input = (await findInput(client, id)) as DeployInput | undefined;
      return [action, input?.spec.config['env']] as const;
    });
    return this.withoutPrefix(Object.fromEntries(await Promise.all(entries)));
  }

  /** The deploys of the first releases that began before the end of a deploy for whose offer they wished. */
  private async early(): Promise<readonly string[]> {
    const spans = await perTeam(async (team) => {
      const names = Object.keys(exampleSource(FILES[team]).actions);
      const deploys = await Promise.all(names.map((name) => this.world.deployStatus(this.name(team), 1, name)));
      return Object.fromEntries(names.map((name, at) => [name, deploys[at]!]));
    });
    return TEAMS.flatMap((team) => {
      const { actions, wishes = [] } = exampleSource(FILES[team]);
      const wished = wishes.flatMap((wish) => (wish.for ?? Object.keys(actions)).map((name) => ({ name, ...wish })));
      return wished.flatMap(({ name, from, offer }) => {
        const made = spans[from]?.[findMaker(from as Team, offer)]?.endedAt ?? 'never';
        return (spans[team]?.[name]?.startedAt ?? '') > made ? [] : [`${team}/${name} before ${offer} of ${from}`];
      });
    });
  }

  private withoutPrefix<T>(found: T): T {
    return this.prefix === '' ? found : (JSON.parse(JSON.stringify(found).replaceAll(this.prefix, '')) as T);
  }
}

function findMaker(team: Team, offer: string): string {
  const { actions, offers = [] } = exampleSource(FILES[team]);
  return offers.find(({ name }) => name === offer)?.after ?? Object.keys(actions).join();
}

const perTeam = async <T>(find: (team: Team) => Promise<T>): Promise<Record<string, T>> =>
  Object.fromEntries(await Promise.all(TEAMS.map(async (team) => [team, await find(team)] as const)));

interface OfferResult {
  readonly version: string | undefined;
  readonly value: object;
  readonly users: readonly string[];
}

export interface ShopResult {
  readonly states: Readonly<Record<string, string>>;
  /** The versions of each job. */
  readonly runs: Readonly<Record<string, string>>;
  readonly offers: Readonly<Record<string, Readonly<Record<string, OfferResult>>>>;
  /** The variables of the tasks. */
  readonly env: Readonly<Record<string, unknown>>;
  /** Deploys that did not wait for an offer. */
  readonly early: readonly string[];
}

const SMALL_JOB = { tasks: 1, timings: { fetchMs: 1_000, stopMs: 1_000, startMs: 1_000 } };

const makeSmall = (actions: PipelineSource['actions']): PipelineSource['actions'] =>
  Object.fromEntries(
    Object.entries(actions).map(([name, action]) => {
      const { with: spec, ...deploy } = action as Deploy;
      return [name, { ...deploy, with: { ...spec, phases: [], completion: { bake: '1s' }, healthChecks: [] } }];
    }),
  );

/** The pipeline of one of several shops. Its files are for a world that runs sixty times as fast, so each second becomes a minute. */
function inShop(source: PipelineSource, prefix: string): PipelineSource {
  const text = JSON.stringify(source.actions)
    .replaceAll(/"(\d+)s"/g, '"$1m"')
    .replaceAll('"tea-', `"${prefix}tea-`)
    .replaceAll('${wishes.', `\${wishes.${prefix}`);
  return {
    ...source,
    owners: ['user:alice'],
    pipeline: `${prefix}${source.pipeline}`,
    actions: JSON.parse(text) as PipelineSource['actions'],
    offers: (source.offers ?? []).map(({ to, ...offer }) => ({
      ...offer,
      ...(to === undefined ? {} : { to: to.map((name) => `${prefix}${name}`) }),
    })),
    wishes: (source.wishes ?? []).map((wish) => ({ ...wish, from: `${prefix}${wish.from}` })),
  };
}
