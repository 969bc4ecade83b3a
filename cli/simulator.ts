import { z } from 'zod';
import { conveyorError } from '../domain/errors';
import { rootCause } from '../domain/rootCause';
import { sendRequest } from '../sdk/request';

/** The simulated fleet of an ordinary development stack, by its control API (docs/reference/fleet.md). */

/** The default speed of a simulated world, relative to real time. */
export const SIMULATED_SPEED = 60;

/** A job in the form of `POST /control/jobs`. */
export interface NewJob {
  readonly name: string;
  readonly service?: string;
  readonly region: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly tasks: number;
  readonly version: string;
  readonly nSmall?: number | string;
  readonly budget?: number | string;
  readonly timings?: { readonly fetchMs: number; readonly stopMs: number; readonly startMs: number };
}

/** A job in the form of `GET /control/jobs`. */
export interface ListedJob {
  readonly name: string;
  readonly region: string;
  readonly size: number;
  readonly versions: Readonly<Record<string, number>>;
  readonly jobVersion: string | null;
}

/** Creates the jobs that do not exist yet; returns their names. */
export async function createJobs(simulator: string, jobs: readonly NewJob[]): Promise<readonly string[]> {
  const present = new Set((await listJobs(simulator)).map((job) => job.name));
  const missing = jobs.filter((job) => !present.has(job.name));
  for (const job of missing) await control(simulator, 'POST', '/control/jobs', job);
  return missing.map((job) => job.name);
}

export const listJobs = async (simulator: string): Promise<readonly ListedJob[]> =>
  (await control(simulator, 'GET', '/control/jobs')) as readonly ListedJob[];

/** Gives tasks of this version a behaviour from now on (`errorRatio`, `crashOnStart`, …). */
export async function describeVersion(
  simulator: string,
  version: string,
  behaviour: Readonly<Record<string, unknown>>,
): Promise<void> {
  await control(simulator, 'POST', '/control/versions', { version, behaviour });
}

const MAX_SIMULATOR_ANSWER = 64 * 1_048_576;

/** A call of its control API. @throws ConveyorError */
export async function control(simulator: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const url = `${simulator}${path}`;
  const simulated = { service: 'the simulator', method: `${method} ${path}` };
  const sent =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const sending = { timeoutMs: 5000, maxBytes: MAX_SIMULATOR_ANSWER };
  const { status, ok, text } = await sendRequest(url, { method, ...sent }, sending).catch((error: unknown) => {
    throw conveyorError('simulator-unreachable', { url: simulator, detail: rootCause(error) });
  });
  if (text === undefined)
    throw conveyorError('extension-protocol', { ...simulated, field: 'body', detail: 'it is larger than 64 MiB' });
  if (status === INVALID)
    throw conveyorError('usage', {
      text: `the simulator refuses it: ${parseRefusal(text)}`,
      hint: 'see docs/reference/fleet.md',
    });
  if (!ok) throw conveyorError('extension-rejected', { ...simulated, status, detail: parseRefusal(text) });
  return text === '' ? null : (JSON.parse(text) as unknown);
}

const INVALID = 400;
const refusalSchema = z.object({ error: z.object({ message: z.string() }) });

/** The sentence of an error answer; the beginning of any other answer. */
function parseRefusal(text: string): string {
  try {
    return refusalSchema.parse(JSON.parse(text)).error.message;
  } catch {
    return text.slice(0, 200);
  }
}
