import type { OperationRows } from '../../../../client/operations/row';

export const FRESHNESS_OPERATIONS = {
  freshness: { route: 'GET /v1/freshness', access: 'read' },
} as const satisfies Partial<OperationRows>;
