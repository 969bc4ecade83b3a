import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ManifestPackage } from '../protocol';
import { TarError } from '../../hosts/tarEntries';
import type { CommandEnd } from './commands';
import {
  beginInstall,
  countBegin,
  endFailed,
  endInstall,
  endRestore,
  endStep,
  listKeptFolders,
  markRestore,
  planPackage,
  uncountBegin,
} from './decide';
import { removeOthers } from './disk';
import { AGENT_FILE, type AgentHome } from './home';
import { AGENT_LIMITS } from './limits';
import { COMMAND_SECOND_MS, runPackageCommand, type PackagePlace } from './packageCommand';
import {
  AGENT_PACKAGE,
  getPackage,
  setPackage,
  type InstallStep,
  type PackageState,
  type PackageRelease,
} from './state';
import { findCause } from './trouble';
import { unpackArchive } from './unpack';

/** The names of the steps of an installation and of a removal, in order. A crash before any of them ends in the same state as none. */
export type StepName =
  | 'download'
  | 'unpack'
  | 'begin'
  | 'install'
  | 'switch'
  | 'restart'
  | 'health'
  | 'record'
  | 'prune'
  | 'give-up'
  | 'restore'
  | 'restart-old'
  | 'record-failure'
  | 'begin-removal'
  | 'stop'
  | 'unlink'
  | 'delete'
  | 'record-removal';

export interface InstallerOptions {
  readonly home: AgentHome;
  /** The package as a file, once it is complete. */
  readonly download: (wanted: ManifestPackage) => Promise<string | undefined>;
  /** Called before each step. */
  readonly onStep: (name: string, step: StepName) => void;
  readonly log: (line: string) => void;
  readonly makeId: () => string;
  /** The environment of commands. */
  readonly env: Readonly<Record<string, string>>;
  /** The release of the agent that runs now; undefined for one that was installed by hand. */
  readonly ownFolder: string | undefined;
}

/** `replaced`: the next agent is in place, and this one has to end. */
export type InstallEnd = 'done' | 'partial' | 'replaced';

const HEALTH_EVERY_MS = 1_000;

/** Brings packages to their versions. Each step is durable before its effect, so a crash at any moment is followed by the same step. */
export class Installer {
  constructor(private readonly options: InstallerOptions) {}

  /** @throws the error of the network or the disk: the version of before runs, and the next call tries again */
  async bring(wanted: ManifestPackage): Promise<InstallEnd> {
    const { home } = this.options;
    const { name } = wanted;
    if (this.isAbandoned(name, wanted)) home.note(this.change(name, endStep));
    if (getPackage(home.state, name).step !== undefined) return this.resume(name);
    const plan = planPackage(getPackage(home.state, name), wanted);
    if (plan.kind !== 'install') return 'done';
    home.prepare(name);
    const target = this.avoidCurrent(name, plan.target, plan.isOnDisk);
    if (!plan.isOnDisk || !existsSync(home.release(name, target.folder))) {
      const end = await this.fetch(wanted, target);
      if (end !== 'ready') return end === 'partial' ? 'partial' : 'done';
    }
    this.step(name, 'begin');
    const before = home.current(name);
    home.save(this.change(name, (state) => beginInstall(state, { target, before, revert: wanted.revert })));
    return this.resume(name);
  }

  /** Ends the open step of a package: the one that `bring` began, or one that a crash interrupted. */
  async resume(name: string): Promise<InstallEnd> {
    const { home } = this.options;
    const { step } = getPackage(home.state, name);
    if (step === undefined || this.isOnTrial(name, step)) return 'done';
    home.note(this.change(name, (state) => countBegin(state, step)));
    const begun = getPackage(home.state, name).step ?? step;
    try {
      if (begun.kind === 'restore') await this.restore(name, begun);
      else if ((await this.install(name, begun)) === 'replaced') return 'replaced';
    } catch (error) {
      // An error of the disk is no crash: the step begins again as often as it takes.
      if (['disk-full', 'disk'].includes(findCause(error))) home.note(this.change(name, uncountBegin));
      throw error;
    }
    this.prune(name);
    return 'done';
  }

