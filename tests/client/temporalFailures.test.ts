import {
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Temporal } from '../../client/connection';
import { frontIndex } from '../../client/pipelineIndex';
import { createRelease, submitArtifacts } from '../../client/releases';
import { Workflows } from '../../client/workflows';
import { appOf, FakePipelines, githubDelivery, pushOf, TOKEN } from '../builders/serverWorld';

/** The error of Temporal's client for a gRPC status. */
const grpc = (code: number): Error =>
  new ServiceError('the call failed', {
    cause: Object.assign(new Error(`${code} SAID_THE_SERVER: not now`), { code, details: 'not now', metadata: {} }),
  });

const failed = (type: string): Error =>
  new WorkflowUpdateFailedError('Workflow Update failed', ApplicationFailure.nonRetryable('the server says so', type));

/** A Temporal server of which every call fails in the same way. */
function temporalThat(error: Error): Temporal {
  const fail = (): Promise<never> => Promise.reject(error);
  const handle = { executeUpdate: fail, query: fail, describe: fail, signal: fail };
  const list = (): AsyncIterable<never> => ({ [Symbol.asyncIterator]: () => ({ next: fail }) });
  const client = {
    withDeadline: (_: number, call: () => unknown) => call(),
    withAbortSignal: (_: AbortSignal, call: () => unknown) => call(),
    workflow: { getHandle: () => handle, list },
  };
  return { client, address: 'localhost:7233', namespace: 'default' } as unknown as Temporal;
}

/** The front end before such a server. */
function appBefore(error: Error, over: Partial<Parameters<typeof appOf>[1]> = {}) {
  const workflows = new Workflows(temporalThat(error), '');
  const client: FakePipelines['client'] = {
    ...new FakePipelines().client,
    release: (pipeline, artifacts, trigger) => createRelease(workflows, pipeline, { artifacts, trigger }),
    submit: (pipeline, artifacts, trigger) => submitArtifacts(workflows, pipeline, { artifacts, trigger }),
  };
  return appOf(undefined, { client, ...over });
}

const asked = (error: Error): Promise<Response> =>
  Promise.resolve(
    appBefore(error).request('/v1/pipelines/kvstore/releases', {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}` },
      body: '{"artifacts":[{"name":"source","version":"1"}]}',
    }),
  );

const delivered = (error: Error): Promise<Response> =>
  Promise.resolve(appBefore(error).request('/v1/webhooks/github', githubDelivery(pushOf(1))));

const TRANSIENT: readonly [what: string, error: Error][] = [
  ['a cancelled call', grpc(1)],
  ['an unknown failure', grpc(2)],
  ['a deadline', grpc(4)],
  ['exhausted resources', grpc(8)],
  ['no poller', grpc(9)],
  ['an aborted call', grpc(10)],
  ['an internal failure', grpc(13)],
  ['a server that is away', grpc(14)],
  ['a lost poll', new WorkflowUpdateRPCTimeoutOrCancelledError('timeout', { cause: new Error('timeout') })],
  ['a worker that did not look at it', failed('UnprocessedUpdate')],
  ['a workflow that continued as another', failed('AcceptedUpdateCompletedWorkflow')],
];

test.each(TRANSIENT)(
  'after %s of Temporal a sender gets 503 and when to try again, never a refusal',
  async (_, error) => {
    for (const response of [await asked(error), await delivered(error)])
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
  },
);

test('so does one whose subscribers cannot be listed', async () => {
  const app = appOf(undefined, { index: frontIndex(temporalThat(grpc(14))) });
  const response = await app.request('/v1/webhooks/github', githubDelivery(pushOf(1)));
  expect([response.status, await response.text()]).toEqual([503, expect.stringContaining('temporal-unreachable')]);
});

test.each<[what: string, error: Error, status: number, code: string]>([
  ['a refusal of the pipeline is final', failed('invalid-state'), 409, 'invalid-state'],
  [
    'a pipeline that is not there is final',
    new WorkflowNotFoundError('gone', 'pipeline/kv', ''),
    404,
    'unknown-pipeline',
  ],
  ['a defect of the workflow is a defect', failed('TypeError'), 500, 'internal'],
  ['a call that Temporal will never take is a defect', grpc(3), 500, 'internal'],
])('%s', async (_, error, status, code) => {
  const response = await asked(error);
  expect([response.status, await response.json()]).toMatchObject([status, { error: { code } }]);
});
