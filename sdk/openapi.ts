import { z } from 'zod';
import { bodySchema, errorBodySchema, type Method, type Protocol } from './protocol/common';
import { methodWords } from './protocol/protocols';
import { wordsText, type MethodWords } from './protocol/words';

const inputSchema = (schema: z.ZodType): object => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });

/** The OpenAPI 3.1 description of a service that speaks a protocol: the basis for authors in other languages. */
export function openApi(protocol: Protocol, title: string): object {
  const words = methodWords(protocol);
  const paths = Object.entries(protocol).map(([name, method]) => [
    `/${name}`,
    { post: operation(name, method, words[name]) },
  ]);
  return { openapi: '3.1.0', info: { title, version: '1' }, paths: Object.fromEntries(paths) as object };
}

function operation(name: string, method: Method, words: MethodWords | undefined): object {
  const json = (schema: z.ZodType): object => ({ 'application/json': { schema: inputSchema(schema) } });
  return {
    operationId: name,
    ...(words && { summary: words.summary, description: wordsText(words) }),
    parameters: [
      headerParameter(
        'Idempotency-Key',
        method.mutates,
        'The same key never has a second effect, and gets the first answer. A call that was refused has not used it up.',
      ),
      headerParameter('X-Conveyor-Run', false, 'The workflow that calls.'),
      headerParameter('traceparent', false, 'W3C trace context: one trace for all calls of a release.'),
    ],
    requestBody: { required: true, content: json(bodySchema(method)) },
    responses: {
      200: { description: 'The answer', content: json(method.response) },
      default: { description: ERROR_DESCRIPTION, content: json(errorBodySchema) },
    },
  };
}

const ERROR_DESCRIPTION =
  'An error. 4xx but 408 and 429 are refusals for good, and so is `"retryable": false` with any status: a person is asked. Everything else is tried again, with the same key, for as long as it takes.';

const headerParameter = (name: string, required: boolean, description: string): object => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
});