  /** Whether an installation that has changed nothing yet is of another version than the wanted one. */
  private isAbandoned(name: string, { version, digest }: ManifestPackage): boolean {
    const { home } = this.options;
    const { step } = getPackage(home.state, name);
    if (step?.kind !== 'install' || home.current(name) === step.target.folder) return false;
    return step.target.version !== version || step.target.digest !== digest;
  }

  /** The new agent has reported: it stays. */
  confirmOwn(): void {
    const { home } = this.options;
    const { step } = getPackage(home.state, AGENT_PACKAGE);
    if (step === undefined || !this.isOnTrial(AGENT_PACKAGE, step)) return;
    home.promote(step.target.folder);
    this.record(AGENT_PACKAGE, step);
    this.prune(AGENT_PACKAGE);
  }

  /** Removes the remains of interrupted work. */
  clean(): void {
    for (const name of Object.keys(this.options.home.state.packages)) this.prune(name);
  }

  private isOnTrial(name: string, { kind, target }: InstallStep): boolean {
    return name === AGENT_PACKAGE && kind === 'install' && target.folder === this.options.ownFolder;
  }

  /** After a loss of the state, `current` may lead to the very folder that would be unpacked anew. */
  private avoidCurrent(name: string, target: PackageRelease, isOnDisk: boolean): PackageRelease {
    const { home, makeId } = this.options;
    if (isOnDisk || home.current(name) !== target.folder) return target;
    return { ...target, folder: `${target.folder}-${makeId().slice(0, 8)}` };
  }

  private async fetch(wanted: ManifestPackage, target: PackageRelease): Promise<'ready' | 'partial' | 'refused'> {
    const { home, download } = this.options;
    const { name, size } = wanted;
    if (size > AGENT_LIMITS.packageBytes)
      return this.refuse(name, target, `the package has ${size} bytes, and the limit is ${AGENT_LIMITS.packageBytes}`);
    this.step(name, 'download');
    const archive = await download(wanted);
    if (archive === undefined) return 'partial';
    this.step(name, 'unpack');
    try {
      await unpackArchive({ archive, into: home.release(name, target.folder) });
    } catch (error) {
      if (!(error instanceof TarError)) throw error;
      return this.refuse(name, target, `the package is refused: ${error.message}`);
    } finally {
      // On a full disk, room for the version that runs matters more.
      rmSync(archive, { force: true });
    }
    return 'ready';
  }

  private refuse(name: string, target: PackageRelease, reason: string): 'refused' {
    this.fail(name, target, reason);
    return 'refused';
  }

  private async install(name: string, step: InstallStep): Promise<'done' | 'replaced'> {
    const { home } = this.options;
    const { target, before } = step;
    this.step(name, 'install');
    const prepared = await this.run(name, target, target.install?.install);
    if (!prepared.isGood) return this.giveUp(name, step, `install: ${prepared.why}`);
    if (name === AGENT_PACKAGE && !existsSync(join(home.release(name, target.folder), AGENT_FILE)))
      return this.giveUp(name, step, `the package has no file ${AGENT_FILE}`);
    this.step(name, 'switch');
    home.prepareBack(name, before);
    home.switchTo(name, target.folder);
    if (name === AGENT_PACKAGE) return 'replaced';
    const whyNot = await this.start(name, target, { restart: 'restart', health: 'health' });
    if (whyNot !== undefined) return this.giveUp(name, step, whyNot);
    this.record(name, step);
    return 'done';
  }

  private record(name: string, step: InstallStep): void {
    const { home, makeId, log } = this.options;
    this.step(name, 'record');
    home.note(this.change(name, (state) => endInstall(state, step, makeId())));
    log(`${name}: ${step.target.version} runs (generation ${step.target.generation})`);
  }

