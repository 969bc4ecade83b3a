import { recordPagesApp } from '../../tests/builders/recordPagesApp';
import { setImmediate } from 'node:timers/promises';
import { HOUR_MS, MINUTE_MS } from '../../domain/milliseconds';
import { print } from '../stack';

/** The processor time that a server takes for each page, with so many pipelines. */

const PATHS = [
  ...['/', '/pipelines', '/pipelines/kvstore', '/releases/kvstore/13', '/releases/kvstore/13/deploy'],
  ...['/where?revision=kv:12', '/calendar', '/stats', '/bugs', '/freshness', '/audit', '/settings'],
];

const pick = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;

/** These have their last answer for a reader who comes within minutes. */
const KEPT_PATHS = ['/calendar', '/freshness'];

/** Time between two requests, after which a server keeps no answer of the first, or only those that are read again behind. */
const PAUSES = { nothing: HOUR_MS, old: MINUTE_MS } as const;

/** @param only these paths; all if empty */
export async function measure(pipelines: number, times: number, only: readonly string[]): Promise<void> {
  const paths = PATHS.filter((path) => only.length === 0 || only.includes(path));
  const world = recordPagesApp(pipelines);
  for (const path of paths) print([[path, await measurePage(world, path, times, PAUSES.nothing)]]);
  for (const path of KEPT_PATHS.filter((one) => paths.includes(one)))
    print([[`${path}, kept`, await measurePage(world, path, times, PAUSES.old)]]);
}

async function measurePage(
  { app, headers, pass }: ReturnType<typeof recordPagesApp>,
  path: string,
  times: number,
  pauseMs: number,
): Promise<string> {
  const taken: number[] = [];
  let bytes = 0;
  for (let n = 0; n < times + WARM; n += 1) {
    pass(pauseMs);
    const before = process.cpuUsage();
    const answer = await app.request(path, { headers });
    const text = await answer.text();
    const { user, system } = process.cpuUsage(before);
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 500)}`);
    if (n >= WARM) taken.push((user + system) / 1000);
    bytes = Buffer.byteLength(text);
    // What is read again behind is no part of the next request.
    await setImmediate();
  }
  const sorted = taken.sort((a, b) => a - b);
  const [p50, p99] = [pick(sorted, 0.5), pick(sorted, 0.99)].map((ms) => ms.toFixed(1));
  return `${p50} ms, ${p99} ms (p50, p99), ${(bytes / 1000).toFixed(1)} kB`;
}

const WARM = 20;
