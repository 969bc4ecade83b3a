import { callExtension, type Fetch } from '../../sdk/client';
import { actionServiceProtocol, type ActionServiceProtocol } from '../../sdk/protocol/actionService';
import type { RequestInput, ResponseOf } from '../../sdk/protocol/common';

/** An action service under test, in a world in which time passes only when the suite says so. */
export interface ActionServiceSubject {
  readonly fetch: Fetch;
  readonly url: string;
  /** Lets any run end. */
  readonly settle: () => void;
  /** The version of an input with which a run fails; undefined when the service never fails by itself. */
  readonly badVersion?: string;
}

type Methods = ActionServiceProtocol;

/** What every action service owes (docs/design/protocols.md#action-service). */
export function describeActionService(name: string, makeSubject: () => Promise<ActionServiceSubject>): void {
  describe(`action service ${name}`, () => {
    let subject: ActionServiceSubject;
    beforeEach(async () => {
      subject = await makeSubject();
    });
    const ask = <M extends keyof Methods & string>(
      method: M,
      request: RequestInput<Methods[M]>,
      key?: string,
    ): Promise<ResponseOf<Methods[M]>> =>
      callExtension({
        service: { name, url: subject.url, timeoutMs: 5000 },
        protocol: actionServiceProtocol,
        method,
        request,
        context: { pipeline: 'kvstore', release: 12, deployId: 'release/kvstore/12', actor: 'user:alice', config: {} },
        ...(key === undefined ? {} : { key }),
        fetch: subject.fetch,
      });
    const start = (runId: string, version = '12', key = runId) =>
      ask('startRun', { ...RUN, runId, inputs: [{ name: 'source', kind: 'source', version, metadata: {} }] }, key);
    const state = async (runId: string): Promise<string> => (await ask('getRunProgress', { runId })).state;

    test('a run goes on after startRun answered, and ends', async () => {
      expect(await start('run/1')).toEqual({ runId: 'run/1' });
      expect(await ask('getRunProgress', { runId: 'run/1' })).toMatchObject({ state: 'running' });
      subject.settle();
      expect(await ask('getRunProgress', { runId: 'run/1' })).toMatchObject({ state: 'succeeded', progress: 1 });
    });

    test('the outputs that the action declares come out under their names', async () => {
      await start('run/1');
      subject.settle();
      const { outputs } = await ask('getRunProgress', { runId: 'run/1' });
      expect(outputs?.map((output) => output.name) ?? []).toEqual(RUN.with.outputs.slice(0, outputs?.length));
    });

    test('a run id that is known starts nothing new, whatever the key', async () => {
      await start('run/1');
      subject.settle();
      expect(await start('run/1')).toEqual({ runId: 'run/1' });
      expect(await start('run/1', '12', 'another key')).toEqual({ runId: 'run/1' });
      expect(await state('run/1')).toBe('succeeded');
    });

    test('a run that is cancelled does not succeed any more, and cancelling again is harmless', async () => {
      await start('run/1');
      expect(await ask('cancelRun', { runId: 'run/1' }, 'cancel')).toEqual({});
      expect(await ask('cancelRun', { runId: 'run/1' }, 'cancel')).toEqual({});
      subject.settle();
      expect(await ask('getRunProgress', { runId: 'run/1' })).toMatchObject({ state: 'failed', message: 'cancelled' });
    });

    test('cancelling a run that was never begun changes nothing', async () => {
      expect(await ask('cancelRun', { runId: 'run/9' }, 'cancel')).toEqual({});
    });

    test('a run that fails says why', async () => {
      if (subject.badVersion === undefined) return;
      await start('run/1', subject.badVersion);
      subject.settle();
      const end = await ask('getRunProgress', { runId: 'run/1' });
      expect(end).toMatchObject({ state: 'failed' });
      expect(end.message).toContain(subject.badVersion);
    });

    test('a run that nobody knows cannot be followed, and starting needs a key', async () => {
      await expect(state('run/9')).rejects.toMatchObject({ code: 'extension-rejected' });
      const request = { ...RUN, runId: 'run/1', inputs: [] };
      await expect(ask('startRun', request)).rejects.toMatchObject({ code: 'extension-rejected' });
    });
  });
}

const RUN = {
  pipeline: 'kvstore',
  release: 12,
  action: 'build',
  attempt: 1,
  with: { target: '//kv:server', outputs: ['executable'] },
};
