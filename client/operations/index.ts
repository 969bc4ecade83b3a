import { BUG_OPERATIONS } from './bugs';
import { PIPELINE_OPERATIONS } from './pipelines';
import { RELEASE_OPERATIONS } from './releases';
import type { OperationRows } from './row';

/** Every operation of `ConveyorClient`, once. One without a row does not compile. */
export const CLIENT_OPERATIONS = {
  ...PIPELINE_OPERATIONS,
  ...RELEASE_OPERATIONS,
  ...BUG_OPERATIONS,
} satisfies OperationRows;
