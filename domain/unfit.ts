/** The part of a request that is too large, for the error `over-limit`. */
export interface Excess {
  /** `the metadata of the artifact source` */
  readonly what: string;
  readonly size: string;
  readonly limit: string;
}

/**
 * The reason why a text is refused, for the error `invalid-text`: it is empty, not plain (domain/plainText.ts), or
 * gives an unreadable order.
 */
export interface BadText {
  readonly what: string;
  /** `is empty` */
  readonly why: string;
}

/** Input that every entry point refuses: the command line, the API, webhooks and finders. */
export type InvalidInput = Excess | BadText;
