import { NO_VERSION, type Manifest, type ManifestEntry, type ReportPackage } from '../protocol';
import { AGENT_LIMITS } from './limits';
import type { Trouble } from './trouble';
import { getPackage, type AgentState, type InstallStep, type PackageState, type PackageRelease } from './state';

/** Decisions of an agent, from its durable state and the manifest alone. No clock takes part. */

/** A manifest that is refused as a whole. `name` is the package that is the cause, if it is one. */
export interface ManifestRefusal {
  readonly reason: string;
  readonly name?: string;
}

/**
 * Why the manifest is refused, although its signature is right: it belongs to another host, or it is older than one that was accepted. An attacker who
 * kept a signed manifest can gain nothing from it.
 */
export function whyNotAccept(state: AgentState, manifest: Manifest): ManifestRefusal | undefined {
  if (manifest.host !== state.host) return { reason: `the manifest is for the host ${JSON.stringify(manifest.host)}` };
  if (manifest.serial < state.serial)
    return { reason: `the manifest has the serial ${manifest.serial}, and ${state.serial} was accepted before` };
  for (const wanted of manifest.packages) {
    const reason = whyNotOffer(getPackage(state, wanted.name), wanted);
    if (reason !== undefined) return { reason: `${wanted.name}: ${reason}`, name: wanted.name };
  }
  return undefined;
}

function whyNotOffer({ generation, superseded, releases }: PackageState, wanted: ManifestEntry): string | undefined {
  if (wanted.generation < generation)
    return `the generation ${wanted.generation} is lower than ${generation}, which was accepted before`;
  if ('remove' in wanted) return undefined;
  if (superseded.includes(wanted.version) && !wanted.revert)
    return `the version ${wanted.version} ran here before a newer one, and the manifest calls it no revert`;
  const folder = nameFolder(wanted.version, wanted.generation);
  if (releases.some((one) => one.folder === folder && one.digest !== wanted.digest))
    return `the generation ${wanted.generation} names two packages of the version ${wanted.version}`;
  return undefined;
}

/** The state after an accepted manifest. */
export function acceptManifest(state: AgentState, { serial, packages }: Manifest): AgentState {
  const next = packages.map(({ name, generation }) => [name, { ...getPackage(state, name), generation }] as const);
  return { ...state, serial, packages: { ...state.packages, ...Object.fromEntries(next) } };
}

/** The next work on a package. */
export type PackagePlan =
  | { readonly kind: 'keep' }
  | { readonly kind: 'remove' }
  | { readonly kind: 'install'; readonly target: PackageRelease; readonly isOnDisk: boolean };

/** Keeps the version that runs, and one whose target failed with this generation already. */
export function planPackage({ runs, failure, releases, removal }: PackageState, wanted: ManifestEntry): PackagePlan {
  if ('remove' in wanted) return { kind: removal === 'done' ? 'keep' : 'remove' };
  const { version, generation, digest } = wanted;
  if (runs?.digest === digest && runs.version === version) return { kind: 'keep' };
  if (failure?.digest === digest && failure.generation === generation) return { kind: 'keep' };
  const known = releases.find((one) => one.digest === digest && one.version === version);
  const folder = known?.folder ?? nameFolder(version, generation);
  const target = { version, generation, digest, folder, ...(wanted.install && { install: wanted.install }) };
  return { kind: 'install', target, isOnDisk: known !== undefined };
}

/** The folder of a release. No version can name another folder, and none begins with a dot. */
export const nameFolder = (version: string, generation: number): string =>
  `${version
    .replace(/[^A-Za-z0-9._+@-]/g, '_')
    .replace(/^[.-]/, '_')
    .slice(0, 120)}-${generation}`;

/** The package with an open step. */
export const beginInstall = (
  state: PackageState,
  step: Omit<InstallStep & { kind: 'install' }, 'kind' | 'begins'>,
): PackageState => ({ ...markPresent(state), step: { ...step, kind: 'install', begins: 0 } });

function markPresent({ removal: _, ...state }: PackageState): PackageState {
  return state;
}

/** The package is about to be taken away. */
export const beginRemoval = (state: PackageState): PackageState => ({ ...state, removal: 'begun' });

/** Nothing of the package is left but the numbers that keep old manifests out. */
export const endRemoval = ({ generation, superseded }: PackageState): PackageState => ({
  ...{ generation, superseded, releases: [], removal: 'done' },
});

/** The step begins once more; one that was interrupted too often is given up. */
export function countBegin(state: PackageState, step: InstallStep): PackageState {
  const begins = step.begins + 1;
  if (step.kind === 'install' && begins > AGENT_LIMITS.begins)
    return markRestore(state, step, `the installation was interrupted ${AGENT_LIMITS.begins} times`);
  return { ...state, step: { ...step, begins } };
}

/** The step has ended by an error that passes, and does not count as interrupted. */
export const uncountBegin = (state: PackageState): PackageState =>
  state.step === undefined ? state : { ...state, step: { ...state.step, begins: Math.max(0, state.step.begins - 1) } };

/** The package without its open step. */
export function endStep({ step: _, ...state }: PackageState): PackageState {
  return state;
}

