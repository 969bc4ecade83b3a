import type { ExaminationOrder, ExtensionLook } from '../domain/examination';
import { rootCause } from '../domain/rootCause';
import { shownUrl, withShownUrls } from '../domain/shownUrl';
import type { ExtensionRef } from '../platform/extensions';
import type { Registry } from '../platform/registry';
import { NoAnswer, sendRequest, type Fetch } from '../sdk/request';

interface LookPorts {
  readonly registry: Pick<Registry, 'extensions'>;
  readonly fetch?: Fetch;
}

export type ExtensionLookActivities = ReturnType<typeof createExtensionLookActivities>;

export function createExtensionLookActivities({ registry, fetch }: LookPorts) {
  return {
    /** Whether each extension that this worker knows answers, all at once. No method of a protocol is called, and no token sent. */
    lookAtExtensions: ({ answerMs }: ExaminationOrder): Promise<ExtensionLook[]> =>
      Promise.all(
        registry.extensions.map(async (extension) => ({
          ...{ kind: extension.kind, name: extension.name, address: shownUrl(extension.url) },
          trouble: await troubleWith(extension, { answerMs, fetch }),
        })),
      ),
  };
}

/** Any answer to a GET will do, such as 404: the service is there. A proxy in front of one that is gone answers 502 to 504. */
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
