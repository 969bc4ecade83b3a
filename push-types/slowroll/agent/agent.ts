import { setTimeout as delay } from 'node:timers/promises';
import { explainError } from '../../explainError';
import { NO_VERSION, type Manifest, type ManifestEntry, type ManifestPackage, type ReportPackage } from '../protocol';
import { killLeftCommand, locateRecord } from './commands';
import { acceptManifest, computeWait, listReports, nameWanted, planPackage, whyNotAccept } from './decide';
import { removeOthers } from './disk';
import { downloadPart, nameDownload } from './download';
import { Installer, type InstallEnd, type InstallerOptions } from './installer';
import { ManifestClient, ManifestError, writeBearer, type AgentSecrets } from './manifestClient';
import { Remover } from './remover';
import { whyNotUrl } from './request';
import { AGENT_PACKAGE, getPackage } from './state';
import { findCause, RefusalError, type Trouble } from './trouble';

export interface AgentTimes {
  /** The longest time of a poll or a report. */
  readonly requestMs: number;
  /** A download pauses after this time for a poll. */
  readonly sliceMs: number;
  /** The longest time for a few bytes of a download. */
  readonly stallMs: number;
  /** The first poll happens within this time, at random. */
  readonly spreadMs: number;
}

export interface AgentOptions extends Omit<InstallerOptions, 'download'> {
  readonly server: URL;
  readonly host: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly allowsHttp: boolean;
  readonly readSecrets: () => AgentSecrets;
  readonly times: AgentTimes;
  /** From 0 up to 1. */
  readonly chance: () => number;
  /** Stops the agent between two steps. */
  readonly signal: AbortSignal;
}

/** `replaced`: another version of the agent has to start now. */
export type AgentEnd = 'stopped' | 'replaced';

const FIRST_POLL_AFTER_SECONDS = 60;

/** The agent of one host. `run` polls, installs and reports for ever, one thing after the other. */
export class Agent {
  private readonly client: ManifestClient;
  private readonly installer: Installer;
  private readonly remover: Remover;
  private manifest: Manifest | undefined;
  private readonly troubles = new Map<string, Trouble>();
  /** Packages because of which the last manifest was not accepted. */
  private refused = new Map<string, Trouble>();
  private failures = 0;
  /** Rounds in a row in which a package could not be brought. */
  private troubledRounds = 0;
  private retryAfter: number | undefined;

  constructor(private readonly options: AgentOptions) {
    const { server, host, labels, readSecrets, times } = options;
    this.client = new ManifestClient({ server, host, labels, readSecrets, timeoutMs: times.requestMs });
    this.installer = new Installer({ ...options, download: (wanted) => this.download(wanted) });
    this.remover = new Remover(options);
  }

  /** Resolves once the signal is aborted, or another agent has to take over. */
  async run(): Promise<AgentEnd> {
    const { times, chance, signal } = this.options;
    if ((await this.resume()) === 'replaced') return 'replaced';
    let wait = times.spreadMs * chance();
    while (!signal.aborted) {
      await delay(wait, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) break;
      const end = await this.round();
      if (end === 'replaced') return end;
      wait = end === 'partial' ? 0 : this.computeWait();
    }
    return 'stopped';
  }

  /** Ends the steps that a crash interrupted, before the first poll: the server may be away. */
  async resume(): Promise<'done' | 'replaced'> {
    const { home } = this.options;
    killLeftCommand(locateRecord(home.folder));
    this.installer.clean();
    for (const name of listInOrder(Object.keys(home.state.packages))) {
      const { step, removal } = getPackage(home.state, name);
      if (removal === 'begun') await this.attempt(name, NO_VERSION, () => this.remover.remove(name));
      if (step === undefined || removal !== undefined) continue;
      const end = await this.attempt(name, step.target.version, () => this.installer.resume(name));
      if (end === 'replaced') return 'replaced';
    }
    return 'done';
  }

  /** One poll, the work that follows from it, and a report. It never throws: failures are logged, reported and tried again. `partial`: a download continues. */
  async round(): Promise<'done' | 'partial' | 'replaced'> {
    const { home, log } = this.options;
    this.retryAfter = undefined;
    try {
      home.flush();
    } catch (error) {
      // The server needs the results, which are in memory. Each later write has them too.
      log(`the state is not written: ${explainError(error)}`);
    }
    try {
      await this.poll();
      await this.client.report(this.listReports());
      this.installer.confirmOwn();
      this.failures = 0;
    } catch (error) {
      this.noteFailure(error);
    }
    const end = await this.work();
    if (end === 'replaced') return end;
    // The end of an installation does not wait for the next poll, which may be an hour away.
    if (this.failures === 0)
      await this.client.report(this.listReports()).catch((error: unknown) => {
        log(`report: ${explainError(error)}`);
      });
    return end;
  }

  private noteFailure(error: unknown): void {
    this.failures += 1;
    this.retryAfter = error instanceof ManifestError ? error.retryAfter : undefined;
    this.options.log(`poll: ${explainError(error)}`);
  }

