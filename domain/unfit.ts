/** What of a request is too large, as the error `over-limit` says it. */
export interface Excess {
  /** `the metadata of the artifact source` */
  readonly what: string;
  readonly size: string;
  readonly limit: string;
}

/** A text that is empty, not plain (domain/plainText.ts), or that says an order which cannot be read, as the error `invalid-text` says it. */
export interface BadText {
  readonly what: string;
  /** `is empty` */
  readonly why: string;
}

/** What no door takes: the command line, the API, webhooks, and what finders find. */
export type Unfit = Excess | BadText;
