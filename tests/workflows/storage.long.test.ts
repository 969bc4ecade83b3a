import { getOpeningState } from '../../domain/calendar/opening';
import { windowAt, type Window } from '../../domain/calendar/window';
import { estimate } from '../../domain/deploy/estimate';
import { planDeploy } from '../../domain/deploy/plan';
import { planView } from '../../domain/deploy/planView';
import type { Unit } from '../../domain/fleet/unit';
import { DEFAULT_SETTINGS } from '../../domain/settings';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import type { DeployStatus, PlanView } from '../../domain/views';
import { exampleFleet, exampleSource } from '../setup/examples';
import { deploying, type LoneDeploy } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';

/**
 * The storage service of Conveyor §6.5.3, from examples/storage: its deploys take days, and end at the minute given by
 * the rules of docs/design/deploy.md#phases. Wall times are those of Los Angeles, calculated by hand.
 */
const FILE = 'storage/pipeline.yaml';
const LA = 'America/Los_Angeles';
const UPDATE_MS = 25 * MINUTE;
/** An update is looked at every five minutes, and all times of the plan are multiples of that. */
const settings = {
  ...DEFAULT_SETTINGS,
  heartbeatTimeoutMs: HOUR,
  trackIntervalMs: 5 * MINUTE,
  reconcileIntervalMs: 24 * HOUR,
};
type OnClose = 'pause' | 'finish-phase';

const spec = pipelineSchema.parse(exampleSource(FILE));
const deploySpec = () => {
  const { deploy } = spec.actions;
  if (deploy?.type !== 'deploy' || deploy.window === undefined) throw new Error('no deploy with a window');
  return { deploy, window: deploy.window };
};
const units = exampleFleet(FILE).map(({ name, region, tasks, version }): Unit => ({
  ...{ id: name, labels: { region }, size: tasks, version, mixed: false, available: true },
}));

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const job of exampleFleet(FILE)) await world.control('POST', '/control/jobs', job);
});
afterEach(() => world.close());

