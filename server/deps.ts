import type { ConveyorClient } from '../client/api';
import type { ProgramWalls } from '../config/compiler/walls';
import type { ExaminationView } from '../domain/examination';
import type { OpenCount, QueueBacklog } from '../domain/metrics';
import type { PipelineIndex } from '../domain/pipeline/pipelineIndex';
import type { Archive } from '../platform/archive/port';
import type { ReadPolicy } from '../platform/access';
import type { ConfigState } from '../platform/liveRegistry';
import type { Registry } from '../platform/registry';
import type { ServerAudit } from './audit/audit';
import type { GateLimits } from './gate';
import type { Identities, CallerIdentity } from './identity';

/** The operations that the front end calls. */
export type FrontClient = Omit<ConveyorClient, 'close'>;

/** The configuration that the front end reads. */
export type FrontConfig = Pick<
  Registry,
  'access' | 'callbacks' | 'groups' | 'policy' | 'issuers' | 'configRepositories'
>;

export const getReadPolicy = ({ config, reads }: Pick<ServerDeps, 'config' | 'reads'>): ReadPolicy =>
  config.access.reads ?? reads;

export interface ServerDeps {
  /** As which the API asks; the actor of a request is the principal that it is known by. */
  readonly client: FrontClient;
  /** The client for a caller whose groups come from an identity provider; `client` by default. */
  clientAs?(who: Pick<CallerIdentity, 'principal' | 'groups'>): FrontClient;
  /** The current configuration: each request reads it anew, and nothing caches it. */
  readonly config: FrontConfig;
  /** How the file of it stands; missing where there is none. */
  configState?(): ConfigState;
  /** Verifies tokens of identity providers. Without it only tokens of the configuration are accepted. */
  readonly identities?: Pick<Identities, 'identify'>;
  /** Callers name themselves without proof. Only for a server that no other machine reaches. */
  readonly devLogin?: boolean;
  /** As which deliveries of webhooks ask; the same one unless given. */
  readonly deliveries?: FrontClient;
  readonly index: Pick<PipelineIndex, 'subscriptions'>;
  /** For metrics: what runs, by its state. Without it they do not say. */
  openCounts?(): Promise<readonly OpenCount[]>;
  /** For metrics: what waits for workers. Without it they do not say. */
  backlogs?(): Promise<readonly QueueBacklog[]>;
  /** For `doctor`: how far work comes. Without it people see what `/readyz` says. */
  examine?(): Promise<ExaminationView>;
  /** Why Temporal cannot store anything; undefined where it can. Throws when Temporal does not answer. Without it `/readyz` leaves this out. */
  whyNothingIsStored?(): Promise<string | undefined>;
  /** Whether readers need a token when the configuration does not specify it. */
  readonly reads: ReadPolicy;
  /** Missing where the configuration names no file for it. */
  readonly audit?: Pick<ServerAudit, 'ready' | 'record' | 'recordAnonymous' | 'read' | 'verify' | 'state'>;
  /** Missing where the configuration names none. */
  readonly archive?: Pick<Archive, 'mark' | 'tallies'>;
  /** Where this machine keeps copies of repositories of configuration. */
  readonly copies: string;
  /** How programs of configuration are kept in on this machine; without it none of them runs. */
  programs?(): Promise<ProgramWalls>;
  readonly limits: ServerLimits;
  /** ms since the epoch. */
  now(): number;
  /** Writes a line to the operator's log. */
  log(line: string): void;
  /** Becomes true when the process was asked to end: it is not ready for new work any more. */
  isDraining(): boolean;
}

/**
 * Deliveries, commands, readers, configuration, its proposals, statistics, callers without a token, action services and examinations have lanes of their own, so that
 * a burst in one never keeps the others waiting.
 */
export interface ServerLimits {
  readonly webhooks: GateLimits;
  /** Requests with a token that change something. */
  readonly commands: GateLimits;
  /** Requests with a token that only read. */
  readonly api: GateLimits;
  /** Requests with a token that read repositories of configuration, which may be slow. */
  readonly configuration: GateLimits;
  /** Changes of configuration, and comparisons with sources. */
  readonly proposals: GateLimits;
  /** Requests that read the whole archive: one limit for callers with a token, and the same again for others. */
  readonly statistics: GateLimits;
  /** All other requests without a known token. */
  readonly strangers: GateLimits;
  readonly runs: GateLimits;
  /** Examinations by `doctor`, which can take half a minute. */
  readonly examinations: GateLimits;
  /** All bodies of deliveries together. */
  readonly bodyBytes: number;
}

/**
 * A forge gives up on a delivery after ten seconds: who would wait longer is better sent away. Reads take their time from commands, since
 * both ask the same Temporal server: few of them continue at once (`bench/readers.ts`).
 */
export const DEFAULT_LIMITS: ServerLimits = {
  webhooks: { inFlight: 64, waiting: 1_000, waitMs: 8_000 },
  commands: { inFlight: 64, waiting: 256, waitMs: 8_000 },
  api: { inFlight: 16, waiting: 256, waitMs: 8_000 },
  configuration: { inFlight: 64, waiting: 256, waitMs: 8_000 },
  proposals: { inFlight: 64, waiting: 256, waitMs: 8_000 },
  statistics: { inFlight: 2, waiting: 64, waitMs: 8_000 },
  strangers: { inFlight: 4, waiting: 256, waitMs: 8_000 },
  runs: { inFlight: 32, waiting: 1_000, waitMs: 4_000 },
  examinations: { inFlight: 32, waiting: 0, waitMs: 0 },
  bodyBytes: 64 * 1_048_576,
};
