import { createHash } from 'node:crypto';
import {
  isFieldValue,
  type FieldType,
  type FieldValue,
  type MobileSchema,
} from '../configerator/domain/mobileConfig/translate';
import { MOBILE_LIMITS } from '../domain/limits';
import { sendRequest, type Fetch } from './request';

/** The request of a client: hashes of its state, and the schemas themselves if a server does not know them. */
export interface PullRequest {
  /** The user of gate checks: fields of `GateUser`. */
  readonly user: { readonly id: string } & Readonly<Record<string, unknown>>;
  readonly configs: readonly { readonly config: string; readonly schema: string; readonly values: string }[];
  readonly schemas?: Readonly<Record<string, MobileSchema>>;
}

/** Only the changed values. For a config whose schema the server does not know: its hash, so that the client sends the schema. */
export interface PullAnswer {
  readonly configs: readonly { readonly config: string; readonly values: Readonly<Record<string, FieldValue>> }[];
  readonly unknownSchemas: readonly string[];
}

/** The same for any order of the fields. */
export const mobileHash = (fields: Readonly<Record<string, unknown>>): string => {
  const ordered = Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(ordered)).digest('base64url').slice(0, 22);
};

/** The config of one context of an app: each field with its type and its default until a server answers. */
export type MobileContext = Readonly<Record<string, { readonly type: FieldType; readonly default: FieldValue }>>;

/** Options of `createMobileConfig`; only `intervalMs` may be left out. */
export interface MobileOptions {
  /** The URL of the service, such as `https://config.example.com/v1/mobile/pull`. */
  readonly url: string;
  readonly fetch: Fetch;
  readonly user: PullRequest['user'];
  /** The configs that the app declares, by name. */
  readonly contexts: Readonly<Record<string, MobileContext>>;
  /** The state kept between starts of the app. */
  readonly cache: { load(): string | undefined; save(text: string): void };
  /** `now` is ms since the epoch. `after` calls once, unless the returned function is called before. */
  readonly clock: { now(): number; after(ms: number, run: () => void): () => void };
  /** 0 to 1. */
  readonly random: () => number;
  /** The mean time between two pulls. Default an hour. */
  readonly intervalMs?: number;
}

/** The configuration of an app on a phone: the newest values that it pulled, else its defaults (docs/guides/mobile-config.md). */
export interface MobileConfig {
  /** The newest known value, else the default; throws only for a field that the app has not declared. */
  get(config: string, field: string): FieldValue;
  /** ms since a server confirmed the value; undefined for a default. */
  age(config: string, field: string): number | undefined;
  /** Pulls now: at the start, and after a push message. One pull runs at a time; never rejects. */
  pull(): Promise<'pulled' | 'failed'>;
  /** Plans no further pulls; `get` continues to return the last values. */
  close(): void;
}

const HOUR_MS = 3_600_000;
/** A failed pull is retried after this fraction of the interval. */
const RETRY = 1 / 12;
const TIMEOUT_MS = 10_000;

/** Creates the mobile configuration of an app: loads its cache, and plans the first pull, at once if the cache is of no use. */
export const createMobileConfig = (options: MobileOptions): MobileConfig => new PullingConfig(options);

interface CachedConfig {
  readonly schema: string;
  /** When the service last mentioned this config. Values of this time are those that it can translate now; older ones it left out. */
  readonly at: number;
  readonly values: Readonly<Record<string, { readonly value: FieldValue; readonly at: number }>>;
}

class PullingConfig implements MobileConfig {
  private readonly kept = new Map<string, CachedConfig>();
  private readonly schemas: Readonly<Record<string, MobileSchema>>;
  private running: Promise<'pulled' | 'failed'> | undefined;
  private again = false;
  private cancel: () => void = () => undefined;
  private isClosed = false;

  constructor(private readonly options: MobileOptions) {
    const schemaOf = (context: MobileContext): MobileSchema =>
      Object.fromEntries(Object.entries(context).map(([field, { type }]) => [field, type]));
    this.schemas = Object.fromEntries(
      Object.entries(options.contexts).map(([config, context]) => [config, schemaOf(context)]),
    );
    this.load();
    this.plan(0, 1);
  }

  get(config: string, field: string): FieldValue {
    const known = this.options.contexts[config]?.[field];
    if (known === undefined) throw new Error(`the app declares no field ${field} of ${config}`);
    return this.kept.get(config)?.values[field]?.value ?? known.default;
  }

  age(config: string, field: string): number | undefined {
    const at = this.kept.get(config)?.values[field]?.at;
    return at === undefined ? undefined : Math.max(0, this.options.clock.now() - at);
  }

