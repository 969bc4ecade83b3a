/** A model as the configuration names it. */
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

/** A part of a model. `bytes` is overwritten after `merge` has returned: copy what has to stay. */
export interface ModelPiece {
  readonly model: Model;
  /** From 0, one after the other. */
  readonly index: number;
  /** Where it begins in the model. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface ModelUse {
  /** Before the first piece: throws for a model that does not fit, and nothing is touched then. */
  readonly check?: (model: Model) => void;
  /** Puts a piece in the place of what the application has there. It throws for a piece that it cannot use. */
  readonly merge: (piece: ModelPiece) => void | Promise<void>;
  /** All of it is merged, and is what was published. It throws for a model that does not work. */
  readonly onReady?: (model: Model) => void | Promise<void>;
}

/** The reason for which an application keeps its present model. */
export type ModelTrouble =
  /** The proxy of this host does not answer; it is tried again. */
  | { readonly kind: 'proxy-away'; readonly error: Error }
  /** The value names no model, or the application refused it: the one before is put back. */
  | { readonly kind: 'refused'; readonly error: Error }
  /** There is no model, or none any more: the last good one stays. */
  | { readonly kind: 'removed' };

export interface WatchModelOptions {
  /** The proxy of this host. Default `CONVEYOR_CONFIG_PROXY`, else `http://127.0.0.1:4700`. */
  readonly url?: string;
  /** The folder of the cache of the proxy, for when the application starts while the proxy is down. Default `CONVEYOR_CONFIG_CACHE`. */
  readonly cache?: string;
  /** The name under which a model is loaded or refused. Default the name of the program. */
  readonly app?: string;
  /** Called when something new is in the way, once for as long as it is. */
  readonly onTrouble?: (trouble: ModelTrouble) => void;
  /** Between two tries, in milliseconds. Default 200. */
  readonly retryMs?: number;
  /** So long without a byte of a piece, in milliseconds, and the connection counts as dead. Default 30 000. */
  readonly silenceMs?: number;
  /** How often the proxy is sent again what it may have forgotten, in milliseconds. Default 5000. */
  readonly repeatMs?: number;
  /** Default that of Node. */
  readonly fetch?: typeof fetch;
}

export interface WatchedModel {
  /** The model that is live: merged as a whole, and checked. Undefined before the first, and while another one is merged into it. */
  live(): Model | undefined;
  /** Resolves with the first live model. It rejects only when `close` comes before that. */
  readonly first: Promise<Model>;
  close(): void;
}
