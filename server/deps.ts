import type { PageAcknowledgement } from '../client/answerPage';
import type { ConveyorClient } from '../client/api';
import type { SignOuts } from '../client/signOuts';
import type { PageQuery } from '../client/pipelinePages';
import type { ProgramWalls } from '../configerator/compiler/walls';
import type { CertificateLook } from '../domain/certificates';
import type { ExaminationView } from '../domain/examination';
import type { OpenCount, QueueBacklog } from '../domain/metrics';
import type { PipelineIndex } from '../domain/pipeline/pipelineIndex';
import type { Fetch } from '../sdk/request';
import type { PipelinePage } from '../domain/views';
import type { Archive } from '../archive/port';
import type { ReadPolicy } from '../settings/access';
import type { ConfigState } from '../settings/liveRegistry';
import type { Registry } from '../settings/registry';
import type { LinkSignIn } from '../settings/signInLink';
import type { ServerAudit } from './audit/audit';
import type { GateLimits } from './gate';
import type { Identities, CallerIdentity } from './identity';

/** The operations that the front end calls. */
export type FrontClient = Omit<ConveyorClient, 'close'>;

/** The configuration that the front end reads. */
export type FrontConfig = Pick<
  Registry,
  'access' | 'callbacks' | 'groups' | 'policy' | 'issuers' | 'configRepositories' | 'sessions'
> &
  Partial<Pick<Registry, 'slack' | 'settings'>>;

export const getReadPolicy = ({ config, reads }: Pick<ServerDeps, 'config' | 'reads'>): ReadPolicy =>
  config.access.reads ?? reads;

export interface ServerDeps {
  /** The client of the API itself; the actor of a request is the caller's principal. */
  readonly client: FrontClient;
  /** The client for a caller whose groups come from an identity provider; `client` by default. */
  clientAs?(who: Pick<CallerIdentity, 'principal' | 'groups'>): FrontClient;
  /** The current configuration: each request reads it again, and nothing caches it. */
  readonly config: FrontConfig;
  /** The state of its file; missing if there is none. */
  configState?(): ConfigState;
  /** Verifies tokens of identity providers. Without it only tokens of the configuration are accepted. */
  readonly identities?: Pick<Identities, 'identify' | 'confirm'>;
  /** Callers name themselves without proof. Only for a server that no other machine reaches. */
  readonly devLogin?: boolean;
  /** Where servers find the sign-outs of all servers. Without it no one signs in to pages. */
  readonly signOuts?: SignOuts;
  /** How links of `conveyor dev` sign its user in; only for a server that no other machine reaches. */
  readonly linkSignIn?: LinkSignIn | undefined;
  /** The client for webhook deliveries; by default `client`. */
  readonly deliveries?: FrontClient;
  readonly index: Pick<PipelineIndex, 'subscriptions'>;
  /** A page of the list of pipelines, filtered by Temporal. */
  pipelinePage(query: PageQuery): Promise<PipelinePage>;
  /** For metrics: open workflows by state; optional. */
  openCounts?(): Promise<readonly OpenCount[]>;
  /** For metrics: work that waits for workers; optional. */
  backlogs?(): Promise<readonly QueueBacklog[]>;
  /** For metrics: certificates for connections to Temporal and to configuration stores; optional. */
  certificates?(): Promise<readonly CertificateLook[]>;
  /** Tells a release that a person has acknowledged its page; false if it has ended. Without it such reports are refused. */
  answerPage?(answer: PageAcknowledgement): Promise<boolean>;
  /** Calls the Web API of Slack; by default over the network. */
  readonly slackFetch?: Fetch;
  /** For `doctor`: examines how far work gets. Without it `doctor` shows the result of `/readyz`. */
  examine?(): Promise<ExaminationView>;
  /**
   * Why Temporal cannot store anything; undefined if it can. Throws if Temporal does not answer. Without it `/readyz`
   * leaves this out.
   */
  whyNothingIsStored?(): Promise<string | undefined>;
  /** Whether readers need a token when the configuration does not specify it. */
  readonly reads: ReadPolicy;
  /** Missing if the configuration names no file for it. */
  readonly audit?: Pick<ServerAudit, 'ready' | 'record' | 'recordAnonymous' | 'read' | 'verify' | 'state'>;
  /** Missing if the configuration names none. */
  readonly archive?: Pick<Archive, 'mark' | 'tallies' | 'findReleases'>;
  /** The folder with copies of configuration repositories. */
  readonly copies: string;
  /** How this machine isolates configuration programs; without it no program runs. */
  programs?(): Promise<ProgramWalls>;
  readonly limits: ServerLimits;
  /** ms since the epoch. */
  now(): number;
  /** Writes a line to the operator's log. */
  log(line: string): void;
  /** True once the process was asked to end: it accepts no new work. */
  isDraining(): boolean;
}

/**
 * Deliveries, commands, readers, configuration, its proposals, statistics, callers without a token, action services and
 * examinations have separate queues, so that a burst in one never delays the others.
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
 * A forge gives up on a delivery after ten seconds, so a request that would wait longer is better refused. Reads
 * compete with commands for the same Temporal server, so only few run at once (`bench/readers.ts`).
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
