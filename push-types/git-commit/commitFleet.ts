import { ExtensionError } from '../../sdk';
import type { Memory } from '../../sdk/updates';
import { AwayError, type DeployBranch } from './branch';
import type { CommitState } from './commitState';
import { RepositoryFleet, type RepositoryFleetOptions } from './repositoryFleet';
import type { GitCommitSettings } from './settings';
import { readDeployUnits, type ConfigUnits, type UnitDefinition } from './units';
import type { Watcher } from './watcher';

export interface CommitFleetOptions extends Pick<
  RepositoryFleetOptions,
  'memory' | 'now' | 'log' | 'onLook' | 'onStep'
> {
  readonly settings: GitCommitSettings;
  /** By the name of the repository. */
  readonly branches: ReadonlyMap<string, DeployBranch>;
  readonly watcher: (environment: string) => Watcher | undefined;
}

/** All repositories of the settings, and the units that pipelines have named. */
export class CommitFleet {
  private readonly repositories: ReadonlyMap<string, RepositoryFleet>;

  constructor(private readonly options: CommitFleetOptions) {
    const { settings, branches } = options;
    this.repositories = new Map(
      [...branches].map(([name, branch]) => [
        name,
        new RepositoryFleet({
          ...options,
          ...{ name, branch, idleMs: settings.idle },
          wait: (environment) => settings.environments[environment]?.wait,
          countAtOnce: (unit) => settings.environments[this.state.definitions?.[unit]?.environment ?? '']?.atOnce ?? 1,
        }),
      ]),
    );
  }

  get memory(): Memory {
    return this.options.memory;
  }

  get state(): CommitState {
    return this.options.memory.state;
  }

  get names(): string[] {
    return [...this.repositories.keys()];
  }

  /** The units of a config, without a look at Git. */
  readConfig(config: Readonly<Record<string, unknown>>, pipeline: string): ConfigUnits {
    return readDeployUnits(this.options.settings, config, pipeline);
  }

  labels(unit: string): Readonly<Record<string, string>> {
    const definition = this.state.definitions?.[unit];
    if (definition === undefined) return {};
    const { environment, service } = definition;
    return { ...this.options.settings.environments[environment]?.labels, environment, service };
  }

  /** The repository of a unit that was learnt. */
  findRepository(unit: string): RepositoryFleet | undefined {
    return this.repositories.get(this.state.definitions?.[unit]?.repository ?? '');
  }

  /** Reads the files of units anew, and learns units that are new. @returns the problems of their fields. @throws ExtensionError, to be tried again, if the repository of an unknown unit does not answer */
  async learn(units: ReadonlyMap<string, UnitDefinition>): Promise<readonly string[]> {
    const names = new Set([...units.values()].map(({ repository }) => repository));
    const problems = await Promise.all(
      [...names].map(async (name) => {
        const own = new Map([...units].filter(([, { repository }]) => repository === name));
        const repository = this.repositories.get(name);
        if (repository === undefined) return [`there is no repository ${name} in the settings`];
        const found = await repository.learn(own);
        const { problem } = repository;
        if (problem instanceof AwayError && [...own.keys()].some((unit) => this.state.units[unit] === undefined))
          throw new ExtensionError('not-ready', problem.message, { retryable: true });
        const refusal = problem !== undefined && !(problem instanceof AwayError) ? [problem.message] : [];
        return [...refusal, ...[...found.values()].flat()];
      }),
    );
    return problems.flat();
  }

  /** One round for one repository. Returns true while something is left to do. */
  async step(name: string): Promise<boolean> {
    return (await this.repositories.get(name)?.step()) ?? false;
  }
}
