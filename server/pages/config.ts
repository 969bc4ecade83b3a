import type { Context } from 'hono';
import { z } from 'zod';
import { answerInTime } from '../../client/inTime';
import { getStem } from '../../configerator/compiler/tree';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { PAGE_LIMITS } from '../../domain/limits';
import { renderConfigPage, renderConfigRepositoryPage } from '../../pages/config';
import { renderGatePage, renderGatesPage } from '../../pages/gates';
import type { ConfigRepositoryModel, ConfigValueModel, GateModel, GatesModel } from '../../pages/models';
import { renderConfigValuePage } from '../../pages/value';
import { locateChanges } from '../../render/config';
import { parseQuery } from '../body';
import { hostQuery, rowsQuery, valueQuery } from '../configSchemas';
import { pageFilter } from './looks';
import { createPageRow, getPathPart, type ReadPage, type PageSource } from './page';

/** Git and the store answer slowly, and their answers change with a landing. */
const GIT_SHARED_MS = 5_000;
/** Origins need a process of their own, which parses all sources. */
const ORIGINS_MS = 8_000;
/** How many releases are searched for changes, and for how long. */
const SEARCHED_RELEASES = { limit: 500, patienceMs: 1_500 } as const;
const GATES = 'gates/';

const repositoryQuery = rowsQuery.extend({ q: pageFilter });
/** The form sends empty fields. */
const valuePageQuery = valueQuery.extend({ host: hostQuery.shape.host.or(z.literal('')).default('') });

/** Repositories of configuration, their values, and the gates among these. */
export const CONFIG_PAGES: readonly ReadPage[] = [
  createPageRow({ link: 'Configuration', paths: ['/config', '/config.json'] }, (source) => ({
    read: () => Promise.resolve({ repositories: listRepositories(source) }),
    render: renderConfigPage,
    twin: () => Promise.resolve(listRepositories(source)),
  })),
  createPageRow({ paths: ['/config/:repository'] }, (source) => ({
    read: (c) => readRepository(c, source),
    render: renderConfigRepositoryPage,
  })),
  createPageRow({ paths: ['/config/:repository/value', '/config/:repository/value.json'] }, (source) => ({
    read: (c) => readValue(c, source),
    render: renderConfigValuePage,
  })),
  createPageRow({ link: 'Gates', paths: ['/gates', '/gates.json'] }, (source) => ({
    read: async () => ({ ...(await listGates(source)), hasRepository: listRepositories(source).length > 0 }),
    render: renderGatesPage,
    twin: () => listGates(source),
  })),
  createPageRow({ paths: ['/gates/:repository/:name{.+}'] }, (source) => ({
    read: (c) => readGate(c, source),
    render: renderGatePage,
  })),
];

const listRepositories = ({ config }: PageSource) =>
  config.configRepositories.map(({ name, branch }) => ({ name, branch }));

const askShared = <T>({ looks }: PageSource, key: string, look: () => Promise<T>): Promise<T> =>
  looks.read(`config ${key}`, look, GIT_SHARED_MS);

async function readRepository(c: Context, source: PageSource): Promise<ConfigRepositoryModel> {
  const { limit, q } = parseQuery(c, repositoryQuery);
  const { configuration, client } = source;
  const { name, branch } = configuration.settings(getPathPart(c, 'repository'));
  const [changes, log, { files }] = await Promise.all([
    askShared(source, `changes ${name} ${limit}`, () => configuration.changes(name, limit)),
    askShared(source, `log ${name} ${limit}`, () => configuration.log(name, limit)),
    askShared(source, `sources ${name}`, () => configuration.sources(name, null)),
  ]);
  const isOpen = changes.some(({ landed }) => landed === null);
  const releases = isOpen
    ? await answerInTime(
        askShared(source, 'releases', () => client.listReleases({ limit: SEARCHED_RELEASES.limit })),
        SEARCHED_RELEASES.patienceMs,
      )
    : [];
  const fitting = Object.keys(files).filter((path) => path.startsWith(q));
  return {
    ...{ repository: name, branch, limit, q },
    changes: locateChanges(changes, releases ?? []),
    releasesProblem: releases === undefined ? 'the releases of these changes did not arrive in time' : null,
    log: log.map(({ commit, author, at, subject, change }) => ({ commit, author, at, subject, change })),
    sources: fitting.slice(0, PAGE_LIMITS.sources.max),
    totalSources: fitting.length,
  };
}

