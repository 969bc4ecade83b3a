import type { Inheritance } from '../deploy/planRevert';

/** The pipeline's answer to a release about an action that it is ready to run. */
export type Admission =
  | {
      readonly kind: 'granted';
      readonly lastGood?: string | null;
      readonly inherited?: Inheritance;
      /** The pipelines whose offers earlier versions may use. */
      readonly uses?: readonly string[];
      /** The release that brought the last good version; only if offers are made or used. */
      readonly lastRelease?: number;
    }
  | { readonly kind: 'superseded'; readonly by: number }
  | {
      readonly kind: 'bad-package';
      readonly reason: string;
      /** Its identity. */
      readonly artifact?: string;
    };
