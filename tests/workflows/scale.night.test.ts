import { deploying } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, STARTED, COMPLETED. */
const WORKFLOW_TASK = [5, 6, 7];
const PHASES = [
  { scope: '*', amount: '1%', bake: '10m' },
  { scope: '*', amount: '50%', bake: '10m' },
];

/**
 * The work of a deploy workflow with two phases and a completion for that many tasks, from its request for units on:
 * event types, without those of the workflow task itself, in which several may arrive at once. Earlier events are left
 * out, because the lock may answer before or after it received the question, with a timer more or less.
 */
async function historyOf(tasks: number): Promise<{ events: number[]; versions: unknown }> {
  const world = await VirtualWorld.open();
  try {
    await world.job('kvstore-x', 'x', tasks, { nSmall: '25%' });
    const deploy = await deploying(world, {}, { config: { jobs: ['kvstore-x'] }, phases: PHASES, healthChecks: [] });
    expect(await deploy.ended({ stepMs: 5 * MINUTE, withinMs: 4 * HOUR })).toMatchObject({ outcome: 'succeeded' });
    const { events } = await deploy.handle.fetchHistory();
    const all = events ?? [];
    const planned = all.findIndex(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name === 'planUnits',
    );
    const [job] = await world.jobs();
    return {
      events: all
        .slice(planned)
        .map(({ eventType }) => eventType ?? 0)
        .filter((type) => !WORKFLOW_TASK.includes(type)),
      versions: job?.versions,
    };
  } finally {
    await world.close();
  }
}

test('the history of a deploy to 500,000 tasks has as many events as that of one to 100', async () => {
  const small = await historyOf(100);
  expect(small.versions).toEqual({ 'kv:2': 100 });
  const large = await historyOf(500_000);
  expect(large.versions).toEqual({ 'kv:2': 500_000 });
  expect(small.events.length).toBeGreaterThan(40);
  expect([...large.events].sort()).toEqual([...small.events].sort());
});
