import { runDay, type Day } from '../../bench/controllers/frontFaaS';
import { loadController } from '../../examples/controllers/loadAdaptive';
import { viaApp } from '../../sdk';
import { callExtension } from '../../sdk/client';
import { taskControllerProtocol } from '../../sdk/protocol/taskController';
import { op, requestOf } from './controllersWorld';
import { expectNoViolations, givenFleet } from '../builders/simulatorFleet';

describe('a day of 10,000 tasks with a release every three hours (Conveyor §6.3)', () => {
  let day: Day;
  beforeAll(async () => {
    day = await runDay();
  });

  test('each release is through before the next', () => {
    expect(day.releases).toHaveLength(8);
    for (const { took } of day.releases) expect(took).toBeLessThan(180);
  });

  test('a release at night is at least three times as fast as one at the peak', () => {
    const byLoad = [...day.releases].sort((a, b) => a.load - b.load);
    expect(byLoad.at(-1)!.load / byLoad[0]!.load).toBeGreaterThan(1.5);
    expect(byLoad.at(-1)!.took! / byLoad[0]!.took!).toBeGreaterThanOrEqual(3);
  });

  test('the tasks that run are never at 75% of their CPU, and what can be spared is used', () => {
    const cpu = day.minutes.map((minute) => minute.cpu);
    expect(Math.max(...cpu)).toBeLessThan(0.75);
    expect(Math.max(...cpu)).toBeGreaterThan(0.7);
    expect(Math.max(...day.minutes.map(({ load }) => load))).toBeLessThan(0.69);
    expect(day.violations).toEqual([]);
  });
});

describe('the load-adaptive controller of examples/', () => {
  afterEach(expectNoViolations);

  test('reads the load from a data source, and takes what the others can stand in for', async () => {
    const fleet = givenFleet();
    await fleet.job('kv-x', { tasks: 100, nSmall: 1, budget: 1 });
    const metrics = { name: 'metrics', url: 'http://simulator/data-source', timeoutMs: 5000 };
    const options = { metrics, tasksOf: () => 100, limit: 0.5, stepMs: 60_000, now: fleet.now };
    const app = loadController({ ...options, fetch: viaApp(fleet.app) });
    const ask = (sequenceNumber: number, unhealthy: number) => {
      const allUnhealthyTasks = Array.from({ length: unhealthy }, (_, slot) => `kv-x/${slot + 80}`);
      const request = requestOf({
        ...{ sequenceNumber, allUnhealthyTasks },
        request: Array.from({ length: 80 }, (_, slot) => op(`kv-x/${slot}`)),
      });
      const service = { name: 'load', url: 'http://load', timeoutMs: 5000 };
      const common = { service, protocol: taskControllerProtocol, method: 'process', context: null } as const;
      return callExtension({ ...common, request, fetch: viaApp(app) });
    };
    // All at 40%: eighty of them would be at 50%.
    expect(Math.abs((await ask(1, 0)).ack.length - 20)).toBeLessThanOrEqual(1);
    expect(Math.abs((await ask(2, 8)).ack.length - 12)).toBeLessThanOrEqual(1);
  });

  test('approves nothing while the load is unknown', async () => {
    const fleet = givenFleet();
    const metrics = { name: 'metrics', url: 'http://simulator/data-source', timeoutMs: 5000 };
    const options = { metrics, tasksOf: () => 100, limit: 0.5, stepMs: 60_000, now: fleet.now };
    const app = loadController({ ...options, fetch: viaApp(fleet.app) });
    const body = JSON.stringify(requestOf({ sequenceNumber: 1, request: [op('kv-x/0')] }));
    expect((await app.request('/process', { method: 'POST', body })).status).toBe(500);
  });
});
