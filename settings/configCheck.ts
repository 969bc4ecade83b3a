import { ConveyorError } from '../domain/errors';
import { usesWishes } from '../domain/offers/ofPipeline';
import type { ConfigFinding } from '../domain/spec/configFindings';
import { deploysWithConfig } from '../domain/spec/deployActions';
import type { PipelineSpec } from '../domain/spec/pipeline';
import { callExtension } from '../sdk/client';
import { concurrencyGate } from '../sdk/concurrency';
import { pushTypeProtocol } from '../sdk/protocol/pushType';
import type { Fetch } from '../sdk/request';
import type { Registry } from './registry';

/** The most that `apply` waits for all push types together. */
const ANSWERS_WITHIN_MS = 5_000;
const ASKED_AT_ONCE = 8;

/** How long a silent push type is not asked again: otherwise each pipeline of a long `apply` would wait for it. */
const SPARED_MS = 30_000;

interface CheckOptions {
  readonly withinMs?: number;
  readonly fetch?: Fetch;
  /** ms since the epoch */
  readonly now?: () => number;
}

type CheckConfigs = (spec: PipelineSpec, actor: string) => Promise<readonly ConfigFinding[]>;

/** Lets each push type of a pipeline check the config of its deploys and canaries. A check that cannot be made from here is a finding, too. */
export function configChecker(
  registry: Pick<Registry, 'find'>,
  { withinMs = ANSWERS_WITHIN_MS, fetch, now = Date.now }: CheckOptions = {},
): CheckConfigs {
  const silences = new Map<string, { readonly unchecked: string; readonly untilMs: number }>();
  return async (spec, actor) => {
    const gate = concurrencyGate(ASKED_AT_ONCE);
    const signal = AbortSignal.timeout(withinMs);
    const ask = async (action: string, pushType: string, config: Record<string, unknown>): Promise<ConfigFinding> => {
      if (usesWishes(spec, config)) return { action, pushType, unchecked: UNKNOWN_VALUES };
      const silence = silences.get(pushType);
      if (silence !== undefined && now() < silence.untilMs) return { action, pushType, unchecked: silence.unchecked };
      try {
        const { problems } = await callExtension({
          ...{ service: registry.find('push-type', pushType), protocol: pushTypeProtocol, method: 'validateConfig' },
          ...{ request: {}, signal, ...(fetch === undefined ? {} : { fetch }) },
          context: { pipeline: spec.pipeline, release: 0, deployId: `${spec.pipeline}/apply/${action}`, actor, config },
        });
        return { action, pushType, problems };
      } catch (error) {
        const unchecked = whyUnchecked(error, pushType, withinMs);
        if (isUnanswered(error)) silences.set(pushType, { unchecked, untilMs: now() + SPARED_MS });
        return { action, pushType, unchecked };
      }
    };
    return Promise.all(
      deploysWithConfig(spec).map(([action, { pushType, config }]) => gate(() => ask(action, pushType, { ...config }))),
    );
  };
}

const UNKNOWN_VALUES = 'it uses values of offers, which are known only when the deploy begins';

const isUnanswered = (error: unknown): boolean =>
  error instanceof ConveyorError ? error.code === 'extension-unavailable' : isTimeout(error);

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError';

function whyUnchecked(error: unknown, pushType: string, withinMs: number): string {
  if (error instanceof ConveyorError) return error.message;
  if (isTimeout(error)) return `${pushType} did not answer validateConfig within ${withinMs / 1000} s`;
  throw error;
}
