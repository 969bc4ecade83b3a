import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ArchiveSettings } from '../../platform/archive/settings';
import type { ConfigRepositorySettings } from '../../platform/configRepositories';
import type { Env } from '../../platform/env';
import { installRoot, loadRegistry, type Registry } from '../../platform/registry';
import type { NamedPlaces } from './manifest';

/** Where this machine keeps what belongs into a backup; all paths are absolute. */
export interface BackupPlaces {
  /** Of Temporal; its log of writes lies beside it. */
  readonly database: string;
  readonly archive: string | null;
  readonly audit: string | null;
  /** The state of the service of configuration. */
  readonly state: string;
  /** Repositories of configuration on this machine. */
  readonly repositories: readonly ConfigRepositorySettings[];
  readonly configuration: string;
  /** Those of them that an option or a variable names: a command without these looks elsewhere. */
  readonly named: NamedPlaces;
  /** In words. */
  readonly leftOut: readonly string[];
}

/** Where the options name another place than usual. */
export interface PlaceOptions {
  readonly db?: string;
  readonly state?: string;
}

/** @throws ConveyorError `config-invalid` */
export function backupPlaces(env: Env, { db, state }: PlaceOptions): BackupPlaces {
  const { archive, audit, configRepositories, file } = loadRegistry(undefined, env);
  const root = join(installRoot(), '.conveyor');
  const isHere = ({ git }: ConfigRepositorySettings): boolean => !/^[\w.@-]+:/.test(git);
  const places = {
    database: resolve(db ?? (env['CONVEYOR_TEMPORAL_DB'] || join(root, 'temporal.db'))),
    archive: archive !== null && 'file' in archive.store ? archive.store.file : null,
    audit: audit?.file ?? null,
    state: resolve(state ?? join(root, 'config', 'service.json')),
    repositories: configRepositories.filter(isHere),
    configuration: file,
  };
  return {
    ...places,
    named: namePlaces(env, { db, state }),
    leftOut: [
      'secrets: variables of the environment, files with keys, and tokens of conveyor login',
      'the fleet, and what push types and other extensions remember',
      ...nameArchiveElsewhere(archive),
      ...nameAbsent(places, state !== undefined),
      ...nameSettings({ file, audit }),
      ...nameRemoteRepositories(configRepositories.filter((one) => !isHere(one))),
      ...nameStores(configRepositories.filter((one) => isHere(one) && existsSync(one.git))),
    ],
  };
}

function namePlaces({ CONVEYOR_TEMPORAL_DB, CONVEYOR_CONFIG }: Env, { db, state }: PlaceOptions): NamedPlaces {
  const named = { db: db ?? CONVEYOR_TEMPORAL_DB, state, config: CONVEYOR_CONFIG };
  return Object.fromEntries(Object.entries(named).flatMap(([name, path]) => (path ? [[name, resolve(path)]] : [])));
}

/** The etcd that `conveyor dev --config` runs keeps its data beside the state of the service. */
export const storeFolder = ({ state }: Pick<BackupPlaces, 'state'>): string => join(dirname(state), 'etcd');

const nameArchiveElsewhere = (archive: ArchiveSettings | null): readonly string[] =>
  archive !== null && 'urlEnv' in archive.store
    ? [`the archive, which is in the database of ${archive.store.urlEnv}: back it up with pg_dump before this`]
    : [];

/** A command that reads other settings than the server does, or a disk that is not mounted, would leave it out in silence. */
function nameAbsent(
  { archive, audit, state, repositories }: Omit<BackupPlaces, 'leftOut' | 'named'>,
  isStateNamed: boolean,
): readonly string[] {
  const remembered =
    isStateNamed || repositories.length > 0 ? [['what the service of configuration remembers', state]] : [];
  const each = [
    ...[['the archive', archive], ['the audit', audit], ...remembered],
    ...repositories.map(({ name, git }) => [`the repository ${name}`, git]),
  ];
  return each.flatMap(([what, file]) => (file && !existsSync(file) ? [`${what}: ${file} is not there`] : []));
}

const nameSettings = ({ file, audit }: Pick<Registry, 'file' | 'audit'>): readonly string[] =>
  audit === null ? [`an audit: ${file} has none`] : [];

const nameRemoteRepositories = (repositories: Registry['configRepositories']): readonly string[] =>
  repositories.map(({ name }) => `the repository ${name}, which is on another machine`);

const nameStores = (repositories: Registry['configRepositories']): readonly string[] =>
  repositories.some(({ etcd }) => etcd !== null)
    ? ['etcd, which the service of configuration fills again from the repository']
    : [];
