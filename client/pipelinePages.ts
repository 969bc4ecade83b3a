import { executionInfoFromRaw } from '@temporalio/client/lib/helpers';
import { conveyorError, ConveyorError } from '../domain/errors';
import { hash } from '../domain/hash';
import type { PipelinePage, PipelineSummary } from '../domain/views';
import { GRPC } from './grpcStatus';
import { hasStatus, isUnanswered, translate, type Temporal } from './connection';
import { toPipelineSummary } from './pipelineIndex';
import { findWorkflowProblems } from './problems';
import { stateCondition } from './stateCondition';
import { temporalUnreachable } from './unreachable';
import { queryWords } from './visibility';

/** The wanted pipelines of a page; all conditions have to be met. */
export interface PageQuery {
  /** The beginning of the name. */
  readonly q?: string | undefined;
  readonly owner?: string | undefined;
  /** `team=storage` */
  readonly label?: string | undefined;
  readonly state?: string | undefined;
  /** `next` of the page before; without it, the first page. */
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** A count is only a help, so the wait for it is short. */
const COUNT_TIMEOUT_MS = 2_000;
const PAGE_TIMEOUT_MS = 10_000;

/**
 * A page of running pipelines from Temporal's visibility, newest first. No workflow is asked. Temporal filters, so the cost of a page does not
 * depend on the number of pipelines.
 * @throws ConveyorError `invalid-request` for a cursor that is none, `temporal-unreachable`
 */
export async function readPipelinePage(temporal: Temporal, query: PageQuery): Promise<PipelinePage> {
  const { client, namespace, address } = temporal;
  const condition = toCondition(query);
  const internal = (): ConveyorError => conveyorError('internal', { detail: 'the pipelines cannot be listed' });
  try {
    const [found, total] = await Promise.all([
      client.withDeadline(Date.now() + PAGE_TIMEOUT_MS, () =>
        client.workflowService.listWorkflowExecutions({
          ...{ namespace, query: condition, pageSize: query.limit },
          ...(query.cursor === undefined ? {} : { nextPageToken: decodePageToken(query.cursor) }),
        }),
      ),
      client
        .withDeadline(Date.now() + COUNT_TIMEOUT_MS, () => client.workflow.count(condition))
        .then(({ count }) => count)
        .catch(() => null),
    ]);
    const { loadedDataConverter } = client.options;
    const infos = await Promise.all(
      found.executions.map((raw) => executionInfoFromRaw(raw, loadedDataConverter, raw, namespace)),
    );
    const problemOf = await findWorkflowProblems(temporal, infos);
    const pipelines = infos.flatMap((info) => {
      const [summary, problem] = [toPipelineSummary(info), problemOf(info)];
      if (summary === undefined || !fitsQuery(summary, query)) return [];
      return [problem === undefined ? summary : { ...summary, problem }];
    });
    return { pipelines, next: encodePageToken(found.nextPageToken), total };
  } catch (error) {
    if (query.cursor !== undefined && hasStatus(error, [GRPC.INVALID_ARGUMENT])) throw cursorError();
    if (isUnanswered(error)) throw await temporalUnreachable(temporal, 'it takes too long to answer');
    throw translate(error, { id: 'the list of pipelines', address, notFound: internal, refused: internal });
  }
}

const cursorError = (): ConveyorError =>
  conveyorError('invalid-request', { detail: 'cursor: not one that a page of pipelines has given' });

/** The checksum finds a mistyped cursor at once: Temporal would only fail, and the call be repeated until its time is over. */
function decodePageToken(text: string): Buffer {
  const [token = '', sum] = text.split('.');
  if (!/^[\w-]{1,4000}$/.test(token) || sum !== checksum(token)) throw cursorError();
  return Buffer.from(token, 'base64url');
}

function encodePageToken(bytes: Uint8Array | null | undefined): string | null {
  if (bytes === null || bytes === undefined || bytes.length === 0) return null;
  const token = Buffer.from(bytes).toString('base64url');
  return `${token}.${checksum(token)}`;
}

const checksum = (token: string): string => hash(token).toString(36);

/** `queryWords` leaves out quotes, so the answer is filtered once more. */
function toCondition({ q, owner, label, state }: PageQuery): string {
  return [
    `WorkflowType = 'pipeline'`,
    `ExecutionStatus = 'Running'`,
    ...(q ? [`WorkflowId STARTS_WITH ${queryWords([`pipeline/${q}`])}`] : []),
    ...(owner ? [`ConveyorOwners = ${queryWords([owner])}`] : []),
    ...(label ? [`ConveyorLabels = ${queryWords([label])}`] : []),
    ...(state ? [stateCondition('pipeline', state)] : []),
  ].join(' AND ');
}

/** Names in words without quotes may match more than was asked for. */
const fitsQuery = ({ id, owners, labels, state }: PipelineSummary, wanted: PageQuery): boolean =>
  id.startsWith(wanted.q ?? '') &&
  (!wanted.owner || owners.includes(wanted.owner)) &&
  (!wanted.label || Object.entries(labels).some(([key, value]) => `${key}=${value}` === wanted.label)) &&
  (!wanted.state || state === wanted.state);
