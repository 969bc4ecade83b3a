import { createHash } from 'node:crypto';
import type { Package } from '../configerator/domain/vessel/package';
import { piecesOnDisk } from './modelDisk';
import { NotYet, readPieces } from './modelPieces';
import type { Model, ModelTrouble, ModelUse, WatchModelOptions } from './modelTypes';
import { appName, MOST_REASON, proxyUrl, reportTo } from './ownProxy';
import { pause } from './pause';

interface PackagedModel {
  readonly pack: Package;
  readonly model: Model;
}

type Stage =
  { readonly state: 'loading' } | { readonly state: 'ready' } | { readonly state: 'refused'; readonly reason: string };

/** The application cannot use the model, or it differs from the published one. */
class ModelRefusal extends Error {}

const MODEL_RETRY_MS = 200;
const SILENCE_MS = 30_000;
const REPEAT_MS = 5000;

/** Brings an application to the latest wanted model; see `watchModel`. */
export class ModelLoader {
  readonly first: Promise<Model>;
  /** The model that should be live; the part of it that is merged, and the model that was live last. */
  private wanted: PackagedModel | undefined;
  private finished: PackagedModel | undefined;
  private last: PackagedModel | undefined;
  /** Pieces of another model have been merged into the last one. */
  private isTouched = false;
  private turn = new AbortController();
  private isRunning = false;
  private isClosed = false;
  private isAway = false;
  private said: Stage = { state: 'loading' };
  private readonly repeating: NodeJS.Timeout;
  private settleFirst: { resolve: (model: Model) => void; reject: (error: Error) => void } | undefined;

  constructor(
    private readonly use: ModelUse,
    private readonly options: WatchModelOptions,
  ) {
    this.repeating = setInterval(() => this.report(), options.repeatMs ?? REPEAT_MS).unref();
    this.first = new Promise((resolve, reject) => (this.settleFirst = { resolve, reject }));
    this.first.catch(() => undefined);
  }

  get live(): Model | undefined {
    return this.isTouched ? undefined : this.last?.model;
  }

  wants(path: string, version: string, pack: Package): void {
    const { version: number, digest, bytes, pieceBytes, pieces } = pack;
    this.wanted = { pack, model: { path, number, version, digest, bytes, pieceBytes, pieces: pieces.length } };
    this.turn.abort();
    this.turn = new AbortController();
    this.say({ state: 'loading' });
    void this.run();
  }

  close(path: string): void {
    this.isClosed = true;
    this.turn.abort();
    clearInterval(this.repeating);
    this.settleFirst?.reject(new Error(`${path} was closed before it had a model`));
    this.settleFirst = undefined;
  }

  /** Runs one at a time: `merge` never runs twice at once. */
  private async run(): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    try {
      while (!this.isClosed && this.wanted && this.wanted !== this.finished)
        await this.bring(this.wanted, this.turn.signal);
    } finally {
      this.isRunning = false;
    }
  }

  private async bring(wanted: PackagedModel, signal: AbortSignal): Promise<void> {
    try {
      const isThere = !this.isTouched && this.last?.pack.digest === wanted.pack.digest;
      if (!isThere) {
        await withModelRefusal(() => this.use.check?.(wanted.model));
        await this.merge(wanted, signal);
      }
      if (signal.aborted) return;
      this.finished = wanted;
      this.isLive(wanted);
    } catch (error) {
      if (signal.aborted) return;
      this.finished = wanted;
      this.say({ state: 'refused', reason: (error as Error).message.slice(0, MOST_REASON) });
      this.trouble({ kind: 'refused', error: error as Error });
      await this.restore(signal);
    }
  }

  private isLive(named: PackagedModel): void {
    this.last = named;
    this.say({ state: 'ready' });
    this.settleFirst?.resolve(named.model);
    this.settleFirst = undefined;
  }

  /** Merges the model that was live over the parts of another one. */
  private async restore(signal: AbortSignal): Promise<void> {
    const { last } = this;
    if (!this.isTouched || last === undefined) return;
    await this.merge(last, signal).catch((error: unknown) => {
      if (!signal.aborted) this.trouble({ kind: 'refused', error: error as Error });
    });
  }

  /** Merges a whole model piece by piece, however often the proxy goes away. @throws ModelRefusal, or the reason of the signal if that aborts */
  private async merge({ pack, model }: PackagedModel, signal: AbortSignal): Promise<void> {
    const buffer = new Uint8Array(Math.min(pack.pieceBytes, pack.bytes));
    const whole = createHash('sha256');
    let index = 0;
    const mergeAll = async (pieces: AsyncIterable<Uint8Array>, isFromProxy: boolean): Promise<void> => {
      for await (const bytes of pieces) {
        signal.throwIfAborted();
        whole.update(bytes);
        this.isTouched = true;
        if (isFromProxy) this.isAway = false;
        await withModelRefusal(() => this.use.merge({ model, index, offset: index * pack.pieceBytes, bytes }));
        index += 1;
      }
    };
    while (index < pack.pieces.length) {
      try {
        await mergeAll(readPieces(model.path, pack, index, buffer, this.reading(signal)), true);
      } catch (error) {
        if (error instanceof ModelRefusal) throw error;
        this.away(error as Error, signal);
        if (this.isAway && this.cache) await mergeAll(piecesOnDisk(model.path, pack, index, buffer, this.cache), false);
      }
      if (index < pack.pieces.length) await pause(this.options.retryMs ?? MODEL_RETRY_MS, signal);
      signal.throwIfAborted();
    }
    const digest = whole.digest('hex');
    if (digest !== pack.digest) throw new ModelRefusal(`its digest is ${digest}, and not ${pack.digest}`);
    await withModelRefusal(() => this.use.onReady?.(model));
    this.last = { pack, model };
    this.isTouched = false;
  }

  private get cache(): string | undefined {
    return this.options.cache ?? process.env['CONVEYOR_CONFIG_CACHE'];
  }

  private reading(signal: AbortSignal) {
    const { url, silenceMs = SILENCE_MS, fetch: fetchIt = fetch } = this.options;
    return { url: proxyUrl(url), signal, silenceMs, fetch: fetchIt };
  }

  private away(error: Error, signal: AbortSignal): void {
    if (this.isAway || signal.aborted || error instanceof NotYet) return;
    this.isAway = true;
    this.trouble({ kind: 'proxy-away', error });
  }

  /** An application whose `onTrouble` throws still gets its models. */
  private trouble(trouble: ModelTrouble): void {
    try {
      this.options.onTrouble?.(trouble);
    } catch {
      // The error belongs to the application.
    }
  }

  private say(said: Stage): void {
    this.said = said;
    this.report();
  }

  private report(): void {
    if (this.wanted === undefined || this.isClosed) return;
    const { url, app, fetch: fetchIt = fetch } = this.options;
    const { path, version } = this.wanted.model;
    reportTo(fetchIt, `${proxyUrl(url)}/v1/packages`, { path, version, app: appName(app), ...this.said });
  }
}

/** Turns the application's error into the reason of the refusal. */
async function withModelRefusal(work: () => void | Promise<void> | undefined): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new ModelRefusal(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
