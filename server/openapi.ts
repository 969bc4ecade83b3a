import { z } from 'zod';
import * as schemas from './schemas';
import { pushSchema, standardSchema } from './webhooks/events';

type Method = 'get' | 'post';

interface Operation {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly status: 200 | 202 | 204;
  readonly security: 'open' | 'token' | 'signed' | 'key';
  readonly request?: z.ZodType;
  readonly answer?: z.ZodType;
  readonly headers?: readonly (readonly [name: string, required: boolean, description: string])[];
  /** What else may come back, besides the errors that everything may give. */
  readonly also?: Readonly<Record<number, string>>;
}

const KEY = [['Idempotency-Key', false, 'The same key gives the same release.']] as const;
const REFUSED = { 403: 'Not an owner', 404: 'There is no such thing', 409: 'Not in this state' };
const DELIVERED = {
  204: 'None of our pipelines is concerned',
  401: 'The signature does not fit',
  413: 'Larger than 1 MiB',
  503: 'Try again after Retry-After',
};

const get = (path: string, summary: string, answer: z.ZodType): Operation => ({
  method: 'get',
  path,
  summary,
  status: 200,
  security: 'open',
  answer,
  also: { 404: REFUSED[404] },
});

const command = (path: string, of: string): Operation => ({
  method: 'post',
  path,
  summary: `A command to ${of}; the actor is the principal of the token`,
  status: 200,
  security: 'token',
  request: schemas.commandRequest,
  answer: schemas.receiptAnswer,
  also: REFUSED,
});

const OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/webhooks/github',
    summary: 'A delivery of GitHub: a push to a branch starts the releases of pipelines that subscribe to its commits',
    status: 202,
    security: 'signed',
    request: pushSchema,
    answer: schemas.deliveredAnswer,
    headers: [
      ['X-Hub-Signature-256', true, 'sha256=<hex> of the raw body.'],
      ['X-GitHub-Event', true, '`push`; anything else is taken for nothing of ours.'],
    ],
    also: DELIVERED,
  },
  {
    method: 'post',
    path: '/v1/webhooks/standard',
    summary: 'A Standard Webhooks delivery of `artifact.published`, to subscribers of a finder or to one pipeline',
    status: 202,
    security: 'signed',
    request: standardSchema,
    answer: schemas.deliveredAnswer,
    headers: [
      ['webhook-id', true, 'The same id never starts a second release.'],
      ['webhook-timestamp', true, 'Seconds since the epoch, at most five minutes off.'],
      ['webhook-signature', true, 'v1,<base64> of <id>.<timestamp>.<body>; several, separated by spaces.'],
    ],
    also: { ...DELIVERED, ...REFUSED },
  },
  get('/v1/pipelines', 'Pipelines, as `conveyor list pipelines` shows them', schemas.pipelinesAnswer),
  get('/v1/pipelines/{name}', 'The status of a pipeline', schemas.pipelineAnswer),
  get('/v1/pipelines/{name}/history', 'Its releases, newest first', schemas.historyAnswer),
  {
    method: 'post',
    path: '/v1/pipelines/{name}/releases',
    summary: 'Starts a release of some artifact versions',
    status: 202,
    security: 'token',
    request: schemas.releaseRequest,
    answer: schemas.startedAnswer,
    headers: KEY,
    also: { ...REFUSED, 422: 'An artifact is missing, or none of the pipeline' },
  },
  command('/v1/pipelines/{name}/commands/{verb}', 'a pipeline'),
  {
    method: 'post',
    path: '/v1/runs/{run}/ended',
    summary:
      'An action service says that a run has ended: `callback.url` of its startRun, where the id has its slashes',
    status: 204,
    security: 'key',
    also: { 403: 'The key is not that of this run', 404: 'Nobody may say so here', 503: 'Try again after Retry-After' },
  },
  get('/v1/finders', 'Whether the finders answer, as `conveyor list finders` shows it', schemas.findersAnswer),
  get('/v1/releases/{pipeline}/{n}', 'The status of a release', schemas.releaseAnswer),
  get('/v1/releases/{pipeline}/{n}/{action}', 'The status of a deploy', schemas.deployAnswer),
  {
    method: 'post',
    path: '/v1/releases/{pipeline}/{n}/rerun',
    summary: 'Runs again what failed of a release that has ended, in a new release; what had succeeded is carried over',
    status: 202,
    security: 'token',
    request: schemas.rerunRequest,
    answer: schemas.startedAnswer,
    headers: KEY,
    also: { ...REFUSED, 422: 'An artifact is missing' },
  },
  command('/v1/releases/{pipeline}/{n}/commands/{verb}', 'a release, or to its only running deploy'),
  command('/v1/releases/{pipeline}/{n}/{action}/commands/{verb}', 'a deploy, or to another action of a release'),
];

/** The OpenAPI 3.1 description of what this server takes and answers. */
export function openApiDocument(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of OPERATIONS)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: described(operation) };
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

function described({ path, summary, status, security, request, answer, headers, also, method }: Operation): object {
  const failures = Object.entries(also ?? {}).map(([code, description]) => [
    code,
    Number(code) < 300 ? { description } : { description, content: json(schemas.failureAnswer) },
  ]);
  const location = { Location: { description: 'The (first) release', schema: { type: 'string' } } };
  return {
    summary,
    ...(security === 'token' || security === 'key' ? { security: [{ [security]: [] }] } : {}),
    parameters: [
      ...inPath(path),
      ...(path === '/v1/pipelines' ? inQuery(schemas.listQuery) : []),
      ...(headers ?? []).map(([name, required, description]) => parameter('header', name, required, { description })),
    ],
    ...(request === undefined ? {} : { requestBody: { required: method === 'post', content: json(request) } }),
    responses: {
      [status]: {
        description: { 200: 'The answer', 202: 'Accepted', 204: 'Whoever follows the run looks at once' }[status],
        ...(status === 202 ? { headers: location } : {}),
        ...(answer === undefined ? {} : { content: json(answer) }),
      },
      ...(Object.fromEntries(failures) as object),
      default: { description: 'An error', content: json(schemas.failureAnswer) },
    },
  };
}

const VERBS: Readonly<Record<string, readonly string[]>> = {
  pipelines: schemas.pipelineVerb.options,
  releases: schemas.releaseVerb.options,
};

function inPath(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const verbs = VERBS[path.split('/')[2] ?? ''];
    const schema = name === 'verb' ? { type: 'string', enum: verbs } : { type: name === 'n' ? 'integer' : 'string' };
    return parameter('path', name, true, { schema });
  });
}

const inQuery = (query: z.ZodObject): object[] =>
  Object.entries(query.shape).map(([name, schema]) => parameter('query', name, false, { schema: schemaOf(schema) }));

const parameter = (where: string, name: string, required: boolean, more: object): object => ({
  name,
  in: where,
  required,
  schema: { type: 'string' },
  ...more,
});

const json = (schema: z.ZodType): object => ({ 'application/json': { schema: schemaOf(schema) } });

function schemaOf(schema: z.core.$ZodType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}
