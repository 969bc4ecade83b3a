import { ConveyorError } from '../../domain/errors';
import { callExtension } from '../../sdk/client';
import type { Protocol } from '../../sdk/protocol/common';

/** The client's reading of an answer, or of its text: the sentence of its error, or nothing. */
export async function wrongIn(
  protocol: Protocol,
  method: string,
  request: object,
  answer: object | string,
): Promise<string> {
  const asked = callExtension({
    service: { name: 'twine', url: 'http://twine', timeoutMs: 1_000 },
    ...{ protocol, method, request: request as Record<string, unknown>, context: null },
    fetch: async () => new Response(typeof answer === 'string' ? answer : JSON.stringify(answer)),
  });
  return asked.then(
    () => '',
    (error: unknown) => {
      expect(error).toBeInstanceOf(ConveyorError);
      expect((error as ConveyorError).code).toBe('extension-protocol');
      return (error as ConveyorError).message;
    },
  );
}