  /** Starts a release; the reason if it does not become healthy in its time. */
  private async start(
    name: string,
    release: PackagePlace,
    steps: { readonly restart: StepName; readonly health?: StepName },
  ): Promise<string | undefined> {
    this.step(name, steps.restart);
    const started = await this.run(name, release, release.install?.restart);
    if (!started.isGood) return `restart: ${started.why}`;
    if (steps.health !== undefined) this.step(name, steps.health);
    const healthy = await this.awaitHealth(name, release);
    return healthy.isGood ? undefined : `health: ${healthy.why}`;
  }

  /** A service needs a moment to come up: its health is asked for until it is good, or its time is over. */
  private async awaitHealth(name: string, release: PackagePlace): Promise<CommandEnd> {
    const { install } = release;
    if (install?.health === undefined) return { isGood: true };
    const deadline = performance.now() + install.timeoutSeconds * COMMAND_SECOND_MS;
    for (;;) {
      const left = Math.max(1, Math.round(deadline - performance.now()));
      const end = await this.run(name, release, install.health, left);
      if (end.isGood || performance.now() + HEALTH_EVERY_MS >= deadline) return end;
      await delay(HEALTH_EVERY_MS);
    }
  }

  private async run(
    name: string,
    release: PackagePlace,
    argv: readonly string[] | undefined,
    timeoutMs?: number,
  ): Promise<CommandEnd> {
    return runPackageCommand(this.options, { name, release, argv, timeoutMs });
  }

  private async giveUp(name: string, step: InstallStep, reason: string): Promise<'done'> {
    const { home } = this.options;
    if (home.current(name) !== step.target.folder) {
      this.fail(name, step.target, reason);
      return 'done';
    }
    this.step(name, 'give-up');
    // Also on a full disk: after a crash the same version would fail again, and be given up again.
    home.note(this.change(name, (state) => markRestore(state, step, reason)));
    const { step: restored } = getPackage(home.state, name);
    if (restored?.kind === 'restore') await this.restore(name, restored);
    return 'done';
  }

  private async restore(name: string, step: InstallStep & { readonly kind: 'restore' }): Promise<void> {
    const { home, log, makeId } = this.options;
    const { target, before } = step;
    this.step(name, 'restore');
    home.switchBack(name, before);
    if (before === null) return this.fail(name, target, step.reason);
    const { runs, releases } = getPackage(home.state, name);
    const old = [runs, ...releases].find((one) => one?.folder === before) ?? { ...target, folder: before };
    const whyNot = name === AGENT_PACKAGE ? undefined : await this.start(name, old, { restart: 'restart-old' });
    const reason = whyNot === undefined ? step.reason : `${step.reason}; then the version of before: ${whyNot}`;
    this.step(name, 'record-failure');
    home.note(this.change(name, (state) => endRestore(state, step, { reason, identifier: makeId() })));
    log(`${name}: ${target.version} was rolled back: ${reason}`);
  }

  private fail(name: string, target: PackageRelease, reason: string): void {
    const { home, log } = this.options;
    this.step(name, 'record-failure');
    home.note(this.change(name, (state) => endFailed(state, target, reason)));
    log(`${name}: ${target.version} failed: ${reason}`);
  }

  /** Keeps the last releases, and always those that run or may run again. */
  private prune(name: string): void {
    const { home } = this.options;
    this.step(name, 'prune');
    removeOthers(home.releases(name), listKeptFolders(getPackage(home.state, name), home.current(name)));
  }

  private step(name: string, step: StepName): void {
    this.options.onStep(name, step);
  }

  private change(name: string, make: (state: PackageState) => PackageState): AgentHome['state'] {
    const { state } = this.options.home;
    return setPackage(state, name, make(getPackage(state, name)));
  }
}
