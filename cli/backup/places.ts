import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ArchiveSettings } from '../../settings/archive';
import type { ConfigRepositorySettings } from '../../settings/configRepositories';
import type { Env } from '../../settings/env';
import { installRoot, loadRegistry, type Registry } from '../../settings/registry';
import type { NamedPlaces } from './manifest';

/** The places on this machine of everything that a backup contains; all paths are absolute. */
export interface BackupPlaces {
  /** The database of Temporal; its write-ahead log is in the same folder. */
  readonly database: string;
  readonly archive: string | null;
  readonly audit: string | null;
  /** The state of the configuration service. */
  readonly state: string;
  /** Repositories of configuration on this machine. */
  readonly repositories: readonly ConfigRepositorySettings[];
  readonly configuration: string;
  /** Places named by an option or a variable: a command without these looks elsewhere. */
  readonly named: NamedPlaces;
  /** In words. */
  readonly leftOut: readonly string[];
}

/** Places from options, if they differ from the usual ones. */
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
      'the fleet, and the memory of push types and other extensions',
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

/** The data folder of the etcd of `conveyor dev --config`, next to the state of the service. */
export const storeFolder = ({ state }: Pick<BackupPlaces, 'state'>): string => join(dirname(state), 'etcd');

const nameArchiveElsewhere = (archive: ArchiveSettings | null): readonly string[] =>
  archive !== null && 'urlEnv' in archive.store
    ? [`the archive, which is in the database of ${archive.store.urlEnv}: back it up with pg_dump before this`]
    : [];

/** Otherwise a command with other settings than the server, or an unmounted disk, would omit a part silently. */
function nameAbsent(
  { archive, audit, state, repositories }: Omit<BackupPlaces, 'leftOut' | 'named'>,
  isStateNamed: boolean,
): readonly string[] {
  const remembered = isStateNamed || repositories.length > 0 ? [['the state of the configuration service', state]] : [];
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
    ? ['etcd, which the configuration service refills from the repository']
    : [];
