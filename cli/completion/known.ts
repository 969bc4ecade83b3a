import type { ConveyorClient } from '../../client/api';
import type { ActionView, ReleaseSummary } from '../../domain/views';
import type { Candidate, Known } from './wanted';

/** More than this nobody reads in a terminal. */
const LIMIT = 50;

/** Of a release that does not answer the others are not to wait. */
const AT_ONCE = 10;

type Found = (candidates: readonly Candidate[]) => void;

/**
 * Asks a server for what could stand where the cursor is. What is there comes as soon as it is: of several who are asked, those that
 * answer are not lost with one that does not.
 */
export async function lookUp(client: ConveyorClient, of: Known, pipeline: string, found: Found): Promise<void> {
  const sources = sourcesOf(client, of, pipeline, found);
  await Promise.all(sources.map((source) => source.then(found, () => undefined)));
}

function sourcesOf(
  client: ConveyorClient,
  of: Known,
  pipeline: string,
  found: Found,
): readonly Promise<readonly Candidate[]>[] {
  switch (of) {
    case 'pipelines':
      return [pipelines(client)];
    case 'ids':
      return [pipelines(client), releases(client), deploys(client)];
    case 'running':
      return [releases(client), deploys(client)];
    case 'unsuccessful':
      return [releases(client, ({ state }) => state === 'failed' || state === 'cancelled')];
    case 'deploys':
      return [deploys(client)];
    case 'picks':
      return [actions(client, found, ({ pickBy, endedAt }) => pickBy !== null && endedAt === null)];
    case 'begun':
      return [actions(client, found, ({ startedAt }) => startedAt !== null)];
    case 'failures':
      return [actions(client, found, ({ state }) => state === 'failed')];
    case 'inputs':
      return [inputs(client, pipeline)];
    case 'deploy-actions':
      return [deployActions(client, pipeline)];
    case 'known-bad':
      return [knownBad(client, pipeline)];
  }
}

async function pipelines(client: ConveyorClient): Promise<Candidate[]> {
  const rows = await client.listPipelines({ limit: LIMIT });
  return rows.map(({ id, description }) => ({ value: id, description }));
}

const isUnderWay = ({ endedAt }: ReleaseSummary): boolean => endedAt === null;

async function releases(client: ConveyorClient, isMeant = isUnderWay): Promise<Candidate[]> {
  const rows = await client.listReleases({ limit: LIMIT });
  return rows.filter(isMeant).map(({ id, state, artifacts }) => ({
    value: id,
    description: [state, ...artifacts.map(({ name, version }) => `${name}=${version}`)].join(' '),
  }));
}

async function deploys(client: ConveyorClient): Promise<Candidate[]> {
  const rows = await client.listDeploys({ limit: LIMIT });
  return rows
    .filter(({ endedAt }) => endedAt === null)
    .map(({ id, state, version }) => ({ value: id, description: `${state} ${version}` }));
}

/** Only releases themselves know their actions. */
async function actions(client: ConveyorClient, found: Found, isMeant: (action: ActionView) => boolean): Promise<[]> {
  const running = (await client.listReleases({ limit: LIMIT })).filter(({ endedAt }) => endedAt === null).values();
  const ask = async (): Promise<void> => {
    for (const { id } of running) {
      const status = await client.status(id).catch(() => undefined);
      if (status?.kind === 'release')
        found(status.actions.filter(isMeant).map(({ name, type }) => ({ value: `${id}/${name}`, description: type })));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  return [];
}

async function inputs(client: ConveyorClient, pipeline: string): Promise<Candidate[]> {
  const { artifacts } = await client.spec(pipeline);
  return Object.keys(artifacts).map((name) => ({ value: `${name}=`, description: 'and its version' }));
}

async function deployActions(client: ConveyorClient, pipeline: string): Promise<Candidate[]> {
  const spec = await client.spec(pipeline);
  return Object.entries(spec.actions)
    .filter(([, { type }]) => type === 'deploy')
    .map(([value, { type }]) => ({ value, description: type }));
}

async function knownBad(client: ConveyorClient, pipeline: string): Promise<Candidate[]> {
  const status = await client.status(pipeline);
  const bad = status.kind === 'pipeline' ? status.knownBad : [];
  return bad.map(({ artifact, reason }) => ({ value: artifact.replace(/#.*$/, ''), description: reason }));
}
