import { concurrencyGate } from '../../sdk/concurrency';
import type { ConfigFleet } from './fleet';
import type { SteppingPorts } from './stepping';

const EVERY_MS = 60_000;
const AT_ONCE = 16;

/**
 * Sweeps every service once a minute, also one at rest. Beside the steps, which wait for no sweep: a revert goes through whatever store is
 * silent. What keeps a sweep from its store is said by whatever needs it. Resolves once the signal is aborted.
 */
export async function sweepEveryMinute(
  fleet: Pick<ConfigFleet, 'services' | 'sweep'>,
  { sleep }: Pick<SteppingPorts, 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await sleep(EVERY_MS, signal);
    if (signal.aborted) return;
    const turn = concurrencyGate(AT_ONCE);
    const sweep = async (name: string): Promise<void> => {
      if (!signal.aborted) await fleet.sweep(name).catch(() => undefined);
    };
    await Promise.all(fleet.services.map((name) => turn(() => sweep(name))));
  }
}
