import { viaApp } from '../../sdk';
import { callExtension } from '../../sdk/client';
import { actionServiceProtocol } from '../../sdk/protocol/actionService';
import { pushTypeProtocol, type PushTypeProtocol } from '../../sdk/protocol/pushType';
import type { RequestInput } from '../../sdk/protocol/common';
import { announce } from '../../examples/extensions/actionService';
import { hostsPushType } from '../../examples/extensions/pushType';

const context = { pipeline: 'web', release: 1, deployId: 'deploy/web/1/deploy/1', actor: 'user:alice', config: {} };
const endpoint = (name: string) => ({ name, url: `http://${name}`, timeoutMs: 1_000 });

describe('the push type of examples/extensions', () => {
  const ask = <M extends keyof PushTypeProtocol & string>(method: M, request: RequestInput<PushTypeProtocol[M]>) =>
    callExtension({
      ...{ service: endpoint('hosts'), protocol: pushTypeProtocol, method, request, context, key: 'k' },
      fetch: viaApp(hostsPushType),
    });
  const versions = async () => (await ask('fetchDeployUnits', {})).units.map(({ version }) => version);
  const all = { all: true } as const;
  const target = (unit: string, version: string) => ({ unit, version, artifacts: [] });

  test('updates what it is asked to, says so, and takes back exactly that', async () => {
    expect(await ask('validateConfig', {})).toEqual({ problems: [] });
    const first = [{ ...target('web-1', 'web:2'), amount: all }];
    expect((await ask('needsPush', { targets: first })).units).toEqual([{ id: 'web-1', size: 1, outdated: 1 }]);
    await ask('executeUpdates', { updateId: 'u/0/1', targets: first, wholeUnit: false, urgency: 'normal' });
    expect((await ask('trackUpdates', { updateId: 'u/0/1' })).units).toMatchObject([{ id: 'web-1', live: 1 }]);
    expect(await versions()).toEqual(['web:2', 'web:1']);
    const back = ['web-1', 'web-2'].map((unit) => ({ ...target(unit, 'web:0'), updatedBy: ['u/0/1'] }));
    await ask('executeUpdates', { updateId: 'u/revert/1', targets: back, wholeUnit: false, urgency: 'revert' });
    expect(await versions()).toEqual(['web:0', 'web:1']);
  });

  test('has no second effect when an update is asked for again', async () => {
    const targets = [{ ...target('web-2', 'web:2'), amount: all }];
    await ask('executeUpdates', { updateId: 'v/0/1', targets, wholeUnit: false, urgency: 'normal' });
    const other = [{ ...target('web-2', 'web:1'), amount: all }];
    await ask('executeUpdates', { updateId: 'v/1/1', targets: other, wholeUnit: false, urgency: 'normal' });
    await ask('executeUpdates', { updateId: 'v/0/1', targets, wholeUnit: false, urgency: 'normal' });
    expect((await versions())[1]).toBe('web:1');
  });
});

test('the action service of examples/extensions says what ships', async () => {
  const common = { service: endpoint('announce'), protocol: actionServiceProtocol, context, key: 'k' } as const;
  const inputs = [{ name: 'executable', kind: 'executable', version: 'web:2', metadata: {} }];
  const run = { runId: 'web/1/announce/1', pipeline: 'web', release: 1, action: 'announce', attempt: 1, inputs };
  const fetch = viaApp(announce);
  await callExtension({ ...common, method: 'startRun', request: { ...run, with: { channel: '#releases' } }, fetch });
  expect(await callExtension({ ...common, method: 'getRunProgress', request: { runId: run.runId }, fetch })).toEqual({
    state: 'succeeded',
    message: 'web ships executable@web:2 (#releases)',
  });
});