/** `Tue 09:00`, as clocks in Los Angeles show it. */
const wall = (at: string | number | null | undefined): string =>
  new Date(at ?? NaN)
    .toLocaleString('en-US', { timeZone: LA, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
    .replace(',', '');

/** Lets time pass until clocks in Los Angeles show this. */
async function untilWall(day: Window['days'][number], from: string): Promise<void> {
  const now = await world.now();
  const window: Window = { days: [day], from, to: '24:00', timezone: LA };
  const state = windowAt(window, now);
  const next = state.open ? windowAt(window, state.closesAtMs) : state;
  if (!next.open) await world.sleep(next.opensAtMs - now);
}

/** A deploy of the example without its health checks, whose time is not tested here. */
function begun(onClose: OnClose): Promise<LoneDeploy> {
  const { deploy, window } = deploySpec();
  return deploying(world, {
    pipeline: 'storage',
    spec: { ...deploy.with, healthChecks: [] },
    window: { ...window, onClose },
    settings,
  });
}

/** The output of `conveyor plan --update-time 25m` at a moment. */
function planned(onClose: OnClose, now: number): PlanView {
  const { deploy, window } = deploySpec();
  const actions = { deploy: { ...deploy, window: { ...window, onClose } } };
  return planView({ ...spec, actions }, 'deploy', units, { now, updateTimeMs: UPDATE_MS, openingAt: getOpeningState });
}

/** The end if the updates of one phase took that much longer. */
function endOf(onClose: OnClose, now: number, held: { readonly phase: string; readonly byMs: number }): string {
  const { deploy, window } = deploySpec();
  const lengths = planDeploy(deploy.with, units, [], 'storage:12').phases.map(({ name, bakeMs }) => ({
    updateMs: UPDATE_MS + (name === held.phase ? held.byMs : 0),
    bakeMs,
  }));
  const stateAt = (atMs: number) => getOpeningState({ windows: [window].flat() }, atMs);
  return wall(estimate(lengths, now, { onClose, stateAt }).at(-1)?.bakedAtMs);
}

/** The actions of the example, with health looked at as often as updates. */
function calmly(): PipelineSource['actions'] {
  const { actions } = exampleSource(FILE);
  const { deploy } = actions;
  if (deploy?.type !== 'deploy') throw new Error('no deploy');
  return { ...actions, deploy: { ...deploy, with: { ...deploy.with, healthInterval: '5m' } } };
}

type Times = Pick<DeployStatus['phases'][number], 'name' | 'startedAt' | 'updatedAt' | 'bakedAt'>;
const row = ({ name, startedAt, updatedAt, bakedAt }: Times): string =>
  [name, ...[startedAt, updatedAt, bakedAt].map(wall)].join(', ');
const rows = ({ phases }: Pick<DeployStatus, 'phases'>): string[] => phases.map(row);
const plannedRows = ({ phases }: PlanView): string[] =>
  phases.map(({ startsAt, ...phase }) => row({ startedAt: startsAt, ...phase }));

const PATIENT = { stepMs: HOUR, withinMs: 120 * HOUR };

test('it ends on Tuesday at 16:35 when begun on Monday at nine, checks, nights and all, as planned', async () => {
  await untilWall('mon', '08:30');
  const plan = planned('pause', await world.now());
  await world.apply({ ...exampleSource(FILE), owners: ['user:alice'], actions: calmly() }, settings);
  const trigger = { kind: 'manual', actor: 'user:alice', key: null } as const;
  const source = { name: 'source', kind: 'source', version: '12', metadata: {} };
  await world.start('storage', { artifacts: [source], trigger });
  expect((await world.ended('storage', 1, PATIENT)).state).toBe('succeeded');
  const status = await world.deployStatus('storage', 1);
  expect(rows(status)).toEqual(plannedRows(plan));
  expect(rows(status)).toEqual(
    expect.arrayContaining([
      'first-job, Mon 09:00, Mon 09:25, Mon 10:25',
      'region-d, Mon 16:05, Mon 16:30, Mon 17:30',
      'region-e, Mon 17:30, Mon 17:55, Mon 18:05',
      'region-f, Tue 09:00, Tue 09:25, Tue 09:35',
      'completion, Tue 16:00, Tue 16:25, Tue 16:35',
    ]),
  );
  expect([wall(status.endedAt), wall(plan.finishesAt)]).toEqual(['Tue 16:35', 'Tue 16:35']);
  // Whole units, cumulative: the first phase took one unit of region a, the second one more and not the first again.
  const touched = status.phases.slice(0, 4).map((phase) => phase.units.filter(({ targeted }) => targeted > 0));
  expect(touched.map((counts) => counts.map(({ id, live }) => `${id}: ${live}`))).toEqual([
    ['storage-a-1: 10'],
    ['storage-a-2: 20'],
    ['storage-a-3: 30'],
    ['storage-b: 40'],
  ]);
});

describe('begun on a Monday at a quarter past nine', () => {
  test.each<[OnClose, string, string]>([
    ['pause', 'region-e, Mon 17:45, Tue 09:10, Tue 09:20', 'Tue 16:55'],
    ['finish-phase', 'region-e, Mon 17:45, Mon 18:10, Mon 18:20', 'Tue 16:35'],
  ])(
    'it is in its seventh phase at closing, and ends at the minute that was planned, with onClose: %s',
    async (onClose, closing, end) => {
      await untilWall('mon', '09:15');
      const plan = planned(onClose, await world.now());
      const deploy = await begun(onClose);
      expect((await deploy.ended(PATIENT)).outcome).toBe('succeeded');
      const status = await deploy.status();
      expect(rows(status)).toEqual(plannedRows(plan));
      expect(rows(status)).toContain(closing);
      expect([wall(status.endedAt), wall(plan.finishesAt)]).toEqual([end, end]);
    },
    300_000,
  );
});

/**
 * On Tuesday region f goes down a minute after its update began: the update waits, and is given up after two hours. The
 * region is back at 11:20; a person resumes at 11:30, and the phase is retried.
 */
describe('on day three, when a phase must be retried', () => {
  test.each<[OnClose, string[], string]>([
    [
      'pause',
      [
        'region-f, Tue 09:00, Tue 11:55, Tue 12:05',
        'region-p, Tue 17:20, Tue 17:45, Tue 17:55',
        'region-q, Tue 17:55, Wed 09:20, Wed 09:30',
        'completion, Wed 09:30, Wed 09:55, Wed 10:05',
      ],
      'Wed 10:05',
    ],
    [
      'finish-phase',
      [
        'region-f, Tue 09:00, Tue 11:55, Tue 12:05',
        'region-q, Tue 17:55, Tue 18:20, Tue 18:30',
        'completion, Wed 09:00, Wed 09:25, Wed 09:35',
      ],
      'Wed 09:35',
    ],
  ])(
    'it ends when the hours until the retry and one update more have passed, with onClose: %s',
    async (onClose, retried, end) => {
      await untilWall('mon', '08:30');
      const estimated = endOf(onClose, await world.now(), { phase: 'region-f', byMs: 150 * MINUTE });
      const deploy = await begun(onClose);
      await untilWall('tue', '09:01');
      await world.control('POST', '/control/faults', { kind: 'region', id: 'f', downMs: 139 * MINUTE });
      await untilWall('tue', '11:30');
      const stuck = await deploy.status();
      expect(stuck).toMatchObject({ paused: { by: 'timeout' } });
      expect(wall(stuck.paused?.at)).toBe('Tue 11:00');
      expect(stuck.paused?.reason).toMatch(/^region-f: .* not updated in time/);
      await deploy.command('resume');
      expect((await deploy.ended(PATIENT)).outcome).toBe('succeeded');
      const status = await deploy.status();
      expect(rows(status)).toEqual(expect.arrayContaining(retried));
      expect([wall(status.endedAt), estimated]).toEqual([end, end]);
    },
    300_000,
  );
});
