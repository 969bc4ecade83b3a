import { z } from 'zod';
import type { ReadPolicy } from '../settings/access';
import type { ApiRoute } from './apiRoute';
import { API_ROUTES } from './routes';
import { failureAnswer } from './schemas';

/** The OpenAPI 3.1 description of this server. */
export function openApiDocument(reads: ReadPolicy): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const row of API_ROUTES) {
    const [method = '', path = ''] = row.route.split(' ');
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeRoute(row, reads) };
  }
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

function describeRoute(row: ApiRoute, reads: ReadPolicy): object {
  const { summary, status, request, answer, query, headers, also } = row;
  const security = row.security === 'read' && reads === 'authenticated' ? 'token' : row.security;
  const failures = Object.entries(also ?? {}).map(([code, description]) => [
    code,
    Number(code) < 300 ? { description } : { description, content: json(failureAnswer) },
  ]);
  const where = status === 201 ? 'The new resource' : 'The (first) release';
  const location = { Location: { description: where, schema: { type: 'string' } } };
  return {
    summary,
    ...(security === 'token' || security === 'key' ? { security: [{ [security]: [] }] } : {}),
    parameters: [
      ...inPath(row),
      ...(query === undefined ? [] : inQuery(query)),
      ...(headers ?? []).map(([name, required, description]) => parameter('header', name, required, { description })),
    ],
    ...(request === undefined ? {} : { requestBody: { required: true, content: json(request) } }),
    responses: {
      [status]: {
        description: { 200: 'The answer', 201: 'Created', 202: 'Accepted', 204: 'The run is polled at once' }[status],
        ...(status === 201 || status === 202 ? { headers: location } : {}),
        ...(answer === undefined ? {} : { content: json(answer) }),
      },
      ...(Object.fromEntries(failures) as object),
      default: { description: 'An error', content: json(failureAnswer) },
    },
  };
}

function inPath({ route, verbs }: ApiRoute): object[] {
  return [...route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
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
