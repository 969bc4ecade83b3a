/** A schema that gives a value its type, such as one of zod: returns it, or throws for an invalid value. */
export interface ConfigSchema<T> {
  parse(value: unknown): T;
}

/** A value in use by an application. */
export interface ConfigValue<T> {
  readonly value: T;
  /** The git blob id of its text. */
  readonly version: string;
  /** The commit that contains it; null for a value that a deploy exposes to this host. */
  readonly commit: string | null;
  /** The change that a deploy exposes to this host, as `N@commit`; null for a committed one. */
  readonly override: string | null;
}

/** The reason why an application keeps its present value. */
export type ConfigTrouble =
  /** The proxy does not answer. */
  | { readonly kind: 'proxy-away'; readonly error: Error }
  /**
   * The schema rejects the value, or `onChange` threw: the last good one stays, and the reason is reported to the
   * proxy.
   */
  | { readonly kind: 'refused'; readonly error: Error; readonly version: string }
  /** There is no value, or no longer: the last good one stays. */
  | { readonly kind: 'removed' };

/** Options of `watchConfig`; all may be left out. */
export interface WatchConfigOptions {
  /** The proxy of this host. Default `CONVEYOR_CONFIG_PROXY`, else `http://127.0.0.1:4700`. */
  readonly url?: string;
  /** The folder of its cache, which is read while the proxy does not answer. Default `CONVEYOR_CONFIG_CACHE`, else none. */
  readonly cache?: string;
  /** How to parse a value before applying the schema. Default `json`. */
  readonly format?: 'json' | 'text';
  /** The name under which a value is refused. Default the name of the program. */
  readonly app?: string;
  /** Called once for each new problem, as long as it lasts. */
  readonly onTrouble?: (trouble: ConfigTrouble) => void;
  /** The wait between two attempts to reach the proxy, in ms; it grows up to 30 times that. Default 200. */
  readonly retryMs?: number;
  /** After this long without data from the proxy, in ms, the connection counts as dead. Default 30 000. */
  readonly silenceMs?: number;
  /** Default: that of Node. */
  readonly fetch?: typeof fetch;
}

/** A configuration that an application follows, as returned by `watchConfig`. */
export interface WatchedConfig<T> {
  /** The value in use by the application; undefined until there is a first good value. */
  current(): ConfigValue<T> | undefined;
  /**
   * The name under which the application reports metrics, which depends on its value: health checks use it
   * (docs/guides/configuration.md#8-health). It may change without a call of `onChange`, so read it whenever metrics
   * are read. Undefined until there is a first good value.
   */
  task(): string | undefined;
  /** Seconds since the store confirmed the value, as far as this application knows; undefined if it never did. */
  age(): number | undefined;
  /** Resolves with the first good value. It rejects only when `close` comes before that. */
  readonly first: Promise<ConfigValue<T>>;
  /** Stops following; `current` continues to return the last value. */
  close(): void;
}
