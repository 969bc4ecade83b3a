/** What of a request is too large, as the error `over-limit` says it. */
export interface Excess {
  /** `the metadata of the artifact source` */
  readonly what: string;
  readonly size: string;
  readonly limit: string;
}

/** Why a text is refused, as the error `invalid-text` says it: it is empty, not plain (domain/plainText.ts), or gives an unreadable order. */
export interface BadText {
  readonly what: string;
  /** `is empty` */
  readonly why: string;
}

/** What no door takes: the command line, the API, webhooks, and what finders find. */
export type Unfit = Excess | BadText;
