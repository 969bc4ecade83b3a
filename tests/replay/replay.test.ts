import { readFileSync } from 'node:fs';
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { createSinks } from '../../workers/sinks';
import * as workflows from '../../workflows';
import { bundleForBuild } from '../../workflows/versioning';
import { files, read, silenceWorkers, startOf, withoutMachine, type Recorded } from './histories';

silenceWorkers();

const bundle = { codePath: process.env['CONVEYOR_TEST_BUNDLE'] ?? '' };

const sinks = createSinks();

async function problems(
  histories: readonly { name: string; history: Recorded }[],
  workflowBundle: WorkflowBundleOption = bundle,
): Promise<object> {
  const found: Record<string, Error> = {};
  const named = histories.map(({ name, history }) => ({ workflowId: startOf(history).workflowId, history, name }));
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle, sinks }, named))
    if (error) found[named.find((it) => it.workflowId === workflowId)?.name ?? workflowId] = error;
  return found;
}

test('every workflow that ever ran so far still runs on the present code', async () => {
  const histories = files().map((name) => ({ name, history: read(name) }));
  expect(await problems(histories)).toEqual({});
});

test('and so it does on workers that have a build', async () => {
  const histories = files().map((name) => ({ name, history: read(name) }));
  expect(await problems(histories, { code: bundleForBuild(readFileSync(bundle.codePath, 'utf8')) })).toEqual({});
});

test('there is a recorded history of every type of workflow', () => {
  const types = new Set(files().map((file) => startOf(read(file)).type));
  expect([...types].sort()).toEqual(Object.keys(workflows).sort());
});

test('nothing in a history names the machine that it was recorded on', () => {
  for (const file of files())
    expect({ file, history: withoutMachine(read(file)) }).toEqual({ file, history: read(file) });
});

test('a history that the present code would not make is found', async () => {
  const recorded = read('deploy-good.json');
  const events = recorded.events.map((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled?.activityType.name !== 'planUnits') return event;
    return { ...event, activityTaskScheduledEventAttributes: { ...scheduled, activityType: { name: 'fetchUnits' } } };
  });
  expect(await problems([{ name: 'changed', history: { events } }])).toEqual({
    changed: expect.any(DeterminismViolationError),
  });
});
