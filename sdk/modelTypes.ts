/** A model, as named by the configuration. */
export interface Model {
  readonly path: string;
  /** Counts up, for people. */
  readonly number: number;
  /** The git blob id of the value that names it. */
  readonly version: string;
  /** SHA-256 of all of it. */
  readonly digest: string;
  readonly bytes: number;
  readonly pieceBytes: number;
  readonly pieces: number;
}

/** A part of a model. `bytes` is overwritten after `merge` has returned: copy it to keep it. */
export interface ModelPiece {
  readonly model: Model;
  /** From 0, one after the other. */
  readonly index: number;
  /** The offset of its first byte in the model. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** The functions of an application that `watchModel` calls: they check a model, merge its pieces, and try the result. */
export interface ModelUse {
  /** Called before the first piece: throws for an unsuitable model, and nothing is changed then. */
  readonly check?: (model: Model) => void;
  /** Overwrites the application's data with a piece. It throws for an unusable piece. */
  readonly merge: (piece: ModelPiece) => void | Promise<void>;
  /** Called once everything is merged and verified. It throws for a model that does not work. */
  readonly onReady?: (model: Model) => void | Promise<void>;
}

/** The reason why an application keeps its present model. */
export type ModelTrouble =
  /** The proxy of this host does not answer; it is tried again. */
  | { readonly kind: 'proxy-away'; readonly error: Error }
  /** The value names no model, or the application refused it: the former one is restored. */
  | { readonly kind: 'refused'; readonly error: Error }
  /** There is no model, or no longer: the last good one stays. */
  | { readonly kind: 'removed' };

/** Options of `watchModel`; all may be left out. */
export interface WatchModelOptions {
  /** The proxy of this host. Default `CONVEYOR_CONFIG_PROXY`, else `http://127.0.0.1:4700`. */
  readonly url?: string;
  /** The folder of the proxy's cache, for applications that start while the proxy is down. Default `CONVEYOR_CONFIG_CACHE`. */
  readonly cache?: string;
  /** The name under which a model is loaded or refused. Default the name of the program. */
  readonly app?: string;
  /** Called once for each new problem, as long as it lasts. */
  readonly onTrouble?: (trouble: ModelTrouble) => void;
  /** The wait between two attempts, in ms. Default 200. */
  readonly retryMs?: number;
  /** After this long without a byte, in ms, the connection counts as dead. Default 30 000. */
  readonly silenceMs?: number;
  /** How often reports to the proxy are repeated, in case it forgot them, in ms. Default 5000. */
  readonly repeatMs?: number;
  /** Default: that of Node. */
  readonly fetch?: typeof fetch;
}

/** A model that an application follows, as returned by `watchModel`. */
export interface WatchedModel {
  /**
   * The live model: completely merged and verified. Undefined before the first, and while another one is being merged.
   */
  live(): Model | undefined;
  /** Resolves with the first live model. It rejects only when `close` comes before that. */
  readonly first: Promise<Model>;
  /** Stops following, even between two pieces of a model. */
  close(): void;
}
