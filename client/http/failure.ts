import { ConveyorError, type ErrorCode } from '../../domain/errors';
import { isJsonObject } from '../../domain/json';

/** The error that a server threw, also with a code that only a newer server knows. */
export function failureIn({
  status,
  body,
}: {
  readonly status: number;
  readonly body: unknown;
}): ConveyorError | undefined {
  if (status < 300) return undefined;
  const error = isJsonObject(body) && isJsonObject(body['error']) ? body['error'] : {};
  const { code, message, hint, retryable = status === 503, exit = toExitCode(status) } = error;
  const text = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);
  return new ConveyorError(
    text(code, 'internal') as ErrorCode,
    text(message, `the server answered ${status}`),
    text(hint, ''),
    retryable === true,
    typeof exit === 'number' ? exit : 1,
  );
}

/** For an answer without these fields, such as the page of a proxy. */
const toExitCode = (status: number): number =>
  [401, 403, 404].includes(status) ? 4 : [400, 413, 422].includes(status) ? 2 : 1;