export const markRestore = (state: PackageState, step: InstallStep, reason: string): PackageState => ({
  ...state,
  step: { ...step, kind: 'restore', begins: 0, reason: cutReason(reason) },
});

/** The target runs and is healthy. */
export function endInstall(state: PackageState, { target, revert }: InstallStep, identifier: string): PackageState {
  const { failure: _, step: __, ...rest } = state;
  const others = state.releases.filter(({ folder }) => folder !== target.folder);
  return {
    ...rest,
    runs: { ...target, identifier },
    releases: [target, ...others].slice(0, AGENT_LIMITS.releases),
    superseded: listSuperseded(state, target.version, revert),
  };
}

/** After a revert, versions since the one that returned are no longer older ones. */
function listSuperseded({ superseded, runs }: PackageState, version: string, revert: boolean): string[] {
  const at = superseded.indexOf(version);
  if (revert && at !== -1) return superseded.slice(0, at);
  if (revert || runs === undefined || runs.version === version) return superseded;
  return [...superseded.filter((one) => one !== runs.version), runs.version].slice(-AGENT_LIMITS.superseded);
}

/** The target failed before anything changed, or there was nothing to go back to. */
export const endFailed = (state: PackageState, target: PackageRelease, reason: string): PackageState =>
  endWithFailure(state, target, 'failed', reason);

/** The version of before runs again. */
export const endRestore = (
  state: PackageState,
  { target }: InstallStep,
  { reason, identifier }: { readonly reason: string; readonly identifier: string },
): PackageState => ({
  ...endWithFailure(state, target, 'rolled-back', reason),
  ...(state.runs && { runs: { ...state.runs, identifier } }),
});

function endWithFailure(
  state: PackageState,
  { version, generation, digest }: PackageRelease,
  kind: 'failed' | 'rolled-back',
  reason: string,
): PackageState {
  const { step: _, ...rest } = markPresent(state);
  return { ...rest, failure: { state: kind, version, generation, digest, reason: cutReason(reason) } };
}

const cutReason = (reason: string): string => reason.slice(0, AGENT_LIMITS.reasonCharacters);

/** Releases that stay on the disk; `current` is the folder to which the link leads. */
export const listKeptFolders = ({ runs, releases, step }: PackageState, current: string | null): ReadonlySet<string> =>
  new Set(
    [runs?.folder, current, step?.target.folder, step?.before, ...releases.map(({ folder }) => folder)].filter(
      (folder) => typeof folder === 'string',
    ),
  );

/** The version to which a manifest brings a package. */
export const nameWanted = (wanted: ManifestEntry): string => ('remove' in wanted ? NO_VERSION : wanted.version);

/**
 * The state of all packages for the server. A package that never ran has the version `none`. Trouble that passes is no failure, and covers one of before: it comes from a
 * new attempt.
 */
export function listReports(state: AgentState, troubles: ReadonlyMap<string, Trouble>): readonly ReportPackage[] {
  const names = new Set([...Object.keys(state.packages), ...troubles.keys()]);
  return [...names].flatMap((name): ReportPackage[] => {
    const { runs, failure, removal } = getPackage(state, name);
    const trouble = troubles.get(name);
    const running = { name, version: runs?.version ?? NO_VERSION, identifier: runs?.identifier ?? NO_VERSION };
    if (trouble !== undefined) return [{ ...running, ...describeTrouble(trouble, runs === undefined) }];
    if (failure !== undefined)
      return [{ ...running, state: failure.state, failedVersion: failure.version, reason: failure.reason }];
    if (removal === 'done') return [{ ...running, state: 'removed' }];
    return runs === undefined ? [] : [{ ...running, state: 'installed' }];
  });
}

function describeTrouble(
  { version, cause, reason: text }: Trouble,
  isAbsent: boolean,
): Pick<ReportPackage, 'state' | 'failedVersion' | 'reason' | 'trouble'> {
  const reason = cutReason(text);
  if (cause === 'refused') return { state: 'failed', failedVersion: version, reason };
  return { state: isAbsent ? 'removed' : 'installed', trouble: { cause, version, reason } };
}

export interface PollPace {
  /** Failed polls in a row. */
  readonly failures: number;
  readonly pollAfterSeconds: number;
  /** That of the last answer, in seconds. */
  readonly retryAfter?: number | undefined;
  /** From 0 up to 1. */
  readonly chance: number;
}

const FIRST_BACKOFF_MS = 1_000;
const MOST_BACKOFF_MS = 5 * 60_000;
const MOST_RETRY_MS = 86_400_000;

/**
 * Milliseconds until the next poll: the interval of the manifest with a tenth of jitter either way, after failures a random time up to a limit that doubles. A
 * server that was away is not met by all hosts at once.
 */
export function computeWait({ failures, pollAfterSeconds, retryAfter, chance }: PollPace): number {
  const interval = pollAfterSeconds * 1000;
  const least = Math.min((retryAfter ?? 0) * 1000, MOST_RETRY_MS);
  if (failures === 0) return Math.max(least, Math.round(interval * (0.9 + 0.2 * chance)));
  const most = Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(failures, 20), Math.max(MOST_BACKOFF_MS, interval));
  return Math.round(least + most * (0.5 + 0.5 * chance));
}
