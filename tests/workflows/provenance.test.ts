import type { WorkflowInfo } from '@temporalio/workflow';
import { interceptors } from '../../workflows/provenance';

let mockInfo: Partial<WorkflowInfo>;
jest.mock('@temporalio/workflow', () => ({
  ...jest.requireActual<object>('@temporalio/workflow'),
  workflowInfo: () => mockInfo,
  patched: () => true,
}));

const parent = { workflowId: 'release/kvstore/1', runId: 'a', namespace: 'default' };
const continued = { continuedFromExecutionRunId: 'b' };
const begin = async (info: Partial<WorkflowInfo>, ...args: unknown[]) => {
  mockInfo = info;
  const input = { args, headers: {} };
  return interceptors().inbound?.[0]?.execute?.(input, () => Promise.resolve('begun'));
};

/** Its task fails and is handed out again until a worker has the key. */
test.each([
  ['a child', { parent }],
  ['a run that continues another', continued],
])('%s whose input this worker cannot read is left to a worker that can', async (_, info) => {
  await expect(begin(info, undefined)).resolves.toBe('begun');
});

test.each([
  ['a workflow that stands alone', {}],
  [
    'a later run of a workflow with a cron schedule, which continues the one before',
    { ...continued, cronSchedule: '@daily' },
  ],
])('%s ends if its input cannot be read', async (_, info) => {
  await expect(begin(info, undefined)).rejects.toThrow('its input is missing, or not sealed for its id');
});

test('an input that belongs to the run of another parent is taken by no workflow', async () => {
  await expect(begin({ parent }, { parentRun: 'a' })).resolves.toBe('begun');
  await expect(begin({ parent }, { parentRun: 'z' })).rejects.toThrow('a copy of one that belongs to another run');
  await expect(begin({}, { parentRun: 'a' })).rejects.toThrow('a copy of one that belongs to another run');
});
