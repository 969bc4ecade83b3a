import { hostname } from 'node:os';
import { hasBlobId } from './blobId';
import { readCached } from './configCache';
import type { ConfigSchema, ConfigTrouble, ConfigValue, WatchConfigOptions } from './configValue';
import { readLines } from './lines';
import { appName, badAnswer, MOST_REASON, proxyUrl, reportTo } from './ownProxy';
import { pause } from './pause';

/** A periodic message of a proxy. */
interface ProxyHeartbeat {
  readonly age: number | null;
}

interface Answer extends ProxyHeartbeat {
  readonly path: string;
  readonly value: string | null;
  readonly version: string;
  readonly commit: string | null;
  readonly override: string | null;
  /** Missing if the proxy has an earlier version, and in a cache. */
  readonly task?: string;
}

const RETRY_MS = 200;
const SILENCE_MS = 30_000;

/** One path that an application follows; see `watchConfig`. */
export class ConfigFollower<T> {
  current: ConfigValue<T> | undefined;
  readonly first: Promise<ConfigValue<T>>;
  private readonly ending = new AbortController();
  private readonly url: string;
  private readonly app: string;
  private confirmedAt: number | undefined;
  /** The name of its proxy. */
  private host: string | undefined;
  private isAway = false;
  private hasHeard = false;
  private isRemoved = false;
  private refused: { readonly version: string; readonly reason: string } | undefined;
  private settleFirst: { resolve: (value: ConfigValue<T>) => void; reject: (error: Error) => void } | undefined;

  constructor(
    private readonly path: string,
    private readonly schema: ConfigSchema<T>,
    private readonly onChange: (value: ConfigValue<T>) => void,
    private readonly options: WatchConfigOptions,
  ) {
    this.url = proxyUrl(options.url);
    this.app = appName(options.app);
    this.first = new Promise((resolve, reject) => (this.settleFirst = { resolve, reject }));
    // A caller that does not wait for it must not get an unhandled rejection.
    this.first.catch(() => undefined);
  }

  async run(): Promise<void> {
    const { retryMs = RETRY_MS } = this.options;
    let delayMs = retryMs;
    while (!this.ending.signal.aborted) {
      this.hasHeard = false;
      await this.follow().catch((error: unknown) => this.away(error as Error));
      if (this.hasHeard) delayMs = retryMs;
      if (this.current === undefined) await this.readCache();
      await pause(delayMs, this.ending.signal);
      delayMs = Math.min(delayMs * 2, 30 * retryMs);
    }
  }

  task(): string | undefined {
    const { current } = this;
    return current && `${this.host ?? hostname()}@${current.override ?? current.commit ?? 'none'}`;
  }

  age(): number | undefined {
    return this.confirmedAt === undefined ? undefined : Math.max(0, Date.now() - this.confirmedAt) / 1000;
  }

  close(): void {
    this.ending.abort();
    this.settleFirst?.reject(new Error(`${this.path} was closed before it had a value`));
    this.settleFirst = undefined;
  }

  /** Follows until the proxy's stream ends; throws if it did not begin, or broke. */
  private async follow(): Promise<void> {
    const silence = new AbortController();
    const signal = AbortSignal.any([this.ending.signal, silence.signal]);
    const listen = (): NodeJS.Timeout =>
      setTimeout(() => silence.abort(new Error('it fell silent')), this.options.silenceMs ?? SILENCE_MS).unref();
    let timer = listen();
    try {
      const address = `${this.url}/v1/watch?path=${encodeURIComponent(this.path)}`;
      const response = await this.fetch(address, { signal });
      if (!response.ok || !response.body) throw new Error(await badAnswer(response));
      for await (const line of readLines(response.body)) {
        clearTimeout(timer);
        timer = listen();
        this.isAway = false;
        this.hasHeard = true;
        if (line.startsWith('data: ')) this.receive(JSON.parse(line.slice('data: '.length)) as Answer | ProxyHeartbeat);
      }
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }

  private away(error: Error): void {
    if (this.isAway || this.ending.signal.aborted) return;
    this.isAway = true;
    this.trouble({ kind: 'proxy-away', error });
  }

  private receive(message: Answer | ProxyHeartbeat): void {
    this.confirmedAt = message.age === null ? undefined : Date.now() - message.age * 1000;
    if (!('path' in message)) return;
    this.host = message.task?.split('@', 1)[0] ?? this.host;
    this.take(message);
  }

  private async readCache(): Promise<void> {
    const folder = this.options.cache ?? process.env['CONVEYOR_CONFIG_CACHE'];
    const cached = folder ? await readCached(folder, this.path) : undefined;
    if (!cached || this.ending.signal.aborted) return;
    const age = cached.confirmedAt === null ? null : (Date.now() - cached.confirmedAt) / 1000;
    this.host = cached.host ?? this.host;
    this.receive({ ...cached.answer, age });
  }

  private take(answer: Answer): void {
    if (this.ending.signal.aborted || answer.path !== this.path) return;
    if (answer.value === null) return this.removed();
    const wasRemoved = this.isRemoved;
    this.isRemoved = false;
    const { version, commit, override } = answer;
    if (this.current?.version === version && !wasRemoved) {
      this.current = { ...this.current, commit, override };
      return this.accepted(version);
    }
    if (this.refused?.version === version) return this.report(version, this.refused.reason);
    if (!hasBlobId(answer.value, version)) return this.refuse(version, new Error('it is not what its version says'));
    try {
      const value = { value: this.schema.parse(this.read(answer.value)), version, commit, override };
      this.onChange(value);
      this.current = value;
    } catch (error) {
      return this.refuse(version, error instanceof Error ? error : new Error(String(error)));
    }
    this.accepted(version);
    this.settleFirst?.resolve(this.current);
    this.settleFirst = undefined;
  }

  private read(text: string): unknown {
    return this.options.format === 'text' ? text : JSON.parse(text);
  }

  private refuse(version: string, error: Error): void {
    this.refused = { version, reason: error.message };
    this.trouble({ kind: 'refused', error, version });
    this.report(version, error.message);
  }

  /** Another process of this application may have refused it before. */
  private accepted(version: string): void {
    this.refused = undefined;
    this.report(version, null);
  }

  private removed(): void {
    if (this.isRemoved) return;
    this.isRemoved = true;
    this.trouble({ kind: 'removed' });
  }

  /** An error thrown by `onTrouble` does not stop the following. */
  private trouble(trouble: ConfigTrouble): void {
    try {
      this.options.onTrouble?.(trouble);
    } catch {
      // The error belongs to the application.
    }
  }

  /**
   * Reports a value to the proxy. A report is lost if the proxy is down; on reconnection the stream begins with the
   * value, which is then reported again.
   */
  private report(version: string, reason: string | null): void {
    reportTo(this.options.fetch ?? fetch, `${this.url}/v1/refused`, {
      path: this.path,
      version,
      reason: reason?.slice(0, MOST_REASON) ?? null,
      app: this.app,
    });
  }

  private fetch(address: string, init: RequestInit): Promise<Response> {
    return (this.options.fetch ?? fetch)(address, init);
  }
}
