import type { ConfigRepositoryClient } from '../../../client/operations/configuration';
import type { Difference } from '../../../configerator/repository/difference';
import type { RequestResult } from '../../../configerator/repository/requests';
import type { KnownSignatures } from '../../../configerator/subscriptions';

type Looks = Pick<ConfigRepositoryClient, 'changes' | 'change' | 'log' | 'value' | 'host' | 'why'>;

/** A repository of configuration together with a folder of its sources, for commands: on this machine, or through a server. */
export interface FolderClient extends Looks {
  readonly name: string;
  /** The signatures of the store's records. @throws ConveyorError `usage` through a server */
  signatures(path: string): Promise<KnownSignatures>;
  /** The changes that `propose` would make. */
  diff(folder: string, base: string | undefined): Promise<Difference>;
  /** @param base undefined for the base of the checkout, or the one that the folder remembers @throws ConveyorError `config-base-unknown` */
  propose(folder: string, message: string, base: string | undefined): Promise<ProposeOutcome>;
  /** Proposes values on top of the branch. */
  proposeValues(values: Readonly<Record<string, unknown>>, message: string): Promise<RequestResult>;
}

/** `basis`: the commit that the folder fully contains. A server reports only the first problem, as an error. */
export type ProposeOutcome =
  (RequestResult & { readonly basis: string | null }) | { readonly problems: readonly Problem[] };

interface Problem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}
