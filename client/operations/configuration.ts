import type { CommitInfo } from '../../configerator/repository/commits';
import type { Dependencies } from '../../configerator/repository/dependencies';
import type { Difference } from '../../configerator/repository/difference';
import type { ShownValue, SourceList } from '../../configerator/repository/views';
import type { ChangeInfo } from '../../configerator/repository/repository';
import type { ChangeRequest, WantedFiles, RequestResult } from '../../configerator/repository/requests';
import type { KnownSubscribers, KnownHost } from '../../configerator/subscriptions';
import { question, type ClientOf } from './row';

/** The sources of a value or the values of a file, and the subscribers of each of these values. */
export type ValueOrigins = Dependencies & { readonly subscribers: Readonly<Record<string, KnownSubscribers>> };

/**
 * Questions and proposals to a repository of configuration. The server itself checks who may propose, because
 * repositories have their own owners.
 */
export const CONFIG_OPERATIONS = {
  changes: question<[limit: number], readonly ChangeInfo[]>('GET /v1/config/{repository}/changes', (limit) => ({
    query: { limit },
  })),
  change: question<[number: number], ChangeInfo>('GET /v1/config/{repository}/changes/{n}', (n) => ({ params: { n } })),
  log: question<[limit: number], readonly CommitInfo[]>('GET /v1/config/{repository}/log', (limit) => ({
    query: { limit },
  })),
  /** The value in a change; null means the branch. */
  value: question<[path: string, change: number | null], ShownValue>(
    'GET /v1/config/{repository}/value',
    (path, change) => ({
      query: { path, change: change ?? undefined },
    }),
  ),
  host: question<[path: string, host: string], KnownHost>('GET /v1/config/{repository}/subscriber', (path, host) => ({
    query: { path, host },
  })),
  why: question<[path: string], ValueOrigins>('GET /v1/config/{repository}/why', (path) => ({ query: { path } })),
  /** Null means the newest commit of the branch. @throws ConveyorError `usage` for a commit that is not on it */
  sources: question<[base: string | null], SourceList>('GET /v1/config/{repository}/sources', (base) => ({
    query: { base: base ?? undefined },
  })),
  diff: question<[wanted: WantedFiles], Difference>('POST /v1/config/{repository}/diff', (wanted) => ({
    body: baseIfAny(wanted),
  })),
  /** The same key returns the same change; null means a new key. */
  propose: question<[request: ChangeRequest, key: string | null], RequestResult>(
    'POST /v1/config/{repository}/changes',
    (request, key) => ({
      ...{ body: baseIfAny(request), key },
    }),
  ),
};

export type ConfigRepositoryClient = ClientOf<typeof CONFIG_OPERATIONS>;

const baseIfAny = ({ base, ...rest }: { readonly base: string | null }): object =>
  base === null ? rest : { ...rest, base };
