import type { PipelineAgenda } from '../domain/agenda';
import type { AuditRecord } from '../domain/audit/record';
import type { OfferedCommand } from '../domain/commandOffers';
import type { PipelineSpec } from '../domain/spec/pipeline';
import type { AccountView, RightsView } from '../domain/sessions/account';
import type { StatsReport } from '../domain/stats/report';
import type { WhereView } from '../domain/where/view';
import type { LandedCommit, LocatedChange } from '../render/config';
import type { HostFacts, SubscribersByPath } from '../render/subscribers';
import type {
  DeployStatus,
  PipelinePage,
  PipelineStatus,
  PipelineSummary,
  ReleaseStatus,
  ReleaseSummary,
  WaitView,
} from '../domain/views';

/** The models of pages: answers of the API, put together. */

/** A release of a list, with its actions if its workflow answered in time. */
export interface ListedRelease {
  readonly release: ReleaseSummary;
  readonly status: ReleaseStatus | null;
}

/** The part of the first page that waits for its reader. */
export interface ForViewer {
  /** Releases that wait for an approval, a pick or a resume that the reader may give, and those that revert. */
  readonly releases: readonly ListedRelease[];
  /** Held and frozen pipelines that the reader may let continue. */
  readonly pipelines: readonly PipelineSummary[];
}

export interface HomeModel {
  /** Null while the server does not know the reader. */
  readonly forViewer: ForViewer | null;
  /** The ids of releases with a deploy that reverts. */
  readonly reverting: readonly string[];
  /** Releases that have not ended, newest first. */
  readonly underWay: readonly ListedRelease[];
  /** Held and frozen pipelines. */
  readonly stopped: readonly PipelineSummary[];
  /** Releases that failed within a day, newest first. */
  readonly failed: readonly ListedRelease[];
  /** Whether there is no pipeline at all. */
  readonly isEmpty: boolean;
}

/** The filters of the list of pipelines; an empty text filters nothing. */
export interface PipelineFilters {
  readonly q: string;
  readonly owner: string;
  readonly label: string;
  readonly state: string;
}

export interface PipelinesModel extends PipelinePage {
  readonly filters: PipelineFilters;
  /** The page is not the first one. */
  readonly isLater: boolean;
}

/** A part of a page that old information may lack. */
export interface MaybeStale {
  /** Why the information is old; null if it is present. */
  readonly stale: string | null;
}

/** An answer that is older than its life, and is read again for the next readers. */
export interface KeptState {
  /** When it was read. */
  readonly at: string;
  /** Why it could not be read again; null if it is being read. */
  readonly problem: string | null;
}

/** The commands that the reader may give on a page. */
export interface ButtonsModel {
  readonly commands: readonly OfferedCommand[];
  /** Why there are none, or not all that the state allows: the rule, and the people in it. */
  readonly why: string | null;
}

/** A part of a page that depends on its reader; null if the page knows none, or no command is possible. */
interface WithButtons {
  readonly buttons?: ButtonsModel | null;
}

/** A command that a person is about to give: its effect in numbers, and its inputs. */
export interface CommandModel {
  readonly command: Omit<OfferedCommand, 'effect'>;
  /** The effect in one sentence; null if the command is not possible, or not permitted. */
  readonly effect: string | null;
  /** The effect in numbers, one sentence each. */
  readonly consequences: readonly string[];
  /** Changes if the effect does: a form of another effect does nothing. */
  readonly seen: string;
  /** The fields that the person has filled in before a refusal. */
  readonly given: Readonly<Record<string, string>>;
  /** Why the command was not carried out; null before it is sent. */
  readonly refusal: Pick<ProblemModel, 'message' | 'hint'> | null;
  /** The names of the checks that may be skipped. */
  readonly checks: readonly string[];
  /** For a verb that starts a release. */
  readonly start?: StartFields;
}

/** The fields of a form that starts a release. */
export interface StartFields {
  /** A form that is sent twice starts one release. */
  readonly key: string;
  /** The inputs that the person may give a version; an empty field takes the latest one, if it is known. */
  readonly inputs: readonly { readonly name: string; readonly latest: string | null }[];
}

export interface PipelineModel extends MaybeStale, WithButtons {
  readonly pipeline: PipelineStatus;
  /** Its file; null if its workflow did not answer in time. */
  readonly spec: PipelineSpec | null;
  /** The newest releases whose workflows answered in time, newest first. */
  readonly newest: readonly ReleaseStatus[];
  /** The deploys of the newest release. */
  readonly deploys: readonly DeployStatus[];
}

export interface ReleaseModel extends MaybeStale, WithButtons {
  readonly release: ReleaseStatus;
  /** The records of its pipeline by which it can run again; null if they are not known, or not needed. */
  readonly pipeline?: Pick<PipelineStatus, 'rerunnable'> | null;
  readonly waits: readonly WaitView[];
  readonly deploys: readonly DeployStatus[];
}

