import { NO_PROGRAMS } from '../configerator/compiler/walls';
import { runApart } from '../configerator/repository/apart/run';
import { listValues } from '../configerator/repository/dependencies';
import type { Difference } from '../configerator/repository/difference';
import { lookAtChange, readShownValue, listSources, readVersion } from '../configerator/repository/views';
import type { Proposer } from '../configerator/repository/propose';
import { ConfigRepository } from '../configerator/repository/repository';
import type { ChangeRequest, WantedFiles, RequestResult } from '../configerator/repository/requests';
import { readKnownHost, openConfigStore, findAllSubscribers } from '../configerator/subscriptions';
import { conveyorError } from '../domain/errors';
import type { ConfigRepositorySettings } from '../settings/configRepositories';
import { pathsOfPipelines } from '../client/configOwners';
import type { ServerDeps } from './deps';
import { RequestGate } from './gate';

/** The time limit for a repository that does not answer; clients wait longer. */
const GIT_TIMEOUT_MS = 15_000;
const JOB_TIMEOUT_MS = 45_000;
/** For each repository. Running requests take processes, waiting requests take memory. Readers have their own queue, separate from proposals. */
const PROPOSALS = { inFlight: 2, waiting: 32, waitMs: 8_000 };
const QUESTIONS = { inFlight: 2, waiting: 64, waitMs: 8_000 };
const LOOKS = { inFlight: 4, waiting: 64, waitMs: 8_000 };

interface OpenRepository {
  readonly proposals: RequestGate;
  /** These take as much work as proposals. */
  readonly questions: RequestGate;
  readonly looks: RequestGate;
  readonly repository: Promise<ConfigRepository>;
}

/**
 * The server's access to configuration repositories: git and the parser of sources run in separate processes, a few at
 * a time.
 */
export class Configuration {
  private readonly opened = new Map<string, OpenRepository>();

  constructor(private readonly deps: Pick<ServerDeps, 'config' | 'copies' | 'now' | 'programs' | 'index'>) {}

  /** @throws ConveyorError `not-found` */
  settings(name: string): ConfigRepositorySettings {
    const all = this.deps.config.configRepositories;
    const found = all.find((one) => one.name === name);
    if (found !== undefined) return found;
    const known = all.map((one) => one.name).join(', ') || 'none';
    throw conveyorError('not-found', { what: `repository of configuration ${name}; there are ${known}` });
  }

  async propose(
    name: string,
    request: ChangeRequest,
    by: { readonly author: string; readonly key: string | null } & Required<Pick<Proposer, 'rights' | 'groups'>>,
  ): Promise<RequestResult> {
    const { ref, proposals } = await this.open(name);
    const pipelines = await pathsOfPipelines(this.deps.index, name);
    const asked = { request, ...by, pipelines, nowMs: this.deps.now() };
    const job = { kind: 'propose', ...(await this.where(ref)), ...asked } as const;
    return proposals.run(() => runApart(job, JOB_TIMEOUT_MS));
  }

  async diff(name: string, wanted: WantedFiles): Promise<Difference> {
    const { ref, proposals } = await this.open(name);
    const job = { kind: 'diff', ...(await this.where(ref)), wanted } as const;
    return proposals.run(() => runApart(job, JOB_TIMEOUT_MS));
  }

  /** The sources of a value or the values of a file, and the subscribers of each value. */
  async why(name: string, path: string) {
    const { ref, questions } = await this.open(name);
    const job = { kind: 'why', ...(await this.where(ref)), path } as const;
    const found = await questions.run(() => runApart(job, JOB_TIMEOUT_MS));
    return {
      path,
      ...found,
      subscribers: await findAllSubscribers(openConfigStore(ref), name, listValues(path, found)),
    };
  }

  changes = (name: string, limit: number) => this.look(name, (repository) => repository.changes(limit));
  change = (name: string, number: number) => this.look(name, (repository) => lookAtChange(repository, number));
  log = (name: string, limit: number) => this.look(name, (repository) => repository.log(limit));
  value = (name: string, path: string, change: number | null) =>
    this.look(name, (repository) => readShownValue(repository, path, change));
  /** At most that many, the newest first; null if it does not have the commit. */
  revisionsWith = (name: string, commit: string, limit: number) =>
    this.look(name, (repository) => repository.revisionsWith(commit, limit));
  sources = (name: string, base: string | null) => this.look(name, (repository) => listSources(repository, base));

  host = (name: string, asked: { readonly path: string; readonly host: string }) =>
    this.look(name, (repository) =>
      readKnownHost(openConfigStore(this.settings(name)), name, asked, (version) => readVersion(repository, version)),
    );

  /** A separate process has no access to the store. */
  private where = async ({ name, git, branch }: ConfigRepositorySettings) => ({
    ref: { name, git, branch, programs: (await this.deps.programs?.()) ?? NO_PROGRAMS },
    copies: this.deps.copies,
    gitTimeoutMs: GIT_TIMEOUT_MS,
  });

  private async look<T>(name: string, ask: (repository: ConfigRepository) => Promise<T>): Promise<T> {
    const { looks, repository } = await this.open(name);
    return looks.run(() => ask(repository));
  }

  /** Opens a repository again if it could not be opened, or has moved. */
  private async open(name: string) {
    const ref = this.settings(name);
    const key = `${name} ${ref.git} ${ref.branch}`;
    const known = this.opened.get(key) ?? {
      ...{
        proposals: new RequestGate(PROPOSALS),
        questions: new RequestGate(QUESTIONS),
        looks: new RequestGate(LOOKS),
      },
      repository: ConfigRepository.open(ref, this.deps.copies, GIT_TIMEOUT_MS),
    };
    this.opened.set(key, known);
    try {
      return { ref, ...known, repository: await known.repository };
    } catch (error) {
      this.opened.delete(key);
      throw error;
    }
  }
}
