import type { Hono } from 'hono';
import type { UnitProgress } from '../../domain/fleet/unit';
import { createSimulator, type SimulatorOptions } from '../../simulator/app';
import type { BehaviourSpec } from '../../simulator/metrics/behaviour';
import type { JobView } from '../../simulator/twine/jobs';

/** The answer of a call, with the parts that tests use. */
export interface Answer {
  readonly status: number;
  readonly body: {
    readonly units: readonly UnitProgress[];
    readonly error: { readonly code: string; readonly message: string };
    readonly [key: string]: unknown;
  };
}

/** A simulated world whose clock the test controls. Nothing in it waits. */
export interface TestFleet {
  readonly app: Hono;
  readonly now: () => number;
  /** Advances the clock; the world follows with the next call. */
  readonly pass: (ms: number) => void;
  readonly control: (method: string, path: string, body?: unknown) => Promise<unknown>;
  /** As `control`, with the status: for refused calls. */
  readonly answer: (method: string, path: string, body?: unknown) => Promise<Answer>;
  readonly job: (name: string, change?: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly look: (name: string) => Promise<JobView>;
  readonly behaves: (version: string, behaviour: BehaviourSpec) => Promise<void>;
  /** A method of the push type; `key` is the update id if left out. */
  readonly twine: (method: string, request: Readonly<Record<string, unknown>>, key?: string) => Promise<Answer>;
}

/** A Monday in the past, so that no test depends on the day it runs. */
export const START = Date.UTC(2026, 0, 5, 12);

export function givenFleet(options: Partial<Omit<SimulatorOptions, 'now'>> = {}): TestFleet {
  let now = START;
  const { app } = createSimulator({ seed: 1, speed: 1, ...options, now: () => now });
  const answer = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await app.request(path, init);
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
  const control = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const { status, body: result } = await answer(method, `/control${path}`, body);
    if (status > 299) throw new Error(`${method} ${path}: ${JSON.stringify(result)}`);
    return result;
  };
  const context = { pipeline: 'kvstore', release: 1, deployId: 'd', actor: 'user:alice', config: {} };
  const fleet: TestFleet = {
    app,
    now: () => now,
    pass: (ms) => void (now += ms),
    control,
    answer: (method, path, body) => answer(method, `/control${path}`, body),
    job: async (name, change = {}) => {
      const spec = {
        name,
        service: 'kvstore',
        region: name.split('-')[1] ?? 'x',
        tasks: 6,
        version: 'kv:1',
        nSmall: 1,
        budget: 1,
      };
      await control('POST', '/jobs', { ...spec, ...change });
    },
    look: async (name) => (await control('GET', `/jobs/${name}`)) as JobView,
    behaves: async (version, behaviour) => void (await control('POST', '/versions', { version, behaviour })),
    twine: (method, request, key = `${method} ${String(request.updateId)}`) =>
      answer('POST', `/push-types/twine/${method}`, { context, ...request }, { 'idempotency-key': key }),
  };
  givenFleet.made.push(fleet);
  return fleet;
}

/** Every world made, so that a test file can end with a search for violations in all of them. */
givenFleet.made = [] as TestFleet[];

/** The request of an update of one unit. */
export const update = (
  updateId: string,
  unit: string,
  version: string,
  rest: Readonly<Record<string, unknown>> = { amount: { all: true } },
) => ({
  updateId,
  wholeUnit: false,
  urgency: 'updatedBy' in rest ? 'revert' : 'normal',
  targets: [{ unit, version, artifacts: [], ...rest }],
});

/** For `afterEach`: whatever a test asserted, the world must not have broken an invariant. */
export async function expectNoViolations(): Promise<void> {
  for (const fleet of givenFleet.made.splice(0)) expect(await fleet.control('GET', '/violations')).toEqual([]);
}
