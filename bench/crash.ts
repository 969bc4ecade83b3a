import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_SETTINGS } from '../domain/settings';
import { deployOf, revertSent, spread } from './reverts';
import { addService, onStack, OWNER, release, type Bench } from './services';
import { print, run } from './stack';

/**
 * `npx jiti bench/crash.ts [times]`: the only worker of an ordinary development stack is killed (-9) while a deploy
 * bakes, and at the same moment a person asks for a revert. It measures how long until the command is answered, and
 * until the revert is sent by the worker that `conveyor dev` starts again.
 */
const TIMES = Number(process.argv[2] ?? 5);
const NAME = 'store-1';

async function main(): Promise<void> {
  const answered: number[] = [];
  const sent: number[] = [];
  for (let nth = 0; nth < TIMES; nth += 1)
    await onStack(240, DEFAULT_SETTINGS, async (bench) => {
      const took = await revertedAfterCrash(bench);
      answered.push(took.answered);
      sent.push(took.sent);
    });
  print([
    ['kill -9 of the only worker until a command is answered: p50, max', spread(answered)],
    ['kill -9 until the revert is sent: p50, max', spread(sent)],
  ]);
}

async function revertedAfterCrash(bench: Bench): Promise<{ answered: number; sent: number }> {
  const { ready, client, temporal } = bench;
  await addService(bench, NAME, { first: '6h' });
  await release(bench, NAME, 1);
  const deploy = temporal.workflow.getHandle(deployOf(NAME));
  const stage = (): Promise<string> => deploy.query<{ state: string }>('status').then(({ state }) => state, String);
  while ((await stage()) !== 'baking') await delay(100);
  const killedAt = Date.now();
  process.kill(ready.pids['worker'] ?? NaN, 'SIGKILL');
  await client.command(`${NAME}/1/deploy`, 'revert', { actor: OWNER, reason: 'a benchmark' });
  const answered = Date.now() - killedAt;
  return { answered, sent: (await revertSent(temporal, NAME)).sentAt - killedAt };
}

run(main);
