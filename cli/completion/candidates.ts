import type { ConveyorClient } from '../../client/api';
import type { ActionView, ReleaseSummary } from '../../domain/views';
import type { Candidate, CandidateKind } from './completionRequest';

/** More than this is unreadable in a terminal. */
const MAX_CANDIDATES = 50;

/** A release that does not answer must not delay the others. */
const STATUS_REQUESTS_AT_ONCE = 10;

type OnCandidates = (candidates: readonly Candidate[]) => void;

/**
 * Asks a server for candidates at the cursor. Each answer is used separately, so a missing one costs only its own
 * candidates.
 */
export async function findCandidates(
  client: ConveyorClient,
  of: CandidateKind,
  pipeline: string,
  found: OnCandidates,
): Promise<void> {
  const sources = candidateSources(client, of, pipeline, found);
  await Promise.all(sources.map((source) => source.then(found, () => undefined)));
}

function candidateSources(
  client: ConveyorClient,
  of: CandidateKind,
  pipeline: string,
  found: OnCandidates,
): readonly Promise<readonly Candidate[]>[] {
  switch (of) {
    case 'pipelines':
      return [pipelineCandidates(client)];
    case 'ids':
      return [pipelineCandidates(client), releaseCandidates(client), deployCandidates(client)];
    case 'running':
      return [releaseCandidates(client), deployCandidates(client)];
    case 'unsuccessful':
      return [releaseCandidates(client, ({ state }) => state === 'failed' || state === 'cancelled')];
    case 'deploys':
      return [deployCandidates(client)];
    case 'picks':
      return [actionCandidates(client, found, ({ pickBy, endedAt }) => pickBy !== null && endedAt === null)];
    case 'begun':
      return [actionCandidates(client, found, ({ startedAt }) => startedAt !== null)];
    case 'failures':
      return [actionCandidates(client, found, ({ state }) => state === 'failed')];
    case 'inputs':
      return [inputCandidates(client, pipeline)];
    case 'deploy-actions':
      return [deployActionCandidates(client, pipeline)];
    case 'known-bad':
      return [listKnownBadCandidates(client, pipeline)];
  }
}

async function pipelineCandidates(client: ConveyorClient): Promise<Candidate[]> {
  const rows = await client.listPipelines({ limit: MAX_CANDIDATES });
  return rows.map(({ id, description }) => ({ value: id, description }));
}

const isRunningRelease = ({ endedAt }: ReleaseSummary): boolean => endedAt === null;

async function releaseCandidates(client: ConveyorClient, isMeant = isRunningRelease): Promise<Candidate[]> {
  const rows = await client.listReleases({ limit: MAX_CANDIDATES });
  return rows.filter(isMeant).map(({ id, state, artifacts }) => ({
    value: id,
    description: [state, ...artifacts.map(({ name, version }) => `${name}=${version}`)].join(' '),
  }));
}

async function deployCandidates(client: ConveyorClient): Promise<Candidate[]> {
  const rows = await client.listDeploys({ limit: MAX_CANDIDATES });
  return rows
    .filter(({ endedAt }) => endedAt === null)
    .map(({ id, state, version }) => ({ value: id, description: `${state} ${version}` }));
}

/** Only a release knows its actions. */
async function actionCandidates(
  client: ConveyorClient,
  found: OnCandidates,
  isMeant: (action: ActionView) => boolean,
): Promise<[]> {
  const running = (await client.listReleases({ limit: MAX_CANDIDATES }))
    .filter(({ endedAt }) => endedAt === null)
    .values();
  const ask = async (): Promise<void> => {
    for (const { id } of running) {
      const status = await client.status(id).catch(() => undefined);
      if (status?.kind === 'release')
        found(status.actions.filter(isMeant).map(({ name, type }) => ({ value: `${id}/${name}`, description: type })));
    }
  };
  await Promise.all(Array.from({ length: STATUS_REQUESTS_AT_ONCE }, ask));
  return [];
}

async function inputCandidates(client: ConveyorClient, pipeline: string): Promise<Candidate[]> {
  const { artifacts } = await client.spec(pipeline);
  return Object.keys(artifacts).map((name) => ({ value: `${name}=`, description: 'and its version' }));
}

async function deployActionCandidates(client: ConveyorClient, pipeline: string): Promise<Candidate[]> {
  const spec = await client.spec(pipeline);
  return Object.entries(spec.actions)
    .filter(([, { type }]) => type === 'deploy')
    .map(([value, { type }]) => ({ value, description: type }));
}

async function listKnownBadCandidates(client: ConveyorClient, pipeline: string): Promise<Candidate[]> {
  const status = await client.status(pipeline);
  const bad = status.kind === 'pipeline' ? status.knownBad : [];
  return bad.map(({ artifact, reason }) => ({ value: artifact.replace(/#.*$/, ''), description: reason }));
}
