import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { DEFAULT_SETTINGS } from '../domain/settings';
import { pipelineSchema, type PipelineSource } from '../domain/spec/pipeline';
import { onStack, OWNER } from './services';
import { p50p99, print, quantile, run } from './stack';

/**
 * `npx jiti bench/cli.ts [times]`: how long a person waits for the command line, compared with a Node that does nothing: through a server and
 * directly to Temporal. The commands take turns, so that a machine that slows down slows them all.
 */
const TIMES = Number(process.argv[2] ?? 20);

/** A build of the simulator, of about ten milliseconds. */
const STORE: PipelineSource = {
  pipeline: 'store',
  owners: [OWNER, 'service:ci'],
  artifacts: { executable: { finder: 'manual' } },
  actions: { build: { type: 'build', inputs: ['executable'], outputs: ['image'] } },
};

type Command = readonly [name: string, args: (round: number) => readonly string[]];

const COMMANDS: readonly Command[] = [
  ['status', () => ['status', STORE.pipeline]],
  ['list', () => ['list', 'releases']],
  ['release', (round) => ['release', STORE.pipeline, '--artifact', `executable=store:${round}`]],
  ['completion of a name', () => ['__complete', '--', 'status', 'st']],
];

async function main(): Promise<void> {
  const token = randomBytes(32).toString('hex');
  // The owners in the configuration of this checkout include the user who builds.
  process.env['CONVEYOR_CI_TOKEN'] = token;
  await onStack(240, DEFAULT_SETTINGS, async ({ client, ready }) => {
    await client.apply(pipelineSchema.parse(STORE), OWNER);
    const server = { CONVEYOR_SERVER: ready.server, CONVEYOR_TOKEN: token };
    const direct = { TEMPORAL_ADDRESS: ready.temporal, CONVEYOR_ACTOR: OWNER };
    const measured = COMMANDS.flatMap(([name, args]) => [
      { name: `${name}, through a server`, args, env: server, ms: [] as number[] },
      { name: `${name}, straight to Temporal`, args, env: direct, ms: [] as number[] },
    ]);
    const nothing: number[] = [];
    for (let round = 0; round <= TIMES; round += 1) {
      const each = measured.map(({ args, env, name }) => timed(conveyor(args(round)), env, name));
      const bare = timed(['-e', '0'], {}, 'node');
      // The first round fills the file caches.
      if (round === 0) continue;
      measured.forEach(({ ms }, at) => ms.push(each[at] ?? NaN));
      nothing.push(bare);
    }
    print([
      ['Node that does nothing: p50, p99', p50p99(nothing)],
      ...measured.map(({ name, ms }) => {
        const times = (quantile(ms, 0.5) / quantile(nothing, 0.5)).toFixed(1);
        return [`${name}: p50, p99`, `${p50p99(ms)} (${times} times)`] as const;
      }),
    ]);
  });
}

const conveyor = (args: readonly string[]): string[] => [join(__dirname, '../bin/conveyor.js'), ...args];

/** @returns ms. @throws if the command failed: its time would mean nothing. */
function timed(args: readonly string[], env: Readonly<Record<string, string>>, name: string): number {
  const from = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env: { ...process.env, ...env }, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${name}: exit code ${status}: ${stderr}`);
  return performance.now() - from;
}

run(main);
