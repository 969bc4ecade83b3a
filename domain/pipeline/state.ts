import { identityOf, isVersionOf, identified, type Artifact } from '../artifact';
import type { Replaced } from '../brought';
import type { HeldUnits } from '../deploy/held';
import type { Inheritance } from '../deploy/planRevert';
import { STATE_LIMITS } from '../limits';
import { FREE_MUTEX, type Mutex } from '../mutex';
import { DEFAULT_SETTINGS, type Settings } from '../settings';
import type { PipelineSpec } from '../spec/pipeline';
import { formatTime } from '../text';
import type { Proofs } from '../proof';
import type { CommandRecord } from '../verbs';
import type { HistoryRow, Omitted, Trigger } from '../views';

/** What a pipeline remembers for ever; carried across continue-as-new (docs/design/workflows.md#state). */
export interface PipelineState {
  readonly spec: PipelineSpec;
  /** The platform's groups, for owners that are one. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  readonly settings: Settings;
  readonly nextNumber: number;
  readonly active: readonly ActiveRelease[];
  /** Deploys that releases are ready to run: `deploy` actions exclude each other between releases. */
  readonly deploys: Mutex;
  readonly ready: readonly ReadyAction[];
  /** The pipeline's own exclusion groups, by name; one that nobody ever asked for is missing. */
  readonly mutexes: Readonly<Record<string, Mutex>>;
  /** Per deploy action, and per pick, the newest release that began it: no older one may begin it any more. */
  readonly newestBegun: Readonly<Record<string, number>>;
  /** Per deploy action whose window counts them: releases, and when they began, in ms. */
  readonly begunAt?: Readonly<Record<string, readonly (readonly [release: number, atMs: number])[]>>;
  /** Per deploy action what succeeded, newest last: what a rollback goes back to. */
  readonly good: Readonly<Record<string, readonly GoodDeploy[]>>;
  /** Per deploy action what its units ran before a deploy that had to make way: what the next one reverts to. */
  readonly inherited: Readonly<Record<string, Inheritance>>;
  /** Of so many units of each action, or pages of them, what they ran before had no room; a revert takes them back to what it finds. */
  readonly inheritedOmitted?: Omitted;
  readonly knownBad: readonly KnownBad[];
  /** So many more had no room in the list: deploys stay held for good. */
  readonly badUnlisted?: number;
  /** The latest value of each artifact that the pipeline takes, by name. */
  readonly inputs: Readonly<Record<string, Artifact>>;
  /** Of each of them versions that another took the place of, newest last. */
  readonly followed: Readonly<Record<string, readonly string[]>>;
  /** When the newest push was made that a webhook brought of each of them, in ms: an older one starts nothing. */
  readonly pushed?: Readonly<Record<string, number>>;
  /** What finders and webhooks brought after something newer; it starts nothing. */
  readonly late: readonly LateArtifact[];
  /** Of these, what follows a version that has not come yet, and is taken up after it. */
  readonly early?: readonly Artifact[];
  /** Deploys do not start … */
  readonly held: Held | null;
  /** … nothing starts. */
  readonly frozen: Held | null;
  /** It is not needed any more: once nothing of it runs, its workflow ends. */
  readonly retired?: Held;
  readonly revertsInARow: number;
  /** When a deploy last succeeded that brought something new: no rollback, nor what completes an earlier deploy. */
  readonly deployedAt?: string;
  /** Idempotency keys → release number, newest last. */
  readonly keys: readonly (readonly [string, number])[];
  readonly history: readonly HistoryRow[];
  readonly commands: readonly CommandRecord[];
  /** Who last imported records of it from a file, and when. */
  readonly imported?: Imported;
  /** Of what it has taken from whoever holds the platform's key. */
  readonly proofs?: Proofs;
}

