import { parseId } from '../domain/ids';
import type { DeploySummary, HistoryRow, PipelineSummary, ReleaseSummary } from '../domain/views';
import type { ConveyorClient } from './api';

/** The state that workflows last left in Temporal's visibility, which can be read without a worker. */
interface LastKnownState {
  readonly pipelines: readonly PipelineSummary[];
  readonly releases: readonly ReleaseSummary[];
  readonly deploys: readonly DeploySummary[];
}

type Lists = Pick<ConveyorClient, 'listPipelines' | 'listReleases' | 'listDeploys'>;

const MAX_STALE_ROWS = 200;

/** A pipeline with its releases and deploys, or a single release or deploy, by id. Nothing for an invalid id. */
export async function lastKnown(client: Lists, text: string): Promise<LastKnownState> {
  const id = parseId(text);
  if (id === undefined) return { pipelines: [], releases: [], deploys: [] };
  const query = { pipeline: id.pipeline, limit: MAX_STALE_ROWS };
  const [pipelines, releases, deploys] = await Promise.all([
    client.listPipelines(query),
    client.listReleases(query),
    client.listDeploys(query),
  ]);
  if (id.kind === 'pipeline') return { pipelines, releases, deploys };
  const release = `${id.pipeline}/${id.number}`;
  return {
    pipelines: [],
    releases: releases.filter((one) => one.id === release),
    deploys: deploys.filter((one) => (id.kind === 'action' ? one.id === text : one.id.startsWith(`${release}/`))),
  };
}

/** Marks old information, with the reason. */
export interface Stale {
  readonly live: false;
  readonly problem: string;
}

/**
 * In the form of `status`, as far as known: fields that only the workflow knows are empty. Undefined if nothing is
 * known.
 */
export async function lastKnownStatus(
  client: Lists,
  text: string,
  problem: string,
): Promise<(Stale & Readonly<Record<string, unknown>>) | undefined> {
  const { pipelines, releases, deploys } = await lastKnown(client, text);
  const stale = { live: false, problem } as const;
  const [pipeline, release, deploy] = [pipelines[0], releases[0], deploys[0]];
  switch (parseId(text)?.kind) {
    case 'pipeline':
      return pipeline && { ...pipeline, releases, ...stale };
    case 'release':
      return release && { ...release, actions: [], deploys, ...stale };
    case 'action':
      return deploy && { ...deploy, summary: problem, phases: [], ...stale };
    default:
      return undefined;
  }
}

/** In the form of `history`. */
export async function lastKnownHistory(
  client: Lists,
  pipeline: string,
  problem: string,
): Promise<readonly (HistoryRow & Stale)[]> {
  const { releases, deploys } = await lastKnown(client, pipeline);
  return releases.map((release) => ({
    ...release,
    durationMs: release.endedAt === null ? null : Date.parse(release.endedAt) - Date.parse(release.startedAt),
    deploys: deploys.flatMap(({ id, outcome, classification, version }) =>
      id.startsWith(`${release.id}/`) && outcome !== null && classification !== null
        ? [{ action: id.slice(release.id.length + 1), outcome, classification, version }]
        : [],
    ),
    live: false,
    problem,
  }));
}
