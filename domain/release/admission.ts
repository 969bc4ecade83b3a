import type { Inheritance } from '../deploy/planRevert';

/** The pipeline's answer to a release about an action that it is ready to run. */
export type Admission =
  | {
      readonly kind: 'granted';
      readonly lastGood?: string | null;
      readonly inherited?: Inheritance;
    }
  | { readonly kind: 'superseded'; readonly by: number }
  | {
      readonly kind: 'bad-package';
      readonly reason: string;
      /** Its identity. */
      readonly artifact?: string;
    };
