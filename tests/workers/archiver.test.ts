import type { Temporal } from '../../client/connection';
import type { Archive } from '../../archive/port';
import { startArchiving } from '../../workers/archiver';

/** A server that never answers; `asked` comes once it was asked. */
function silentTemporal() {
  let markAsked = (): void => undefined;
  const asked = new Promise<void>((resolve) => (markAsked = resolve));
  const client = {
    withDeadline: (_: number, call: () => unknown) => call(),
    withAbortSignal: (signal: AbortSignal, call: () => Promise<unknown>) =>
      Promise.race([call(), new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))]),
    workflowService: { describeNamespace: () => (markAsked(), new Promise(() => undefined)) },
  };
  return { asked, temporal: { client, namespace: 'default' } as unknown as Temporal };
}

test('a worker that shuts down does not wait for what Temporal does not answer, and logs no failure', async () => {
  const { asked, temporal } = silentTemporal();
  const lines: unknown[] = [];
  const log = { info: (line: unknown) => lines.push(line), warn: (line: unknown) => lines.push(line) } as never;
  const times = { keepMs: 1, intervalMs: 1 };
  const archiving = startArchiving(temporal, 'conveyor', { archive: {} as Archive, place: 'a.duckdb' }, times, log);
  await asked;
  await archiving.stop();
  expect(lines).toEqual([]);
});
