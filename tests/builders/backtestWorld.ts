import type { ConveyorClient } from '../../client';
import { conveyorError } from '../../domain/errors';
import { parsePipeline } from '../../domain/spec/parse';
import { formatTime } from '../../domain/text';
import type { DeployStatus, HistoryRow } from '../../domain/views';
import { pastRelease } from './historyRows';
import { givenFleet, update, type TestFleet } from './simulatorFleet';

const MINUTE = 60_000;

/** The pipeline whose deploys are in the past of `backtestWorld`. */
export const BACKTEST_PIPELINE = `
pipeline: kvstore
owners: [group:kv]
artifacts: { executable: { finder: manual } }
actions:
  deploy:
    type: deploy
    inputs: [executable]
    with:
      pushType: twine
      config: { jobs: [kvstore-x] }
      phases: [{ scope: "*", amount: 50%, bake: 10m }]
      healthChecks:
        - { name: errors, metric: rpc.error_ratio, threshold: { above: 0.05 }, lookback: 3m, minSamples: 3 }
        - { name: cpu, metric: system.cpu, threshold: { increase: 20% }, compare: control, lookback: 3m, minSamples: 3 }
`;

/** A past release: the errors of its version, and its outcome. */
export interface PastRelease {
  readonly errorRatio: number;
  readonly deploy: HistoryRow['deploys'][number];
  readonly trigger?: Partial<HistoryRow['trigger']>;
  /** Temporal has forgotten it. */
  readonly lost?: boolean;
}

export interface BacktestWorld {
  readonly fleet: TestFleet;
  readonly client: ConveyorClient;
}

/** A simulated fleet to which these releases were deployed, half an hour apart, and a client that knows their outcomes. */
export async function backtestWorld(releases: readonly PastRelease[]): Promise<BacktestWorld> {
  const fleet = givenFleet();
  await fleet.job('kvstore-x', { nSmall: 3, budget: 3 });
  const rows: HistoryRow[] = [];
  const statuses = new Map<string, DeployStatus>();
  for (const [index, { errorRatio, deploy, trigger, lost }] of releases.entries()) {
    const number = index + 1;
    const id = `deploy/kvstore/${number}/deploy/1/0/1`;
    await fleet.behaves(deploy.version, { errorRatio });
    const startedAt = fleet.now();
    await fleet.twine('executeUpdates', update(id, 'kvstore-x', deploy.version, { amount: { count: 3 } }));
    fleet.pass(30 * MINUTE);
    await fleet.look('kvstore-x');
    rows.push({ ...pastRelease(number, [deploy], trigger), startedAt: formatTime(startedAt) });
    if (!lost) statuses.set(`kvstore/${number}/deploy`, statusOf(number, deploy, id, startedAt));
  }
  return { fleet, client: clientOf(rows, statuses) };
}

function statusOf(number: number, deploy: PastRelease['deploy'], id: string, startedAt: number): DeployStatus {
  const at = (minutes: number): string => formatTime(startedAt + minutes * MINUTE);
  const units = [{ id: 'kvstore-x', targeted: 3, updated: 3, live: 3 }];
  const reverted = deploy.outcome === 'reverted';
  const revert = { by: deploy.reverted?.by, startedAt: at(15) };
  return {
    id: `kvstore/${number}/deploy`,
    pushType: 'twine',
    attempt: 1,
    updates: [id],
    phases: [{ units, startedAt: at(0), updatedAt: at(5), bakedAt: reverted ? null : at(15) }],
    revert: reverted ? revert : null,
    endedAt: at(20),
  } as unknown as DeployStatus;
}

function clientOf(rows: readonly HistoryRow[], statuses: ReadonlyMap<string, DeployStatus>): ConveyorClient {
  const spec = parsePipeline(BACKTEST_PIPELINE).spec;
  const known: Partial<ConveyorClient> = {
    history: (pipeline) =>
      pipeline === 'kvstore'
        ? Promise.resolve([...rows].reverse())
        : Promise.reject(conveyorError('unknown-pipeline', { pipeline })),
    status: (id) => {
      const status = statuses.get(id);
      return status ? Promise.resolve(status) : Promise.reject(conveyorError('unknown-release', { id }));
    },
    spec: (pipeline) =>
      spec && pipeline === 'kvstore'
        ? Promise.resolve(spec)
        : Promise.reject(conveyorError('unknown-pipeline', { pipeline })),
    listPipelines: () => Promise.resolve([{ id: 'kvstore' }] as Awaited<ReturnType<ConveyorClient['listPipelines']>>),
    close: () => Promise.resolve(),
  };
  return known as ConveyorClient;
}
