import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_SETTINGS } from '../domain/settings';
import { pipelineSchema } from '../domain/spec/pipeline';
import { runEnded, serveActionService } from '../sdk';
import { chainOf, configWith, listenAnywhere, median } from './actions';
import { spread } from './reverts';
import { onStack, OWNER, type Bench } from './services';
import { print, run } from './stack';

/**
 * `npx jiti bench/callbacks.ts [actions] [poll]`: a chain of actions on its own development stack. Each is a run of about half a second of an action
 * service in its own process. It measures the time from the real end of a run until the next action starts there: if the service reports the end of a
 * run, with polls of half a minute; and if it is only polled, every `poll` seconds.
 */
const ACTIONS = Number(process.argv[2] ?? 40);
const POLL_MS = Number(process.argv[3] ?? 5) * 1000;

async function main(): Promise<void> {
  const service = new Chain();
  process.env['CONVEYOR_CONFIG'] = configWith(await service.listen());
  const told = await service.measure('told', ACTIONS, 30_000);
  const asked = await service.measure('asked', Math.ceil(ACTIONS / 4), POLL_MS);
  print([
    [`end of a run until the next action starts, of a service that says so: p50, max`, spread(told)],
    [`… of one that is asked every ${POLL_MS / 1000} s: p50, max`, spread(asked)],
    ['ratio of p50', (median(asked) / median(told)).toFixed(0)],
  ]);
}

class Chain {
  private readonly ends = new Map<string, number>();
  private readonly gaps: number[] = [];
  private endedAt: number | null = null;
  private isTelling = true;

  listen(): Promise<string> {
    const app = serveActionService('chain', {
      startRun: ({ runId, callback }) => {
        if (this.endedAt !== null) this.gaps.push(Date.now() - this.endedAt);
        this.endedAt = null;
        void delay(250 + Math.random() * 500).then(() => {
          this.endedAt = Date.now();
          this.ends.set(runId, this.endedAt);
          if (this.isTelling) void runEnded(callback);
        });
        return { runId };
      },
      getRunProgress: ({ runId }) => ({ state: this.ends.has(runId) ? 'succeeded' : 'running' }),
      cancelRun: () => ({}),
    });
    return listenAnywhere(app);
  }

  async measure(name: 'told' | 'asked', actions: number, pollMs: number): Promise<readonly number[]> {
    [this.isTelling, this.endedAt] = [name === 'told', null];
    this.gaps.splice(0);
    await onStack(1, { ...DEFAULT_SETTINGS, progressIntervalMs: pollMs }, async ({ client }: Bench) => {
      await client.apply(pipelineSchema.parse(chainOf(name, actions)), OWNER);
      const { id } = await client.release(name, [], { kind: 'manual', actor: OWNER, key: null });
      for (;;) {
        const status = await client.status(id);
        if (status.kind === 'release' && status.endedAt !== null) break;
        await delay(1_000);
      }
    });
    return [...this.gaps];
  }
}

run(main);
