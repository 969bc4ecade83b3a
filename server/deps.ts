import type { ConveyorClient } from '../client/api';
import type { PlatformPolicy } from '../domain/access/platform';
import type { PipelineIndex } from '../domain/pipeline/pipelineIndex';
import type { Policy } from '../domain/principals';
import type { SignInOffer } from '../domain/signIn';
import type { Access, Reads } from '../sdk/access';
import type { Callbacks } from '../sdk/callbacks';
import type { ServerAudit } from './audit/audit';
import type { GateLimits } from './gate';
import type { Identities, Identity } from './identity';

/** What the front end asks of Conveyor. */
export type FrontClient = Omit<ConveyorClient, 'close'>;

export interface ServerDeps {
  /** As which the API asks; the actor of a request is the principal that it is known by. */
  readonly client: FrontClient;
  /** As which it asks for somebody whom an identity provider has put into groups; as `client` unless given. */
  as?(who: Pick<Identity, 'principal' | 'groups'>): FrontClient;
  /** Of the tokens of identity providers; without them those that `access` lists are all. */
  readonly identities?: Pick<Identities, 'identify'>;
  /** Whoever comes says who they are: for a server that only this machine reaches. */
  readonly devLogin?: boolean;
  /** What `conveyor login` needs to know to sign somebody in. */
  readonly offers?: readonly SignInOffer[];
  /** As which deliveries of webhooks ask; the same one unless given. */
  readonly deliveries?: FrontClient;
  readonly index: Pick<PipelineIndex, 'subscriptions'>;
  readonly access: Access;
  /** Whether whoever only looks needs a token. */
  readonly reads: Reads;
  /** How action services say that a run has ended; null where nobody may. */
  readonly callbacks: Callbacks | null;
  /** Who is in which group, for owners that are one. */
  readonly groups: Policy['groups'];
  /** Whose admins read all of the audit. */
  readonly policy?: PlatformPolicy | null;
  /** Missing where the configuration names no file for it. */
  readonly audit?: Pick<ServerAudit, 'record' | 'stranger' | 'read' | 'verify' | 'failed'>;
  readonly limits: ServerLimits;
  /** ms since the epoch. */
  now(): number;
  /** Writes a line for whoever runs the server. */
  log(line: string): void;
  /** Becomes true when the process was asked to end: it is not ready for new work any more. */
  isDraining(): boolean;
}

/**
 * Deliveries, commands, readers, whoever has no token, and action services have lanes of their own, so that a burst of the one never
 * keeps the others waiting.
 */
export interface ServerLimits {
  readonly webhooks: GateLimits;
  /** What changes something, of whoever has a token. */
  readonly commands: GateLimits;
  /** What only reads, of whoever has a token. */
  readonly api: GateLimits;
  /** Whatever comes without a token that is known. */
  readonly strangers: GateLimits;
  readonly runs: GateLimits;
  /** All bodies of deliveries together. */
  readonly bodyBytes: number;
}

/**
 * A forge gives up on a delivery after ten seconds: who would wait longer is better sent away. Reads take their time from commands, since
 * both ask the same Temporal server: few of them go on at once (`bench/readers.ts`).
 */
export const DEFAULT_LIMITS: ServerLimits = {
  webhooks: { inFlight: 64, waiting: 1_000, waitMs: 8_000 },
  commands: { inFlight: 64, waiting: 256, waitMs: 8_000 },
  api: { inFlight: 16, waiting: 256, waitMs: 8_000 },
  strangers: { inFlight: 4, waiting: 256, waitMs: 8_000 },
  runs: { inFlight: 32, waiting: 1_000, waitMs: 4_000 },
  bodyBytes: 64 * 1_048_576,
};
