import { Hono } from 'hono';
import type { LandingQueue } from '../../client/landingQueue';
import { configChangesFinder } from '../../configerator/finder/finder';
import { gitChanges } from '../../configerator/pushType/changes';
import { ConfigFleet } from '../../configerator/pushType/fleet';
import { Landings } from '../../configerator/pushType/landings';
import type { ConfigMemory } from '../../configerator/pushType/memory';
import type { ConfigPorts, Land } from '../../configerator/pushType/ports';
import { configPushType, type Judge } from '../../configerator/pushType/pushType';
import { ServiceStepper } from '../../configerator/pushType/stepper';
import { sweepEveryMinute } from '../../configerator/pushType/sweep';
import type { Inspection } from '../../configerator/store/inspection';
import { StoreMender } from '../../configerator/tailer/mender';
import { Tailer } from '../../configerator/tailer/tailer';
import { tail } from '../../configerator/tailer/tail';
import { restrictToModels } from '../../configerator/vessel/modelsOnly';
import type { ConfigState } from '../../settings/liveRegistry';
import { METRICS_TYPE } from '../metricsText';
import { ConfigServiceMetrics } from './metrics';
import type { Repositories } from './repositories';

export interface ConfigServiceOptions {
  readonly repositories: Pick<Repositories, 'names' | 'open' | 'getStore'> & {
    /** The check of a store that other writers can reach. */
    getInspection?(name: string): Inspection | undefined;
  };
  readonly memory: ConfigMemory;
  readonly judge: Judge;
  /** Lands a change through the landing queue of the repository. */
  readonly land: Land;
  /** Landings that wait for their turn. */
  readonly landings?: Pick<LandingQueue, 'waiting' | 'before'>;
  readonly log: (line: string) => void;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Resolves after `ms`, or when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly configState?: () => ConfigState;
  /** If given, push type and finder require it as a bearer token. */
  readonly token?: string;
}

export interface ConfigService {
  readonly app: Hono;
  /**
   * Tails all repositories and advances running deploys; resolves once the signal is aborted and no step is in progress.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** How many commits are applied before the tailer looks at the branch again. */
const COMMITS_A_LOOK = 100;

/**
 * Hosts the configuration of a platform: the push types `config` and `model`, the finder `config-changes`, and a tailer for each repository
 * (docs/design/config.md#service).
 */
export function createConfigService(options: ConfigServiceOptions): ConfigService {
  const { repositories, memory, judge, log, now, sleep, token } = options;
  const metrics = new ConfigServiceMetrics();
  const tailers = repositories.names.map((name) => {
    const mender = createMender(name, options, () => fleet);
    return new Tailer(name, {
      step: async () => {
        // Commits of the branch arrive even if repairs fail.
        const [looked] = await Promise.allSettled([mender?.look()]);
        const tailed = await tail(await repositories.open(name), repositories.getStore(name), COMMITS_A_LOOK, log);
        if (looked.status === 'rejected') throw looked.reason;
        return { ...tailed, mended: looked.value ?? 0 };
      },
      ...{ now, sleep, log },
    });
  });
  const ports: ConfigPorts = {
    storeOf: (name) => repositories.getStore(name),
    changes: gitChanges((name) => repositories.open(name), now),
    land: countLandings(options.land, tailers, metrics),
    landBefore: (name, change) => options.landings?.before(name, change),
    ...{ log, now },
  };
  const fleet: ConfigFleet = new ConfigFleet(memory, ports, new Landings(ports));
  const stepping = new ServiceStepper(fleet, { sleep, log });
  const secured = token === undefined ? {} : { token };
  const parts = { tailers, troubles: stepping.troubles, services: () => fleet.services };
  const app = statusRoutes(parts, metrics, options);
  app.mount('/push-types/config', configPushType(fleet, judge, secured).fetch);
  app.mount('/push-types/model', configPushType(restrictToModels(fleet), judge, secured).fetch);
  app.mount('/artifact-finders/config-changes', configChangesFinder(repositories, secured).fetch);
  return {
    app,
    run: async (signal) => {
      const steps = [stepping.run(signal), sweepEveryMinute(fleet, { sleep }, signal)];
      await Promise.all([...steps, ...tailers.map((one) => one.run(signal))]);
      await fleet.idle();
    },
  };
}

function createMender(
  name: string,
  { repositories, now, log }: Pick<ConfigServiceOptions, 'repositories' | 'now' | 'log'>,
  fleet: () => ConfigFleet,
): StoreMender | undefined {
  const inspection = repositories.getInspection?.(name);
  if (inspection === undefined) return undefined;
  return new StoreMender({
    ...{ inspection, now, log },
    open: () => repositories.open(name),
    store: repositories.getStore(name),
    mendOverrides: (found, isAll) => fleet().mendOverrides(name, found, isAll),
  });
}

/** Wakes the tailer, so that landed changes reach the store at once. */
const countLandings =
  (land: Land, tailers: readonly Tailer[], metrics: ConfigServiceMetrics): Land =>
  async (request) => {
    try {
      const answer = await land(request);
      metrics.countLanding('commit' in answer ? 'landed' : 'refused');
      return answer;
    } catch (error) {
      metrics.countLanding('failed');
      throw error;
    } finally {
      tailers.find(({ repository }) => repository === request.repository)?.wake();
    }
  };

interface Parts {
  readonly tailers: readonly Tailer[];
  readonly troubles: ReadonlyMap<string, string>;
  readonly services: () => readonly string[];
}

/** `/healthz`, `/readyz`, `/metrics`. */
function statusRoutes(
  { tailers, troubles, services }: Parts,
  metrics: ConfigServiceMetrics,
  { now, configState, landings }: ConfigServiceOptions,
): Hono {
  const startedAtMs = now();
  const app = new Hono();
  app.get('/healthz', (c) => c.text('ok'));
  app.get('/readyz', (c) => {
    const checks = tailers.map(({ repository, state: { trouble, caughtUpAtMs } }) => ({
      name: `tailer of ${repository}`,
      status: trouble === null && caughtUpAtMs !== null ? 'ok' : 'unavailable',
      detail: trouble ?? (caughtUpAtMs === null ? 'it has not seen the branch yet' : 'the store has the branch'),
    }));
    const waits = [...troubles].map(([name, detail]) => ({ name, status: 'unavailable', detail }));
    const isOk = [...checks, ...waits].every(({ status }) => status === 'ok');
    return c.json({ status: isOk ? 'ok' : 'unavailable', checks: [...checks, ...waits] }, isOk ? 200 : 503);
  });
  app.get('/metrics', (c) => {
    const waiting = landings?.waiting() ?? new Map<string, number>();
    const text = metrics.text(
      { tailers, troubles, services: services(), waiting },
      now(),
      now() - startedAtMs,
      configState?.(),
    );
    return c.text(text, 200, METRICS_TYPE);
  });
  return app;
}