export interface ActiveRelease {
  readonly number: number;
  readonly state: 'queued' | 'running';
  readonly artifacts: readonly Artifact[];
  readonly trigger: Trigger;
  readonly createdAt: string;
  readonly reportTo?: string;
  readonly emergency?: Emergency;
  readonly followOn?: FollowOn;
  /** The release that it runs again, … */
  readonly rerunOf?: number;
  /** … and the first in that line, where it stands among the others (domain/pipeline/place.ts). */
  readonly place?: number;
  /** A follow-on that is not needed any more, and knows. */
  readonly dropped?: true;
  /** It has begun to deploy: the calendar has let it through. */
  readonly deploying?: true;
  /** How many of its deploys are in the records already, by action. */
  readonly booked?: Readonly<Record<string, number>>;
  /** What other pipelines did to its versions before these were in the records, by action. */
  readonly replaced?: Readonly<Record<string, Replaced | null>>;
  /** One of them was reverted: of a release that counts once. */
  readonly reverted?: true;
  /** The release that it was asked to make way for. */
  readonly overtakenBy?: number;
  /** It was ended from outside, and what it began continues: in words. */
  readonly gone?: { readonly endedAt: string; readonly open: readonly string[] };
  /** With `gates: releases`, when the calendar lets it start; null: never; missing: not looked up yet. */
  readonly opensAtMs?: number | null;
}

/** An emergency push: that deploy only, now (docs/design/deploy.md#emergency-push). */
export interface Emergency {
  readonly action: string;
  readonly skipBake: boolean;
}

/** Brings units that a deploy left out, since they were unavailable, to its version when they return; `Trigger.of` says whose. */
export interface FollowOn {
  readonly action: string;
  readonly units: readonly string[];
  /** So many more there was no room for: they are shown as left behind. */
  readonly more?: number;
}

/** An action of a release that is ready but for what its pipeline has to grant. */
export interface ReadyAction {
  readonly release: number;
  readonly action: string;
  readonly artifacts: readonly Artifact[];
  /** A rollback goes first, whatever is held. */
  readonly rollback: boolean;
  /** What it asks for: to deploy (as releases did that did not say), to hold exclusion groups, or to let a person pick. */
  readonly kind?: 'deploy' | 'exclusive' | 'pick';
  readonly emergency?: boolean;
  /** An emergency that people approved after it was pushed. */
  readonly approved?: boolean;
  /** Exclusion groups of the pipeline. */
  readonly mutex?: readonly string[];
  /** Not before then: it cannot begin yet, and takes part so that a newer one may supersede it. */
  readonly later?: { readonly why: string; readonly untilMs: number };
  readonly readyAtMs?: number;
  /** When the calendar opens for it; null: never; missing: not looked up yet. */
  readonly opensAtMs?: number | null;
}

export interface GoodDeploy {
  /** 0: it ran before the first release. */
  readonly release: number;
  readonly version: string;
  readonly artifacts: readonly Artifact[];
  /** It comes from an import, and no worker saw it. */
  readonly imported?: true;
  /** The units that its deploy held; missing if they are not known. */
  readonly held?: HeldUnits;
  /** Since when it runs with no other deploy of the action in between; null: not everywhere any more. Missing from before this was kept. */
  readonly since?: string | null;
  /** The longest that it ran so before, in ms. */
  readonly ranMs?: number;
  /** Of the first: which units ran which version before it, where they ran several. */
  readonly over?: string;
  /** The release of another pipeline that brought it, after `release` of this one: `web-b/1`. */
  readonly by?: string;
  /** The units, in words, where a release of another pipeline has taken its place. */
  readonly partly?: { readonly by: string; readonly version: string; readonly on: string };
}

export interface Imported {
  readonly actor: string;
  readonly at: string;
  /** By an admin, or when no rules existed. */
  readonly vouched: boolean;
}

export interface KnownBad {
  /** Identity: `executable@kv:13`. */
  readonly artifact: string;
  readonly at: string;
  readonly reason: string;
}

export interface LateArtifact {
  /** Identity: `source@1a2b`. */
  readonly artifact: string;
  readonly at: string;
  /** The version that was the latest. */
  readonly behind: string;
}