  private async poll(): Promise<void> {
    const { home } = this.options;
    const answer = await this.client.poll(this.listReports());
    if (answer.kind === 'same') return;
    const { manifest, tag } = answer;
    const refusal = whyNotAccept(home.state, manifest);
    if (refusal !== undefined) {
      const causes = manifest.packages.filter(({ name }) => name === refusal.name);
      await this.refuse(causes, { cause: 'refused', reason: refusal.reason });
      throw new ManifestError(`the manifest is refused: ${refusal.reason}`);
    }
    const next = acceptManifest(home.state, manifest);
    try {
      // A manifest that changes nothing costs no write.
      if (JSON.stringify(next) !== JSON.stringify(home.state)) home.save(next);
    } catch (error) {
      const changes = manifest.packages.filter(
        (one) => planPackage(getPackage(home.state, one.name), one).kind !== 'keep',
      );
      await this.refuse(changes, { cause: findCause(error), reason: explainError(error) });
      throw error;
    }
    this.refused = new Map();
    this.manifest = manifest;
    this.client.accept(tag, manifest.serial);
    this.removeDownloads(manifest);
  }

  /** Reports the versions that this host does not take from the manifest, or cannot take yet. */
  private async refuse(packages: readonly ManifestEntry[], why: Omit<Trouble, 'version'>): Promise<void> {
    this.refused = new Map(packages.map((one) => [one.name, { version: nameWanted(one), ...why }]));
    await this.client.report(this.listReports()).catch(() => undefined);
  }

  /** Installs and removes the packages of the last manifest, the agent itself last. A failure of one package keeps no other from its version. */
  private async work(): Promise<'done' | 'partial' | 'replaced'> {
    let isPartial = false;
    const wanted = new Map((this.manifest?.packages ?? []).map((one) => [one.name, one]));
    for (const name of listInOrder([...wanted.keys()])) {
      const one = wanted.get(name);
      if (one === undefined || this.options.signal.aborted) continue;
      const end = await this.attempt(name, nameWanted(one), () => this.bring(one));
      if (end === 'replaced') return end;
      isPartial ||= end === 'partial';
    }
    return isPartial ? 'partial' : 'done';
  }

  private async bring(wanted: ManifestEntry): Promise<InstallEnd> {
    const { name } = wanted;
    const state = getPackage(this.options.home.state, name);
    const isRemoved = state.removal === 'begun' || planPackage(state, wanted).kind === 'remove';
    if (isRemoved) await this.remover.remove(name);
    return 'remove' in wanted ? 'done' : this.installer.bring(wanted);
  }

  private async attempt<T>(name: string, version: string, work: () => Promise<T>): Promise<T | 'done'> {
    try {
      const end = await work();
      this.troubles.delete(name);
      return end;
    } catch (error) {
      const reason = explainError(error);
      this.options.log(`${name}: ${reason}; tried again later`);
      this.troubles.set(name, { version, reason, cause: findCause(error) });
      return 'done';
    }
  }

  private async download(wanted: ManifestPackage): Promise<string | undefined> {
    const { server, home, allowsHttp, times, readSecrets } = this.options;
    const url = new URL(wanted.uri, server);
    const whyNot = whyNotUrl(url, allowsHttp);
    if (whyNot !== undefined) throw new RefusalError(whyNot);
    const { token, tls } = readSecrets();
    // The token is for the manifest server alone.
    const isOwn = url.origin === server.origin;
    return downloadPart({
      ...{ url, digest: wanted.digest, size: wanted.size, folder: home.downloads },
      ...{ sliceMs: times.sliceMs, stallMs: times.stallMs },
      headers: isOwn ? writeBearer(token) : {},
      tls: isOwn ? tls : { ca: tls.ca },
    });
  }

  /** Downloads that no package needs any more only take room. */
  private removeDownloads({ packages }: Manifest): void {
    const names = packages.flatMap((one) => ('remove' in one ? [] : [nameDownload(one.digest)]));
    removeOthers(this.options.home.downloads, new Set(names.flatMap((name) => [name, `${name}.part`])));
  }

  private listReports(): readonly ReportPackage[] {
    return listReports(this.options.home.state, new Map([...this.troubles, ...this.refused]));
  }

  private computeWait(): number {
    const { chance } = this.options;
    const pollAfterSeconds = this.manifest?.pollAfterSeconds ?? FIRST_POLL_AFTER_SECONDS;
    // An attempt that failed is repeated with the same patience as a poll.
    this.troubledRounds = this.troubles.size > 0 ? this.troubledRounds + 1 : 0;
    const failures = Math.max(this.failures, this.troubledRounds);
    return computeWait({ failures, pollAfterSeconds, retryAfter: this.retryAfter, chance: chance() });
  }
}

/** The agent itself comes last: its successor finds all other packages in order. */
const listInOrder = (names: readonly string[]): readonly string[] =>
  [...names].sort((a, b) => Number(a === AGENT_PACKAGE) - Number(b === AGENT_PACKAGE) || a.localeCompare(b));
