import type { ClockLook, ExaminationOrder, ExtensionLook } from '../domain/examination';
import { rootCause } from '../domain/rootCause';
import { redactUrl, withShownUrls } from '../domain/redactUrl';
import type { ExtensionRef } from '../settings/extensions';
import type { Registry } from '../settings/registry';
import { NoAnswer, sendRequest, type Fetch } from '../sdk/request';
import type { Clock } from './clock';

interface LookPorts {
  readonly registry: Pick<Registry, 'extensions'>;
  readonly fetch?: Fetch;
  /** The identity of this worker. */
  readonly identity: string;
  readonly ownClock: Clock;
}

export type ExtensionLookActivities = ReturnType<typeof createExtensionLookActivities>;

export function createExtensionLookActivities({ registry, fetch, identity, ownClock }: LookPorts) {
  return {
    /** Whether each extension that this worker knows answers; asks all at once. It calls no method of a protocol, and sends no token. */
    lookAtExtensions: ({ answerMs }: ExaminationOrder): Promise<ExtensionLook[]> =>
      Promise.all(
        registry.extensions.map(async (extension) => ({
          ...{ kind: extension.kind, name: extension.name, address: redactUrl(extension.url) },
          trouble: await troubleWith(extension, { answerMs, fetch }),
        })),
      ),
    /**
     * Reads the clock of this machine, not Temporal's, which activities use otherwise. It holds its slot for a moment, so that other workers take
     * some of several looks.
     */
    lookAtClock: async ({ holdMs }: { readonly holdMs: number }): Promise<ClockLook> => {
      const atMs = await ownClock.now();
      await ownClock.sleep(holdMs);
      return { identity, atMs };
    },
  };
}

/** Any answer to a GET will do, such as 404: the service is up. But a proxy in front of a dead service answers 502 to 504. */
async function troubleWith(
  { url }: ExtensionRef,
  { answerMs, fetch }: ExaminationOrder & Pick<LookPorts, 'fetch'>,
): Promise<string | null> {
  try {
    const { status } = await sendRequest(url, {}, { fetch, timeoutMs: answerMs, maxBytes: 0 });
    return status >= 500 ? `it answers with status ${status}` : null;
  } catch (error) {
    // A cause says less of what took too long.
    return withShownUrls(error instanceof NoAnswer && error.isLate ? error.message : rootCause(error));
  }
}
