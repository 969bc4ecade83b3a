import type { ChangeInfo } from '../../../config/repository/repository';
import type { Dependencies } from '../../../config/repository/dependencies';
import type { Difference } from '../../../config/repository/differing';
import type { ShownValue } from '../../../config/repository/looking';
import type { RequestResult } from '../../../config/repository/requests';
import type { CommitInfo } from '../../../config/repository/commits';
import type { KnownSubscribers, KnownHost, KnownSignatures } from '../../../config/subscriptions';

/** A repository of configuration, as commands ask it: on this machine, or through a server. */
export interface ConfigRepositoryClient {
  readonly name: string;
  changes(limit: number): Promise<readonly ChangeInfo[]>;
  log(limit: number): Promise<readonly CommitInfo[]>;
  /** @param change null: as it is on the branch */
  value(path: string, change: number | null): Promise<ShownValue>;
  host(path: string, host: string): Promise<KnownHost>;
  /** The signatures of the store's records. @throws ConveyorError `usage` through a server */
  signatures(path: string): Promise<KnownSignatures>;
  why(path: string): Promise<ValueOrigins>;
  /** The changes that `propose` would make. */
  diff(folder: string, base: string | undefined): Promise<Difference>;
  /** @param base undefined for the base of the checkout, or the one that the folder remembers @throws ConveyorError `config-base-unknown` */
  propose(folder: string, message: string, base: string | undefined): Promise<ProposeOutcome>;
}

/** Where a value comes from or what a file contributes to, and who subscribes to each of these values. */
export type ValueOrigins = Dependencies & { readonly subscribers: Readonly<Record<string, KnownSubscribers>> };

/** `basis`: the commit of which the folder has everything. A server reports only the first problem, as an error. */
export type ProposeOutcome =
  (RequestResult & { readonly basis: string | null }) | { readonly problems: readonly Problem[] };

interface Problem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}
