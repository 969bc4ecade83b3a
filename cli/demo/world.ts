import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { conveyorError } from '../../domain/errors';
import { installRoot } from '../../sdk/registry';

/** A job as `POST /control/jobs` takes it (fleet.md). */
export interface JobSpec {
  readonly name: string;
  readonly service: string;
  readonly region: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly tasks: number;
  readonly version: string;
  readonly nSmall: number | string;
  readonly budget: number | string;
  readonly timings?: { readonly fetchMs: number; readonly stopMs: number; readonly startMs: number };
}

/** A job as `GET /control/jobs` shows it. */
export interface JobView {
  readonly name: string;
  readonly region: string;
  readonly size: number;
  readonly versions: Readonly<Record<string, number>>;
  readonly jobVersion: string | null;
}

/** The store of the Conveyor paper §2.3: twelve tasks in two regions. */
export const KVSTORE_JOBS: readonly JobSpec[] = ['x', 'y'].map((region) => ({
  name: `kvstore-${region}`,
  service: 'kvstore',
  region,
  tasks: 6,
  version: 'kv:11',
  nSmall: 2,
  budget: 2,
}));

/** What the other examples deploy: the `fleet.yaml` beside each pipeline. */
export function exampleJobs(): readonly JobSpec[] {
  const folder = join(installRoot(), 'examples');
  const files = readdirSync(folder).map((example) => join(folder, example, 'fleet.yaml'));
  return files.filter((file) => existsSync(file)).flatMap((file) => parse(readFileSync(file, 'utf8')) as JobSpec[]);
}

/** Creates those jobs that do not exist yet. */
export async function createJobs(simulator: string, jobs: readonly JobSpec[]): Promise<void> {
  const present = new Set((await listJobs(simulator)).map((job) => job.name));
  for (const job of jobs) if (!present.has(job.name)) await control(simulator, 'POST', '/control/jobs', job);
}

export const listJobs = async (simulator: string): Promise<readonly JobView[]> =>
  (await control(simulator, 'GET', '/control/jobs')) as readonly JobView[];

/** From now on tasks of this version behave so (fleet.md: `errorRatio`, `crashOnStart`, …). */
export async function describeVersion(
  simulator: string,
  version: string,
  behaviour: Readonly<Record<string, unknown>>,
): Promise<void> {
  await control(simulator, 'POST', '/control/versions', { version, behaviour });
}

async function control(simulator: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const url = `${simulator}${path}`;
  const response = await fetch(url, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(5000),
  }).catch((error: unknown) => {
    throw conveyorError('simulator-unreachable', {
      url: simulator,
      detail: error instanceof Error ? error.message : String(error),
    });
  });
  const text = await response.text();
  if (!response.ok)
    throw conveyorError('extension-rejected', {
      service: 'the simulator',
      method: `${method} ${path}`,
      status: response.status,
      detail: text.slice(0, 200),
    });
  return text === '' ? null : (JSON.parse(text) as unknown);
}
