import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import type { ChildrenView, DeployStatus, ReleaseStatus } from '../../domain/views';
import type { JobView } from '../../simulator/twine/jobs';
import {
  exampleFleet,
  examplePath,
  examplePipelines,
  exampleSource,
  IN_VIRTUAL_TIME,
  ON_OTHER_FLEETS,
  TOGETHER,
} from '../setup/examples';
import { Processes } from './process';
import { startTemporal } from './server';
import { Stack } from './stack';
import { eventually } from './waiting';

/**
 * Every example as users run it: on a stack with the jobs of the development stack, applied and released through the
 * command line. The examples have fixed names, so this file also has its own Temporal server.
 */
const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-examples-'));
const PATIENT_MS = 180_000;

const FILES = examplePipelines().filter(
  (file) => ![...IN_VIRTUAL_TIME, ...ON_OTHER_FLEETS, ...TOGETHER].includes(file),
);
/** Released by their parent, not by hand. */
const isChild = (file: string): boolean => exampleSource(file).labels?.['parent'] !== undefined;
const RELEASED = FILES.filter((file) => !isChild(file));

let stack: Stack;
beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  await startTemporal(processes, { home, port, data: 'memory' });
  stack = await Stack.open({ temporal: `127.0.0.1:${port}` });
  const jobs = new Map(FILES.flatMap(exampleFleet).map((job) => [job.name, job]));
  for (const job of jobs.values()) await stack.control('POST', '/control/jobs', job);
  await stack.json(['apply', ...FILES.map(examplePath)]);
  for (const file of RELEASED) await ships(file, 12);
}, PATIENT_MS);
afterAll(async () => {
  await stack?.close();
  await processes.reap();
  rmSync(home, { recursive: true, force: true });
});

/** Releases a version of all inputs of the pipeline. */
function ships(file: string, version: number): Promise<unknown> {
  const { pipeline, artifacts = {} } = exampleSource(file);
  const inputs = Object.keys(artifacts).flatMap((name) => ['-a', `${name}=${version}`]);
  return stack.json(['release', pipeline, ...inputs]);
}

const ended = (pipeline: string, number: number): Promise<ReleaseStatus> =>
  eventually(
    `${pipeline}/${number} ended`,
    async () => {
      const release = (await stack.client.status(`${pipeline}/${number}`)) as ReleaseStatus;
      return release.endedAt !== null && release;
    },
    PATIENT_MS,
  );

/** A person approves once asked. */
async function picked(pipeline: string, action: string): Promise<void> {
  await eventually(
    `${pipeline}/1 waits for a pick`,
    async () => {
      const { actions } = (await stack.client.status(`${pipeline}/1`)) as ReleaseStatus;
      return actions.some(({ name, state, pickBy }) => name === action && state === 'blocked' && pickBy !== null);
    },
    PATIENT_MS,
  );
  await stack.json(['pick', `${pipeline}/1/${action}`, '--approve', '--reason', 'the canary looks good']);
}

const statesOf = ({ actions }: ReleaseStatus): Record<string, string> =>
  Object.fromEntries(actions.map(({ name, state }) => [name, state]));

/** The version that each job of an example runs. */
async function runs(file: string): Promise<Record<string, Readonly<Record<string, number>>>> {
  const jobs = await stack.control<JobView[]>('GET', '/control/jobs');
  const names = exampleFleet(file).map(({ name }) => name);
  return Object.fromEntries(
    jobs.filter(({ name }) => names.includes(name)).map(({ name, versions }) => [name, versions]),
  );
}

const startOf = (release: ReleaseStatus, action: string): string =>
  release.actions.find(({ name }) => name === action)?.startedAt ?? '';
const endOf = (release: ReleaseStatus, action: string): string =>
  release.actions.find(({ name }) => name === action)?.endedAt ?? '';

test.each(RELEASED)(
  'a release of examples/%s succeeds, in every action, on every task',
  async (file) => {
    const { pipeline, actions } = exampleSource(file);
    for (const [name, { type }] of Object.entries(actions)) if (type === 'manual-pick') await picked(pipeline, name);
    const release = await ended(pipeline, 1);
    const expected = Object.entries(actions).map(([name, { runIf }]) => [
      name,
      runIf === 'failure' ? 'skipped' : 'succeeded',
    ]);
    expect([release.state, statesOf(release)]).toEqual(['succeeded', Object.fromEntries(expected)]);
    if (exampleSource(file).children !== undefined) return;
    for (const [job, versions] of Object.entries(await runs(file)))
      expect([job, Object.keys(versions)]).toEqual([job, [expect.stringMatching(/:12(-fdo)?$/)]]);
  },
  PATIENT_MS,
);

describe('frontfaas', () => {
  const file = 'frontfaas/pipeline.yaml';

  test('reaches a pool after the one before it, both versions of the runtime beside each other', async () => {
    const release = await ended('frontfaas', 1);
    const pools = ['employees', 'two-percent', 'production'];
    for (const [index, pool] of pools.entries()) {
      const filter = `filter-${pool}`;
      for (const variant of ['stable', 'experimental']) {
        expect(startOf(release, `${pool}-${variant}`) >= endOf(release, filter)).toBe(true);
        if (index > 0) expect(startOf(release, filter) >= endOf(release, `${pools[index - 1]}-${variant}`)).toBe(true);
      }
      expect(startOf(release, `${pool}-stable`) < endOf(release, `${pool}-experimental`)).toBe(true);
    }
  });

  test(
    'a bad version of one runtime stays with the employees, and goes from there too',
    async () => {
      await ended('frontfaas', 1);
      const version = 'frontfaas-stable:13';
      await stack.control('POST', '/control/versions', { version, behaviour: { errorRatio: 0.3 } });
      await ships(file, 13);
      const release = await ended('frontfaas', 2);
      expect(release.state).toBe('failed');
      expect(statesOf(release)).toMatchObject({ 'employees-stable': 'failed', 'check-employees': 'skipped' });
      const { outcome } = (await stack.client.status('frontfaas/2/employees-stable')) as DeployStatus;
      expect(outcome).toBe('reverted');
      for (const [job, versions] of Object.entries(await runs(file)))
        expect([job, version in versions]).toEqual([job, false]);
    },
    PATIENT_MS,
  );
});

describe('inference', () => {
  const MODELS = ['ads', 'feed', 'search'];

  test(
    'brings the new executable to every model, to an unimportant one first',
    async () => {
      await ended('inference', 1);
      const children = await eventually(
        'the children ended',
        async () => {
          const { children: view } = (await stack.client.status('inference/1')) as ReleaseStatus;
          return view != null && ['succeeded', 'failed', 'cancelled'].includes(view.state) && view;
        },
        PATIENT_MS,
      );
      expect(children).toMatchObject({
        state: 'succeeded',
        total: MODELS.length,
        succeeded: MODELS.length,
      } satisfies Partial<ChildrenView>);
      const releases = await Promise.all(MODELS.map((model) => ended(`model-${model}`, 1)));
      const [ads, feed, search] = releases;
      expect(releases.map(({ state, trigger }) => [state, trigger.kind, trigger.parent])).toEqual(
        MODELS.map(() => ['succeeded', 'parent', 'inference/1']),
      );
      expect([ads, feed].every((model) => model!.startedAt >= search!.endedAt!)).toBe(true);
      expect(await runs('inference/pipeline.yaml')).toEqual({
        'inference-canary': { 'inference:12': 4 },
        ...Object.fromEntries(MODELS.map((model) => [`model-${model}-x`, { 'inference:12': 6 }])),
      });
    },
    PATIENT_MS,
  );
});
