import type { Notice } from './notice';

/** The settings of one receiver, as far as the content of its requests needs them. */
export interface ReceiverFacts {
  /** The key of the receiver's service, if it has one. */
  readonly key?: string;
  /** The page about the release or deploy; null if the settings name no address of pages. */
  readonly link?: string | null;
}

/** The request with which a receiver gets a notice. */
export interface NoticeRequest {
  /** The end of the address, with a slash or a question mark in front. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The JSON of the request. */
  readonly body: object;
}

/** The format of notices for one kind of receiver. */
export interface Format {
  readonly contentType: string;
  /** Returns the JSON of the request. */
  readonly body: (notice: Notice, facts?: ReceiverFacts) => object;
  /** Hosts that get this format if the pipeline file names none. */
  readonly hosts?: RegExp;
  /** The address of the service, for receivers without one. */
  readonly home?: string;
  /** Its service accepts nothing without a key, which only a receiver of the settings has. */
  readonly needsKey?: true;
  /** It needs a sender and recipients, which only a receiver of the settings has. */
  readonly needsMailbox?: true;
  readonly headers?: (key: string) => Readonly<Record<string, string>>;
  /** The end of the address; undefined if the service has no place for this notice. */
  readonly path?: (notice: Notice) => string | undefined;
}

/** The request for a notice; undefined if the receiver's service has no place for it. */
export function buildNoticeRequest(
  { body, headers, path }: Format,
  notice: Notice,
  facts: ReceiverFacts,
): NoticeRequest | undefined {
  const end = path ? path(notice) : '';
  if (end === undefined) return undefined;
  return {
    body: body(notice, facts),
    ...(end === '' ? {} : { path: end }),
    ...(headers ? { headers: headers(facts.key ?? '') } : {}),
  };
}
