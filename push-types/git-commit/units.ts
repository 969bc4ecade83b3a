import { describeIssue, type EnvironmentSettings, type GitCommitSettings } from './settings';
import { deployConfigSchema, type DeployConfig, type FieldPlace } from './deployConfig';

/** The units that the config of a deploy means: one for each environment, with a task for each of its clusters. Pure. */

/** A unit with all that is needed to change it without the pipeline. */
export interface UnitDefinition {
  readonly service: string;
  readonly environment: string;
  readonly repository: string;
  /** The pipeline that named the unit last. */
  readonly pipeline: string;
  readonly field: FieldPlace;
  /** The text in the field, with `{version}` or `{digest}`. */
  readonly value: string;
  /** The file of each cluster, by its name. */
  readonly paths: Readonly<Record<string, string>>;
}

export interface DeployConfigProblem {
  readonly path: string;
  readonly message: string;
}

export interface ConfigUnits {
  readonly service: string;
  /** By id, in the order of the config or of the settings. */
  readonly units: ReadonlyMap<string, UnitDefinition>;
  /** Empty unless there are no problems. */
  readonly problems: readonly DeployConfigProblem[];
}

/** Reads the config of a deploy action. */
export function readDeployUnits(
  settings: GitCommitSettings,
  given: Readonly<Record<string, unknown>>,
  pipeline: string,
): ConfigUnits {
  const parsed = deployConfigSchema.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => {
      const [path = '', ...message] = describeIssue(issue, ['config']).split(': ');
      return { path, message: message.join(': ') };
    });
    return { service: '', units: new Map(), problems };
  }
  const config = parsed.data;
  const { names, problems } = chooseEnvironments(settings, config);
  const all = [...findRepositoryProblems(settings, config), ...problems];
  const units = names.flatMap((name): [string, UnitDefinition][] => {
    const environment = settings.environments[name];
    return environment ? [[`${config.service}-${name}`, defineUnit(config, name, environment, pipeline)]] : [];
  });
  const forbidden = units.flatMap(([, unit]) => findForbiddenPaths(settings, unit));
  return { service: config.service, units: new Map(units), problems: [...all, ...forbidden] };
}

/** Whether the units change the same fields of the same files. */
export const isSamePlace = (one: UnitDefinition, other: UnitDefinition): boolean =>
  one.repository === other.repository &&
  JSON.stringify(one.field) === JSON.stringify(other.field) &&
  Object.entries(one.paths).every(([cluster, path]) => (other.paths[cluster] ?? path) === path);

/** Replaces `{service}`, `{environment}` and `{cluster}`. */
export const fillPlaces = (
  text: string,
  { service, environment }: Pick<UnitDefinition, 'service' | 'environment'>,
  cluster: string,
): string =>
  text.replaceAll('{service}', service).replaceAll('{environment}', environment).replaceAll('{cluster}', cluster);

function defineUnit(
  config: DeployConfig,
  name: string,
  { clusters = [name] }: EnvironmentSettings,
  pipeline: string,
): UnitDefinition {
  const { service, repository, field, path, value } = config;
  const usual = 'pin' in field && field.pin === 'digest' ? '{digest}' : '{version}';
  const place = { service, environment: name };
  return {
    ...{ service, environment: name, repository, pipeline, field, value: value ?? usual },
    paths: Object.fromEntries(clusters.map((cluster) => [cluster, fillPlaces(path, place, cluster)])),
  };
}

function chooseEnvironments({ environments }: GitCommitSettings, config: DeployConfig) {
  const all = Object.keys(environments);
  const path = 'config.environments';
  if (Array.isArray(config.environments)) {
    const problems = config.environments
      .filter((name) => !all.includes(name))
      .map((name) => ({
        path,
        message: `there is no environment ${name} in the settings; there are ${all.join(', ')}`,
      }));
    return { names: [...new Set(config.environments)].filter((name) => all.includes(name)), problems };
  }
  const labels = Object.entries(config.environments.labels);
  const names = all.filter((name) => labels.every(([key, value]) => environments[name]?.labels[key] === value));
  const problems = names.length > 0 ? [] : [{ path, message: 'no environment of the settings has these labels' }];
  return { names, problems };
}

function findRepositoryProblems(
  { repositories }: GitCommitSettings,
  { repository }: DeployConfig,
): DeployConfigProblem[] {
  if (repositories[repository] !== undefined) return [];
  const names = Object.keys(repositories).join(', ');
  return [
    { path: 'config.repository', message: `there is no repository ${repository} in the settings; there are ${names}` },
  ];
}

/** Files that the platform does not let this pipeline change, and files of two clusters that are one. */
function findForbiddenPaths({ repositories }: GitCommitSettings, unit: UnitDefinition): DeployConfigProblem[] {
  const patterns = repositories[unit.repository]?.paths ?? [];
  const paths = Object.values(unit.paths);
  const allowed = patterns.map((pattern) => compilePattern(pattern.replaceAll('{pipeline}', unit.pipeline)));
  const problems = paths
    .filter((path) => !allowed.some((pattern) => pattern.test(path)))
    .map((path) => ({
      path: 'config.path',
      message: `the settings let ${unit.pipeline} change ${patterns.join(', ')} in ${unit.repository}, and not ${path}`,
    }));
  if (new Set(paths).size < paths.length)
    problems.push({
      path: 'config.path',
      message: `clusters of ${unit.environment} would share a file: write {cluster} into the path`,
    });
  return problems;
}

/** `*` is any text without a slash, `**` any text. */
function compilePattern(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*|\*)/).map((part) => {
    if (part === '**') return '.*';
    return part === '*' ? '[^/]*' : part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`);
}
