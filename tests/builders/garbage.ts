import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects now all that nothing holds any more. */
export const collectGarbage = runInNewContext('gc') as () => void;
