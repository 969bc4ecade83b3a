import { z } from 'zod';
import { bodySchema, errorBodySchema, type Method, type Protocol } from './protocol/common';

const schemaOf = (schema: z.ZodType): object => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });

/** The OpenAPI 3.1 description of a service that speaks a protocol: what an author in another language works from. */
export function openApi(protocol: Protocol, title: string): object {
  const paths = Object.entries(protocol).map(([name, method]) => [`/${name}`, { post: operation(name, method) }]);
  return { openapi: '3.1.0', info: { title, version: '1' }, paths: Object.fromEntries(paths) as object };
}

function operation(name: string, method: Method): object {
  const json = (schema: z.ZodType): object => ({ 'application/json': { schema: schemaOf(schema) } });
  return {
    operationId: name,
    parameters: [
      header('Idempotency-Key', method.mutates, 'The same key never has a second effect.'),
      header('X-Conveyor-Run', false, 'The workflow that calls.'),
      header('traceparent', false, 'W3C trace context: one trace for all calls of a release.'),
    ],
    requestBody: { required: true, content: json(bodySchema(method)) },
    responses: {
      200: { description: 'The answer', content: json(method.response) },
      default: { description: 'An error', content: json(errorBodySchema) },
    },
  };
}

const header = (name: string, required: boolean, description: string): object => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
});
