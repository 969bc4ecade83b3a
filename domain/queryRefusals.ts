/**
 * The meaning of a refused query. Temporal's client has one error for all cases: a worker that cannot replay the
 * history, a handler that threw, and a workflow without such a query. Only the words of the SDK distinguish them. In
 * all cases but the last, the query may be answered later.
 */

/** Whether the workflow has no such query: it is of an older version, or its code never ran. */
export const hasNoSuchQuery = (error: unknown): boolean => /did not register a handler for /.test(refusalIn(error));

/**
 * Whether the code of the workflow never ran, so that it has only the queries of the SDK. Conveyor did not start such a run, which ends before its
 * code begins (`workflows/provenance.ts`).
 */
export const neverRan = (error: unknown): boolean =>
  /did not register a handler for \S+\. Registered queries: \[(?:__\w+ ?)*\]$/.test(refusalIn(error));

const refusalIn = (error: unknown): string =>
  error instanceof Error && error.name === 'QueryNotRegisteredError' ? error.message : '';
