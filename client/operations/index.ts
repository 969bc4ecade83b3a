import { BUG_OPERATIONS } from '../../features/bugs/client/operations/bugs';
import { FRESHNESS_OPERATIONS } from '../../features/freshness/client/operations/freshness';
import { PIPELINE_OPERATIONS } from './pipelines';
import { RELEASE_OPERATIONS } from './releases';
import type { OperationRows } from './row';

/** Every operation of `ConveyorClient`, once. One without a row does not compile. */
export const CLIENT_OPERATIONS = {
  ...PIPELINE_OPERATIONS,
  ...RELEASE_OPERATIONS,
  ...BUG_OPERATIONS,
  ...FRESHNESS_OPERATIONS,
} satisfies OperationRows;
