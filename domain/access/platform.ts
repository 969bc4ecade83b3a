import type { Artifact } from '../artifact';
import type { Principal } from '../principals';

/** Access rules of the platform: `platform` of conveyor.config.yaml. Everything that no rule allows is refused. */
export interface PlatformPolicy {
  /** They may do everything, which is recorded. */
  readonly admins: readonly Principal[];
  readonly pipelines: readonly PipelineRule[];
  readonly services: readonly ServiceRule[];
  readonly uses: readonly UseRule[];
  /** Principals whose pipelines may run scripts on the workers. */
  readonly scripts: readonly Principal[];
  /** The principals who may report and close bugs. */
  readonly bugs: readonly Principal[];
  readonly protection: readonly ProtectionRule[];
}

/**
 * The principals who may have pipelines with these names. In patterns here and below, only `*` is special: it stands
 * for any characters.
 */
export interface PipelineRule {
  readonly names: readonly string[];
  /** They create, apply and retire them. */
  readonly creators: readonly Principal[];
  /** Pipelines that may start these as children. */
  readonly parents: readonly string[];
}

/** Units of a push type, by name. */
export interface ServiceRule {
  readonly pushType: string;
  readonly units: readonly string[];
  /** Their pipelines may deploy to these units, and they may evict the deploys of others. */
  readonly owners: readonly Principal[];
}

export const USE_KINDS = ['action-service', 'artifact-finder', 'data-source', 'mutex'] as const;
export type UseKind = (typeof USE_KINDS)[number];

export interface UseRule {
  readonly kind: UseKind;
  readonly names: readonly string[];
  /** Principals whose pipelines may use them. */
  readonly by: readonly Principal[];
}

/** Units by name, of any pipeline. */
export type ProtectedService = Omit<ServiceRule, 'owners'>;

/** A rule that cannot be removed by the owners of these pipelines, or of any pipeline that deploys to these units. */
export interface ProtectionRule {
  readonly pipelines: readonly string[];
  readonly services: readonly ProtectedService[];
  /** For emergencies and picks: approvals by these people, never by the requester. */
  readonly approvals: { readonly count: number; readonly by: readonly Principal[] } | null;
  /** `false` forbids emergencies. */
  readonly emergency: false | { readonly approvals: number } | null;
  /** Requirements of every deploy. */
  readonly requires: {
    /** Names of health checks. */
    readonly checks: readonly string[];
    /** In ms. */
    readonly soak: number;
    readonly windows: boolean;
  };
  /** For all deployed artifacts: the number of these keys that must have signed them. */
  readonly signed: { readonly by: readonly string[]; readonly count: number } | null;
}

/** The platform keys that have signed an artifact for a pipeline, and why its other attestations do not count. */
export interface Signers {
  readonly by: readonly string[];
  readonly not: readonly string[];
}

export type ReadSigners = (artifact: Artifact, pipeline: string) => Signers;

/** The basis of decisions, in addition to the request: from the present configuration, never from a message. */
export interface PlatformFacts {
  /** Null without the section: then only owners decide. */
  readonly policy: PlatformPolicy | null;
  readonly groups: Readonly<Record<string, readonly Principal[]>>;
  /** Missing without keys: then nothing counts as signed. */
  readonly signers?: ReadSigners;
  /** The groups without those of the requester at an identity provider; missing if they are the same as `groups`. */
  readonly configured?: PlatformFacts['groups'];
  /** The requester's groups at an identity provider, which are also in `groups`. */
  readonly vouched?: readonly Principal[];
}
