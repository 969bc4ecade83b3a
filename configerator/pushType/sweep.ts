import { concurrencyGate } from '../../sdk/concurrency';
import type { ConfigFleet } from './fleet';
import type { SteppingPorts } from './stepper';

const EVERY_MS = 60_000;
const AT_ONCE = 16;

/**
 * Sweeps every service once a minute, even idle ones. Sweeps run concurrently with the steps, so that a revert proceeds even while another store is
 * silent. Errors of a store are reported by the operations that need it. Resolves once the signal is aborted.
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
