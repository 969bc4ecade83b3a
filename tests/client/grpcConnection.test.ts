import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connectGrpc } from '../../client/grpcConnection';

interface Answer {
  readonly 'grpc-status': string;
  readonly 'grpc-message'?: string;
}
const OK: Answer = { 'grpc-status': '0' };
const UNAVAILABLE: Answer = { 'grpc-status': '14' };
/** A message of no bytes. */
const EMPTY_MESSAGE = Buffer.alloc(5);

/** A gRPC server that says what it can do, and answers everything else with what it is given, in this order; the last stays. */
class ScriptedTemporal {
  private readonly server: Http2Server = createServer();
  tries = 0;

  constructor(answers: readonly [Answer, ...Answer[]]) {
    const answerOf = (path = ''): Answer => {
      if (path.endsWith('/GetSystemInfo')) return OK;
      return answers[Math.min(this.tries++, answers.length - 1)] ?? answers[0];
    };
    this.server.on('stream', (stream: ServerHttp2Stream, headers) => {
      const answer = answerOf(headers[':path']);
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ ...answer }));
      stream.end(answer === OK ? EMPTY_MESSAGE : undefined);
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
  }
}

test('an abandoned call that would be retried does not end the process once its connection is closed', async () => {
  const server = new ScriptedTemporal([UNAVAILABLE]);
  const connection = await connectGrpc({ address: await server.listen() });
  const left = connection.workflowService.describeNamespace({ namespace: 'default' }).catch((error: unknown) => error);
  while (server.tries === 0) await delay(5);
  await connection.close();
  // Half a second is the time of the next try.
  expect(await left).toMatchObject({ code: 1, details: 'the connection is closed' });
  expect(server.tries).toBe(1);
  server.close();
});

const query = { namespace: 'default', execution: { workflowId: 'pipeline/kvstore' }, query: { queryType: 'status' } };

test('a query is asked again where the worker that it went to did not poll in time', async () => {
  const late = { 'grpc-status': '9', 'grpc-message': 'no poller seen for task queue recently, worker may be down' };
  const server = new ScriptedTemporal([late, late, OK]);
  const connection = await connectGrpc({ address: await server.listen() });
  await connection.workflowService.queryWorkflow(query);
  expect(server.tries).toBe(3);
  await connection.close();
  server.close();
});

test('a query that is refused for another reason is not asked again', async () => {
  const server = new ScriptedTemporal([{ 'grpc-status': '9', 'grpc-message': 'Workflow task is not scheduled yet.' }]);
  const connection = await connectGrpc({ address: await server.listen() });
  await expect(connection.workflowService.queryWorkflow(query)).rejects.toMatchObject({ code: 9 });
  expect(server.tries).toBe(1);
  await connection.close();
  server.close();
});