async function readValue(c: Context, source: PageSource): Promise<ConfigValueModel> {
  const { path: given, change = null, host } = parseQuery(c, valuePageQuery);
  const { configuration } = source;
  const { name } = configuration.settings(getPathPart(c, 'repository'));
  // JSON loses its extension as a value.
  const path = given.replace(/\.json$/, '');
  const value = await readValueOrNull(source, name, path, change);
  if (value === null) await requireSourcePath(source, name, given);
  const [origins, onHost] = await Promise.all([
    readOrigins(source, name, value === null ? given : path),
    value === null || host === '' ? null : readHost(source, { repository: name, path, host, branch: value }),
  ]);
  return { repository: name, path: value === null ? given : path, change, value, ...origins, host: onHost };
}

/** @throws ConveyorError `not-found` for a path that is no source of the branch */
async function requireSourcePath(source: PageSource, name: string, path: string): Promise<void> {
  const { files } = await askShared(source, `sources ${name}`, () => source.configuration.sources(name, null));
  if (!Object.hasOwn(files, path)) throw conveyorError('not-found', { what: `${path} in ${name}` });
}

/** Null for a path that is no value. */
async function readValueOrNull(
  { configuration, looks }: PageSource,
  name: string,
  path: string,
  change: number | null,
) {
  const read = () => configuration.value(name, path, change);
  try {
    const { commit, value } = await looks.read(`config value ${name} ${change ?? ''} ${path}`, read, GIT_SHARED_MS);
    return { commit, value };
  } catch (error) {
    if (error instanceof ConveyorError && error.code === 'not-found') return null;
    throw error;
  }
}

async function readOrigins(
  source: PageSource,
  name: string,
  path: string,
): Promise<Pick<ConfigValueModel, 'origins' | 'originsProblem'>> {
  let originsProblem = 'where it comes from, and who has it, did not arrive in time; reload the page';
  const look = askShared(source, `why ${name} ${path}`, () => source.configuration.why(name, path)).catch(
    (error: unknown) => {
      if (error instanceof ConveyorError) originsProblem = error.message;
      throw error;
    },
  );
  const found = await answerInTime(look, ORIGINS_MS);
  if (found === undefined) return { origins: null, originsProblem };
  const { files, contributesTo, subscribers } = found;
  return { origins: { files, contributesTo, subscribers }, originsProblem: null };
}

interface HostQuestion {
  readonly repository: string;
  readonly path: string;
  readonly host: string;
  readonly branch: NonNullable<ConfigValueModel['value']>;
}

async function readHost(
  { configuration }: PageSource,
  { repository, path, host, branch }: HostQuestion,
): Promise<NonNullable<ConfigValueModel['host']>> {
  const known = await configuration.host(repository, { path, host });
  const nothing = { path, host, subscription: null, value: null, signatures: null };
  if ('unknown' in known) return { ...nothing, unknown: known.unknown, branch };
  const { subscription, value, signatures } = known;
  if (subscription === null)
    return { ...nothing, unknown: `${host} does not subscribe, or has been silent for a minute`, branch };
  return { path, host, subscription, value, unknown: null, signatures: signatures ?? null, branch: null };
}

/** The sources of a repository name its gates; a program below `gates/` counts as one, too. */
async function listGates(source: PageSource): Promise<GatesModel> {
  const unread: { readonly repository: string; readonly problem: string }[] = [];
  const lists = await Promise.all(
    listRepositories(source).map(async ({ name: repository }) => {
      try {
        const { files } = await askShared(source, `sources ${repository}`, () =>
          source.configuration.sources(repository, null),
        );
        const sources = Object.keys(files).filter((path) => path.startsWith(GATES) && GATE_SOURCE.test(path));
        return sources.map((path) => ({ repository, name: getStem(path).slice(GATES.length), source: path }));
      } catch (error) {
        if (!(error instanceof ConveyorError)) throw error;
        unread.push({ repository, problem: error.message });
        return [];
      }
    }),
  );
  return { gates: lists.flat(), unread };
}

const GATE_SOURCE = /(\.config\.ts|(?<!\.schema)\.json)$/;

async function readGate(c: Context, source: PageSource): Promise<GateModel> {
  const { name: repository } = source.configuration.settings(c.req.param('repository') ?? '');
  const name = getPathPart(c, 'name');
  const path = `${GATES}${name}`;
  const [value, origins] = await Promise.all([
    readValueOrNull(source, repository, path, null),
    readOrigins(source, repository, path),
  ]);
  if (value === null && (origins.origins?.files.length ?? 0) === 0)
    throw conveyorError('not-found', { what: `gate ${name} in ${repository}` });
  return { repository, name, value, ...origins };
}
