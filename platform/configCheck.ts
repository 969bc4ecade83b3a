import { ConveyorError } from '../domain/errors';
import type { ConfigFinding } from '../domain/spec/configFindings';
import { deploysWithConfig } from '../domain/spec/deployActions';
import type { PipelineSpec } from '../domain/spec/pipeline';
import { callExtension } from '../sdk/client';
import { concurrencyGate } from '../sdk/concurrency';
import { pushTypeProtocol } from '../sdk/protocol/pushType';
import type { Fetch } from '../sdk/request';
import type { Registry } from './registry';

/** `apply` waits no longer for all push types together. */
const ANSWERS_WITHIN_MS = 5_000;
const ASKED_AT_ONCE = 8;

interface CheckOptions {
  readonly withinMs?: number;
  readonly fetch?: Fetch;
}

/** Asks each push type of a pipeline about the config of its deploys and canaries. What cannot be checked from here is a finding too. */
export async function checkConfigs(
  registry: Pick<Registry, 'find'>,
  spec: PipelineSpec,
  actor: string,
  { withinMs = ANSWERS_WITHIN_MS, fetch }: CheckOptions = {},
): Promise<readonly ConfigFinding[]> {
  const gate = concurrencyGate(ASKED_AT_ONCE);
  const signal = AbortSignal.timeout(withinMs);
  const ask = async (action: string, pushType: string, config: Record<string, unknown>): Promise<ConfigFinding> => {
    try {
      const { problems } = await callExtension({
        ...{ service: registry.find('push-type', pushType), protocol: pushTypeProtocol, method: 'validateConfig' },
        ...{ request: {}, signal, ...(fetch === undefined ? {} : { fetch }) },
        context: { pipeline: spec.pipeline, release: 0, deployId: `${spec.pipeline}/apply/${action}`, actor, config },
      });
      return { action, pushType, problems };
    } catch (error) {
      return { action, pushType, unchecked: whyUnchecked(error, pushType, withinMs) };
    }
  };
  return Promise.all(
    deploysWithConfig(spec).map(([action, { pushType, config }]) => gate(() => ask(action, pushType, { ...config }))),
  );
}

function whyUnchecked(error: unknown, pushType: string, withinMs: number): string {
  if (error instanceof ConveyorError) return error.message;
  if (error instanceof Error && error.name === 'TimeoutError')
    return `${pushType} did not answer validateConfig within ${withinMs / 1000} s`;
  throw error;
}
