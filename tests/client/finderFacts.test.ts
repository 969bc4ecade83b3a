import { findersHealth } from '../../client/finders';
import type { Temporal } from '../../client/connection';

const ago = (ms: number) => {
  const at = Date.now() - ms;
  return { seconds: Math.floor(at / 1000), nanos: (at % 1000) * 1e6 };
};

/** A Temporal server with one Schedule, which a person has paused, and its workflow of ten minutes ago. */
function paused(workflow: object, name = 'RUNNING', startWorkflowStatus = 1): Temporal {
  const described = {
    state: { paused: true, note: 'maintenance' },
    raw: { info: { recentActions: [{ startWorkflowStatus }] } },
    info: {
      nextActionTimes: [],
      recentActions: [{ takenAt: new Date(Date.now() - 600_000), action: { workflow: { workflowId: 'sweep' } } }],
    },
  };
  const running = { raw: workflow, status: { name }, runId: 'run' };
  const client = {
    withDeadline: (_: number, ask: () => Promise<unknown>) => ask(),
    schedule: { getHandle: () => ({ describe: () => Promise.resolve(described) }) },
    workflow: { getHandle: () => ({ describe: () => Promise.resolve(running) }) },
  };
  return { client } as unknown as Temporal;
}
const seen = async (workflow: object) => (await findersHealth(paused(workflow), ['commits']))[0];

test.each([
  ['a worker decides on the next one', { pendingWorkflowTask: { state: 2, originalScheduledTime: ago(40_000) } }],
  ['a worker is about to', { pendingWorkflowTask: { state: 1, originalScheduledTime: ago(2_000) } }],
  ['nothing is left to do', {}],
])('a finder between two sweeps, while %s, is not called unasked', async (_, workflow) => {
  expect(await seen(workflow)).toMatchObject({ state: 'paused', reason: 'maintenance' });
});

test('a workflow of sweeps that no worker has taken up for half a minute is unasked since then', async () => {
  const view = await seen({ pendingWorkflowTask: { state: 1, originalScheduledTime: ago(40_000) } });
  expect(view).toMatchObject({ state: 'unasked', reason: 'no worker takes up its sweep' });
  const agoMs = Date.now() - Date.parse(view?.since ?? '');
  expect(agoMs).toBeGreaterThan(38_000);
  expect(agoMs).toBeLessThan(45_000);
});

test('a workflow of sweeps that is paused through Temporal is under way', async () => {
  const sweep = { pendingWorkflowTask: { state: 1, originalScheduledTime: ago(40_000) } };
  const [view] = await findersHealth(paused(sweep, 'PAUSED', 8), ['commits']);
  expect(view).toMatchObject({ state: 'unasked', reason: 'no worker takes up its sweep' });
});