  pull(): Promise<'pulled' | 'failed'> {
    // A push may announce a change that missed the running pull.
    if (this.running) this.again = true;
    this.running ??= this.pullUntilDone().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  close(): void {
    this.isClosed = true;
    this.cancel();
  }

  private async pullUntilDone(): Promise<'pulled' | 'failed'> {
    let outcome: 'pulled' | 'failed';
    do {
      this.again = false;
      outcome = await this.pullOnce().then(
        () => 'pulled' as const,
        () => 'failed' as const,
      );
    } while (this.again && !this.isClosed);
    const share = outcome === 'pulled' ? 1 : RETRY;
    this.plan(share * 0.5, share);
    return outcome;
  }

  /**
   * Plans the next pull at a random time, so that a billion clients do not call at once: from `least` to `least + spread` intervals from
   * now, or at once at the start if nothing is cached.
   */
  private plan(least: number, spread: number): void {
    this.cancel();
    if (this.isClosed) return;
    const { intervalMs = HOUR_MS, random, clock } = this.options;
    const wait = this.kept.size === 0 && least === 0 ? 0 : (least + spread * random()) * intervalMs;
    this.cancel = clock.after(wait, () => void this.pull());
  }

  private async pullOnce(): Promise<void> {
    const { unknownSchemas } = this.take(await this.ask({}));
    const known = Object.entries(this.schemas).filter(([, schema]) => unknownSchemas.includes(mobileHash(schema)));
    if (known.length > 0) this.take(await this.ask(Object.fromEntries(known)));
    this.save();
  }

  private async ask(schemas: Readonly<Record<string, MobileSchema>>): Promise<PullAnswer> {
    const { url, fetch, user } = this.options;
    const configs = Object.entries(this.schemas).map(([config, schema]) => {
      const { at: confirmedAt, values: known = {} } = this.kept.get(config) ?? {};
      const values = Object.entries(known).flatMap(([field, { value, at }]) =>
        at === confirmedAt ? [[field, value]] : [],
      );
      return { config, schema: mobileHash(schema), values: mobileHash(Object.fromEntries(values)) };
    });
    const byHash = Object.values(schemas).map((schema) => [mobileHash(schema), schema] as const);
    const body: PullRequest = { user, configs, ...(byHash.length > 0 && { schemas: Object.fromEntries(byHash) }) };
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', redirect: 'follow', headers, body: JSON.stringify(body) } as const;
    const sending = { fetch, timeoutMs: TIMEOUT_MS, maxBytes: MOBILE_LIMITS.answer.max };
    const { status, ok, text } = await sendRequest(url, init, sending);
    if (!ok || text === undefined) throw new Error(`the service answered ${status}`);
    return answerIn(JSON.parse(text));
  }

  /** Values that do not fit are ignored: a server may lie, and an app must not fail because of it. */
  private take(answer: PullAnswer): PullAnswer {
    const at = this.options.clock.now();
    const changed = new Map(answer.configs.map(({ config, values }) => [config, values]));
    const unknown = new Set(answer.unknownSchemas);
    for (const [config, schema] of Object.entries(this.schemas)) {
      if (unknown.has(mobileHash(schema))) continue;
      const { at: confirmedAt, values: before = {} } = this.kept.get(config) ?? {};
      const given = changed.get(config);
      const values = { ...before };
      for (const [field, type] of Object.entries(schema)) {
        const value = given?.[field];
        if (isFieldValue(type, value)) values[field] = { value, at };
        // If the answer omits a config, all of its hashed state matches the client's.
        else if (!given && before[field]?.at === confirmedAt && before[field]) values[field] = { ...before[field], at };
      }
      this.kept.set(config, { schema: mobileHash(schema), at, values });
    }
    return answer;
  }

  /** A cache of another version of the app is useless, and so is a broken one. */
  private load(): void {
    try {
      const kept = JSON.parse(this.options.cache.load() ?? '{}') as Record<string, CachedConfig>;
      for (const [config, schema] of Object.entries(this.schemas)) {
        const found = kept[config];
        const fields = Object.entries(found?.schema === mobileHash(schema) ? (found?.values ?? {}) : {});
        const good = fields.filter(
          ([field, it]) => schema[field] && isFieldValue(schema[field], it.value) && Number.isFinite(it.at),
        );
        // A cache of an earlier version has no time, and the next pull brings the whole config.
        const at = Number.isFinite(found?.at) ? (found?.at ?? 0) : 0;
        if (good.length > 0)
          this.kept.set(config, { schema: mobileHash(schema), at, values: Object.fromEntries(good) });
      }
    } catch {
      this.kept.clear();
    }
  }

  private save(): void {
    try {
      this.options.cache.save(JSON.stringify(Object.fromEntries(this.kept)));
    } catch {
      // Without a cache the next start pulls again.
    }
  }
}

function answerIn(body: unknown): PullAnswer {
  const { configs, unknownSchemas } = (body ?? {}) as Partial<PullAnswer>;
  if (!Array.isArray(configs) || !Array.isArray(unknownSchemas)) throw new Error('the service answered something else');
  return {
    configs: configs.filter(
      (it) => typeof it?.config === 'string' && typeof it.values === 'object' && it.values !== null,
    ),
    unknownSchemas: unknownSchemas.filter((hash) => typeof hash === 'string'),
  };
}