export interface Held {
  readonly actor: string;
  readonly at: string;
  readonly reason: string;
  /** Of a freeze: when it lifts itself. */
  readonly until?: string;
}

export function newPipeline(spec: PipelineSpec, groups: PipelineState['groups'], settings: Settings): PipelineState {
  return {
    spec,
    groups,
    settings,
    nextNumber: 1,
    active: [],
    deploys: FREE_MUTEX,
    ready: [],
    mutexes: {},
    newestBegun: {},
    good: {},
    inherited: {},
    knownBad: [],
    inputs: {},
    followed: {},
    late: [],
    held: null,
    frozen: null,
    revertsInARow: 0,
    keys: [],
    history: [],
    commands: [],
  };
}

/** A state as an earlier version of this code left it, with what has been added since. */
export const restored = ({ retired: _retired, ...carried }: PipelineState): PipelineState => ({
  ...newPipeline(carried.spec, carried.groups, carried.settings),
  ...carried,
  settings: { ...DEFAULT_SETTINGS, ...carried.settings },
});

/** A new release, queued; the pipeline starts it when there is room. */
export function created(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
  nowMs: number,
  more: Pick<ActiveRelease, 'reportTo' | 'emergency' | 'followOn' | 'rerunOf' | 'place'> = {},
): PipelineState {
  const number = state.nextNumber;
  // What goes back, or follows, is deployed by what is good: it is looked up there when it starts.
  const known = trigger.kind === 'rollback' || trigger.kind === 'follow-on' ? artifacts.map(identified) : artifacts;
  const createdAt = formatTime(nowMs);
  const release: ActiveRelease = { number, state: 'queued', artifacts: known, trigger, createdAt, ...more };
  return withKey({ ...state, nextNumber: number + 1, active: [...state.active, release] }, trigger, number);
}

/** Whoever asks again with this key is given this release. */
export const withKey = (state: PipelineState, { key }: Trigger, number: number): PipelineState =>
  key === null || state.keys.some(([known]) => known === key)
    ? state
    : { ...state, keys: [...state.keys, [key, number] as const].slice(-STATE_LIMITS.keys.max) };

/** It runs, with all that it needs in its own input; the pipeline knows its artifacts by what identifies them. */
export const started = (state: PipelineState, number: number): PipelineState => ({
  ...state,
  active: state.active.map((release) =>
    release.number === number
      ? { ...release, state: 'running' as const, artifacts: release.artifacts.map(identified) }
      : release,
  ),
});

/** What units that run several versions go back to: never a version that only an import calls good, unless an admin vouched for it. */
export const goesBackTo = ({ imported }: PipelineState, deploy: GoodDeploy | undefined): string | null =>
  deploy === undefined || (deploy.imported && imported?.vouched !== true) ? null : deploy.version;

export const isKnownBad = (state: PipelineState, artifact: Artifact): KnownBad | undefined =>
  state.knownBad.find((bad) => bad.artifact === identityOf(artifact));

/** As `isKnownBad`, whatever digest it was known to be bad with: a version without its digest, or with another, is no good one. */
export const isBadVersion = (state: PipelineState, { name, version }: Artifact): KnownBad | undefined =>
  state.knownBad.find(({ artifact }) => isVersionOf(artifact, `${name}@${version}`));

export const allowed = (state: PipelineState, nameAtVersion: string): PipelineState => ({
  ...state,
  knownBad: state.knownBad.filter(({ artifact }) => !isVersionOf(artifact, nameAtVersion)),
});

export const heldBy = (state: PipelineState, actor: string, reason: string, nowMs: number): PipelineState => ({
  ...state,
  held: { actor, reason, at: formatTime(nowMs) },
});

/** What the next deploy of an action inherits. Nothing is none: it goes back to what it finds. */
export function withInherited(
  inherited: PipelineState['inherited'],
  action: string,
  inheritance: Inheritance | null,
): PipelineState['inherited'] {
  const { [action]: _before, ...others } = inherited;
  return inheritance === null ? others : { ...others, [action]: inheritance };
}
