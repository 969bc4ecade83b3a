import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { pipelineSchema } from '../domain/spec/pipeline';
import { createClient } from '../client';
import { each, p50p99, print, quantile, run, startStack } from './stack';

/**
 * `npx jiti bench/readers.ts [readers] [commands]`: how long commands over HTTP take on its own development stack
 * without readers, and while that many readers without a token ask for the list and the status of a pipeline. Each
 * reader asks again as soon as it was answered, or after the time in `Retry-After`.
 */
const READERS = Number(process.argv[2] ?? 1_000);
const COMMANDS = Number(process.argv[3] ?? 200);
const TOKEN = 'a-token-for-measurements-alone';
const OWNER = 'user:bench';

async function main(): Promise<void> {
  process.env['CONVEYOR_CONFIG'] = configWithToken();
  process.env['BENCH_TOKEN'] = TOKEN;
  const { stack, ready } = await startStack(60);
  try {
    const client = await createClient({ address: ready.temporal, taskQueue: ready.taskQueue });
    const actions = { wait: { type: 'manual-pick' as const } };
    for (const pipeline of ['commanded', 'read'])
      await client.apply(pipelineSchema.parse({ pipeline, owners: [OWNER], actions }), OWNER);
    await client.close();
    await commands(ready.server, 20);
    const quiet = await commands(ready.server, COMMANDS);
    const reading = { isOver: false, ok: 0, away: 0 };
    const readers = Array.from({ length: READERS }, (_, n) => read(ready.server, n, reading));
    await delay(3_000);
    const [before, from] = [{ ...reading }, Date.now()];
    const busy = await commands(ready.server, COMMANDS);
    const seconds = (Date.now() - from) / 1000;
    reading.isOver = true;
    await Promise.all(readers);
    print([
      ['commands without readers: p50, p99', p50p99(quiet)],
      [`… while ${READERS} read`, p50p99(busy)],
      ['ratio of p50, p99', `${ratio(busy, quiet, 0.5)}, ${ratio(busy, quiet, 0.99)}`],
      ['reads answered, sent away a second', `${rate(reading.ok - before.ok)}, ${rate(reading.away - before.away)}`],
    ]);
    function rate(count: number): string {
      return (count / seconds).toFixed(0);
    }
  } finally {
    stack.kill('SIGTERM');
  }
}

/** Holds and unholds a pipeline, one command after the other; returns how long each took, in ms. */
async function commands(server: string, count: number): Promise<number[]> {
  const verbs = Array.from({ length: count }, (_, n) => (n % 2 === 0 ? 'hold' : 'unhold'));
  return each(verbs, 1, async (verb) => {
    const from = performance.now();
    const response = await fetch(`${server}/v1/pipelines/commanded/commands/${verb}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ reason: 'a measurement' }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${verb}: ${response.status} ${text}`);
    return performance.now() - from;
  });
}

interface Reading {
  isOver: boolean;
  ok: number;
  /** Refused for lack of capacity. */
  away: number;
}

async function read(server: string, n: number, reading: Reading): Promise<void> {
  const path = n % 2 === 0 ? '/v1/pipelines' : '/v1/pipelines/read';
  while (!reading.isOver) {
    const response = await fetch(`${server}${path}`);
    await response.arrayBuffer();
    reading[response.ok ? 'ok' : 'away'] += 1;
    if (!response.ok) await delay(Number(response.headers.get('retry-after') ?? 1) * 1000);
  }
}

const ratio = (a: readonly number[], b: readonly number[], share: number): string =>
  (quantile(a, share) / quantile(b, share)).toFixed(1);

/** The ordinary configuration, and a token. */
function configWithToken(): string {
  const file = join(__dirname, '../conveyor.config.yaml');
  const config = parse(readFileSync(file, 'utf8')) as object;
  const own = join(mkdtempSync(join(tmpdir(), 'conveyor-bench-')), 'conveyor.config.yaml');
  writeFileSync(own, stringify({ ...config, tokens: [{ principal: OWNER, tokenEnv: 'BENCH_TOKEN' }] }), {
    mode: 0o600,
  });
  return own;
}

run(main);
