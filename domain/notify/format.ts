import type { Notice } from './notice';

/** The format of notices for one kind of receiver. */
export interface Format {
  readonly contentType: string;
  /** Returns the JSON of the request. */
  readonly body: (notice: Notice) => object;
  /** Hosts that get this format if the pipeline file names none. */
  readonly hosts?: RegExp;
}
