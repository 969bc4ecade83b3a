import { z } from 'zod';
import type { ReadPolicy } from '../platform/access';
import type { HttpOperation } from './operation';
import { HTTP_OPERATIONS } from './operations';
import * as schemas from './schemas';

/** The OpenAPI 3.1 description of what this server takes and answers. */
export function openApiDocument(reads: ReadPolicy): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of HTTP_OPERATIONS)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describeOperation(operation, reads) };
  return {
    openapi: '3.1.0',
    info: { title: 'Conveyor', version: '1' },
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        key: { type: 'http', scheme: 'bearer', description: 'callback.key of the startRun of this run' },
      },
    },
  };
}

function describeOperation(operation: HttpOperation, reads: ReadPolicy): object {
  const { path, summary, status, request, answer, query, headers, also } = operation;
  const security = operation.security === 'read' && reads === 'authenticated' ? 'token' : operation.security;
  const failures = Object.entries(also ?? {}).map(([code, description]) => [
    code,
    Number(code) < 300 ? { description } : { description, content: json(schemas.failureAnswer) },
  ]);
  const where = status === 201 ? 'What was made' : 'The (first) release';
  const location = { Location: { description: where, schema: { type: 'string' } } };
  return {
    summary,
    ...(security === 'token' || security === 'key' ? { security: [{ [security]: [] }] } : {}),
    parameters: [
      ...inPath(path),
      ...(query === undefined ? [] : inQuery(query)),
      ...(headers ?? []).map(([name, required, description]) => parameter('header', name, required, { description })),
    ],
    ...(request === undefined ? {} : { requestBody: { required: true, content: json(request) } }),
    responses: {
      [status]: {
        description: { 200: 'The answer', 201: 'Made', 202: 'Accepted', 204: 'Whoever follows the run looks at once' }[
          status
        ],
        ...(status === 201 || status === 202 ? { headers: location } : {}),
        ...(answer === undefined ? {} : { content: json(answer) }),
      },
      ...(Object.fromEntries(failures) as object),
      default: { description: 'An error', content: json(schemas.failureAnswer) },
    },
  };
}

const VERBS_BY_PATH: Readonly<Record<string, readonly string[]>> = {
  pipelines: schemas.pipelineVerb.options,
  releases: schemas.releaseVerb.options,
};

function inPath(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const verbs = VERBS_BY_PATH[path.split('/')[2] ?? ''];
    const schema = name === 'verb' ? { type: 'string', enum: verbs } : { type: name === 'n' ? 'integer' : 'string' };
    return parameter('path', name, true, { schema });
  });
}

const inQuery = (query: z.ZodObject): object[] =>
  Object.entries(query.shape).map(([name, schema]) =>
    parameter('query', name, false, { schema: toJsonSchema(schema) }),
  );

const parameter = (where: string, name: string, required: boolean, more: object): object => ({
  name,
  in: where,
  required,
  schema: { type: 'string' },
  ...more,
});

const json = (schema: z.ZodType): object => ({ 'application/json': { schema: toJsonSchema(schema) } });

function toJsonSchema(schema: z.core.$ZodType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}
