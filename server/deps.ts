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

/** What the front end asks of Conveyor. */
export type FrontClient = Omit<ConveyorClient, 'close'>;

/** What the front end takes of the configuration. */
export type FrontConfig = Pick<
  Registry,
  'access' | 'callbacks' | 'groups' | 'policy' | 'issuers' | 'configRepositories'
>;

export const getReadPolicy = ({ config, reads }: Pick<ServerDeps, 'config' | 'reads'>): ReadPolicy =>
  config.access.reads ?? reads;

export interface ServerDeps {
  /** As which the API asks; the actor of a request is the principal that it is known by. */
  readonly client: FrontClient;
  /** As which it asks for somebody whom an identity provider has put into groups; as `client` unless given. */
  clientAs?(who: Pick<CallerIdentity, 'principal' | 'groups'>): FrontClient;
  /** What counts now: each part is read anew by each request, and kept by nobody. */
  readonly config: FrontConfig;
  /** How the file of it stands; missing where there is none. */
  configState?(): ConfigState;
  /** Of the tokens of identity providers; without them those that the configuration lists are all. */
  readonly identities?: Pick<Identities, 'identify'>;
  /** Whoever comes says who they are: for a server that only this machine reaches. */
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
  /** Why Temporal stores nothing, where it answers; undefined where it does. Throws where nobody can tell. Without it `/readyz` does not say. */
  whyNothingIsStored?(): Promise<string | undefined>;
  /** Whether whoever only looks needs a token, where the configuration does not say. */
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
  /** Writes a line for whoever runs the server. */
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
  /** What changes something, of whoever has a token. */
  readonly commands: GateLimits;
  /** What only reads, of whoever has a token. */
  readonly api: GateLimits;
  /** Requests with a token that read repositories of configuration, which may be slow. */
  readonly configuration: GateLimits;
  /** Changes of configuration, and comparisons with sources. */
  readonly proposals: GateLimits;
  /** What reads all of the archive: for whoever has a token, and as many again for the others. */
  readonly statistics: GateLimits;
  /** Whatever else comes without a token that is known. */
  readonly strangers: GateLimits;
  readonly runs: GateLimits;
  /** What `doctor` asks: it takes half a minute on a bad night. */
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
