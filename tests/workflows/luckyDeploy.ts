import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import type { DeployInput, DeployResult } from '../../domain/deploy/state';
import { NO_TIME } from '../../domain/deploy/spans';

/** All workflows unchanged, except the deploy: it has succeeded by the time a revert reaches it, which no real deploy does on demand. */
export * from '../../workflows';

export async function deploy({ release, version }: DeployInput): Promise<DeployResult> {
  let isReverted = false;
  setHandler(defineSignal('revert'), () => void (isReverted = true));
  // The first release is the one to return to.
  if (release > 1) await condition(() => isReverted);
  const result = { outcome: 'succeeded', classification: 'success', version, reason: 'all is updated' } as const;
  return { ...result, reverted: null, spans: NO_TIME };
}
