import type { Artifact } from '../artifact';
import type { Principal } from '../principals';

/** Who may do what on this platform: `platform` of conveyor.config.yaml. Default grants nothing: what no rule allows is refused. */
export interface PlatformPolicy {
  /** May do everything, on record. */
  readonly admins: readonly Principal[];
  readonly pipelines: readonly PipelineRule[];
  readonly services: readonly ServiceRule[];
  readonly uses: readonly UseRule[];
  /** Whose pipelines may run scripts on the workers. */
  readonly scripts: readonly Principal[];
  /** Who may report bugs and close them. */
  readonly bugs: readonly Principal[];
  readonly protection: readonly ProtectionRule[];
}

/** Who may have pipelines of these names. Patterns here and below know only `*`, for any characters. */
export interface PipelineRule {
  readonly names: readonly string[];
  /** They create, apply and retire them. */
  readonly creators: readonly Principal[];
  /** Pipelines that may start these as children. */
  readonly parents: readonly string[];
}

/** What is deployed: units of a push type, by their names. */
export interface ServiceRule {
  readonly pushType: string;
  readonly units: readonly string[];
  /** Their pipelines may deploy these units, and they may evict the deploys of others. */
  readonly owners: readonly Principal[];
}

export const USE_KINDS = ['action-service', 'artifact-finder', 'data-source', 'mutex'] as const;
export type UseKind = (typeof USE_KINDS)[number];

export interface UseRule {
  readonly kind: UseKind;
  readonly names: readonly string[];
  /** Whose pipelines may use them. */
  readonly by: readonly Principal[];
}

/** Units by name, of any pipeline. */
export type ProtectedService = Omit<ServiceRule, 'owners'>;

/** A rule that cannot be removed by the owners of these pipelines, or of any pipeline that deploys to these units. */
export interface ProtectionRule {
  readonly pipelines: readonly string[];
  readonly services: readonly ProtectedService[];
  /** Of emergencies and picks: by people of these, never by whoever asked. */
  readonly approvals: { readonly count: number; readonly by: readonly Principal[] } | null;
  /** `false`: none at all. */
  readonly emergency: false | { readonly approvals: number } | null;
  /** Of every deploy. */
  readonly requires: {
    /** Names of health checks. */
    readonly checks: readonly string[];
    /** In ms. */
    readonly soak: number;
    readonly windows: boolean;
  };
  /** Of everything that is deployed: at least so many of these keys have signed it. */
  readonly signed: { readonly by: readonly string[]; readonly count: number } | null;
}

/** With which keys of the platform an artifact is signed for a pipeline, and why whatever else came with it counts for nothing. */
export interface Signers {
  readonly by: readonly string[];
  readonly not: readonly string[];
}

export type ReadSigners = (artifact: Artifact, pipeline: string) => Signers;

/** All that decisions depend on besides the request: as the configuration says now, never as somebody sent it. */
export interface PlatformFacts {
  /** Null without the section: owners alone decide then. */
  readonly policy: PlatformPolicy | null;
  readonly groups: Readonly<Record<string, readonly Principal[]>>;
  /** Missing where there are no keys: nothing is signed then. */
  readonly signers?: ReadSigners;
  /** Without what an identity provider says of whoever asks, and of nobody else; missing where `groups` are these. */
  readonly configured?: PlatformFacts['groups'];
  /** Of whoever asks: groups, also among these, that an identity provider says they are in. */
  readonly vouched?: readonly Principal[];
}