export interface DeployModel extends MaybeStale, WithButtons {
  readonly deploy: DeployStatus;
}

/** A failure, in the words of the API. */
export interface ProblemModel {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly retryable: boolean;
}

export interface WhereModel {
  /** The revision as it was asked for; empty for the form alone. */
  readonly asked: string;
  readonly found: WhereView | null;
}

export interface StatsModel {
  /** The period, the grouping and the only category, as they were asked for; an empty category is all. */
  readonly filters: { readonly since: string; readonly by: string; readonly category: string };
  /** Null without an archive. */
  readonly report: StatsReport | null;
}

/** The filters of the audit; an empty text filters nothing. */
export interface AuditFilters {
  readonly pipeline: string;
  readonly actor: string;
  readonly outcome: string;
  /** A duration ago, or a time. */
  readonly since: string;
}

export interface AuditModel {
  readonly filters: AuditFilters;
  /** Null if the server keeps none. */
  readonly records: readonly AuditRecord[] | null;
  /** The cursor of older records; null if there are none. */
  readonly next: string | null;
  /** The page is not the first one. */
  readonly isLater: boolean;
}

/** Fourteen days of the pipelines of a page. */
export interface CalendarModel {
  /** The oldest of its answers; null if all are young. */
  readonly kept: KeptState | null;
  readonly filters: Omit<PipelineFilters, 'state'>;
  /** The first moment, and the first one after the last. */
  readonly from: string;
  readonly to: string;
  readonly agendas: readonly PipelineAgenda[];
  /** The cursor of the next page; null if there is none. */
  readonly next: string | null;
  /** The pipelines that fit the filters; null if Temporal did not count them in time. */
  readonly total: number | null;
  /** The page is not the first one. */
  readonly isLater: boolean;
}

/** Repositories of configuration, by name. */
export interface ConfigModel {
  readonly repositories: readonly { readonly name: string; readonly branch: string }[];
}

export interface ConfigRepositoryModel {
  readonly repository: string;
  readonly branch: string;
  /** Newest first, each with its release if that is known. */
  readonly changes: readonly LocatedChange[];
  /** Why the releases of the changes are not known; null if they are. */
  readonly releasesProblem: string | null;
  /** Landed commits, newest first. */
  readonly log: readonly LandedCommit[];
  /** How many changes and commits were asked for. */
  readonly limit: number;
  /** The beginning of the paths of sources. */
  readonly q: string;
  /** The paths of sources on the branch that fit, as far as they fit on a page. */
  readonly sources: readonly string[];
  readonly totalSources: number;
}

/** A value, its origins and its subscribers; or a source, and the values to which it contributes. */
export interface ConfigValueModel {
  readonly repository: string;
  readonly path: string;
  /** The change whose value is shown; null for that of the branch. */
  readonly change: number | null;
  /** Null for a source. */
  readonly value: { readonly commit: string | null; readonly value: string } | null;
  /** Null if they are not known. */
  readonly origins: ValueOriginFacts | null;
  /** Why the origins are not known; null if they are. */
  readonly originsProblem: string | null;
  /** The value on the host that was asked for; null if none was. */
  readonly host: HostFacts | null;
}

interface ValueOriginFacts {
  readonly files: readonly string[];
  readonly contributesTo: readonly string[];
  readonly subscribers: SubscribersByPath;
}

/** Gates of repositories of configuration: values below `gates/`. */
export interface GatesModel {
  readonly gates: readonly { readonly repository: string; readonly name: string; readonly source: string }[];
  /** Repositories that were not read, with the reason. */
  readonly unread: readonly { readonly repository: string; readonly problem: string }[];
}

/** A gate is a value; its subscribers are the hosts that follow it. */
export interface GateModel extends Pick<ConfigValueModel, 'repository' | 'value' | 'origins' | 'originsProblem'> {
  /** `checkout` for the value `gates/checkout`. */
  readonly name: string;
}

/** The reader, their rights, and for admins the settings in force. */
export interface SettingsModel {
  /** Null for an anonymous reader. */
  readonly account: (RightsView & Partial<Pick<AccountView, 'session'>>) | null;
  /** How a reader without a session proved who they are, and until when that is valid; null for an anonymous reader. */
  readonly token: { readonly door: string; readonly expiresAt: string | null } | null;
  /** Whether anonymous callers may read. */
  readonly reads: 'open' | 'authenticated';
  /** The settings in force, without secrets; null for readers who may not see them. */
  readonly settings: readonly SettingsGroup[] | null;
  /** Why the reader does not see them; null if they do. */
  readonly why: string | null;
}

/** A part of the settings: names and values as the server uses them. */
export interface SettingsGroup {
  /** The key of conveyor.config.yaml, or a name. */
  readonly name: string;
  readonly rows: readonly (readonly [name: string, value: string])[];
}
