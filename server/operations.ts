import type { z } from 'zod';
import { documentSchema } from '../domain/spec/pipelineDocument';
import * as audit from './auditSchemas';
import * as bugs from './bugSchemas';
import * as changes from './changes';
import { commandRequest } from './commandRequest';
import { CONFIG_OPERATIONS } from './configOperations';
import { examinationAnswer } from './examinationSchemas';
import { getOperation, REFUSED, startOperation, type HttpOperation } from './operation';
import * as schemas from './schemas';
import { statsAnswer, statsQuery } from './statsSchemas';
import { pushSchema, standardSchema } from './webhooks/events';

const DELIVERED = {
  204: 'None of our pipelines is concerned',
  401: 'The signature does not fit',
  413: 'Larger than 1 MiB',
  503: 'Try again after Retry-After',
};

const changeOperation = (
  method: 'put' | 'post',
  path: string,
  summary: string,
  request: z.ZodType,
  also: HttpOperation['also'] = {},
): HttpOperation => ({
  method,
  path,
  summary,
  status: 200,
  security: 'token',
  request,
  answer: changes.appliedAnswer,
  also: { ...REFUSED, 413: 'Larger than docs/reference/limits.md has it', ...also },
});

const commandOperation = (path: string, of: string): HttpOperation => ({
  method: 'post',
  path,
  summary: `A command to ${of}; the actor is the principal of the token`,
  status: 200,
  security: 'token',
  request: commandRequest,
  answer: schemas.receiptAnswer,
  also: REFUSED,
});

/** Every route of `/v1`; a test holds it against those that there are. */
export const HTTP_OPERATIONS: readonly HttpOperation[] = [
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
  getOperation(
    '/v1/sign-in',
    'The identity providers with which `conveyor login` signs people in',
    schemas.offersAnswer,
  ),
  {
    method: 'get',
    path: '/v1/me',
    summary: 'As whom the server takes whoever asks',
    status: 200,
    security: 'token',
    answer: schemas.meAnswer,
  },
  {
    method: 'post',
    path: '/v1/can',
    summary: 'Whether somebody may do something, and by which rule of the server; for whoever is known',
    status: 200,
    security: 'token',
    request: changes.canRequest,
    answer: changes.canAnswer,
    also: { 404: REFUSED[404] },
  },
  {
    method: 'post',
    path: '/v1/examination',
    summary:
      'How far work comes behind this server, as `conveyor doctor` shows it; for whoever is known. It starts a workflow',
    status: 200,
    security: 'token',
    answer: examinationAnswer,
    also: { 503: 'Try again after Retry-After' },
  },
  {
    ...getOperation(
      '/v1/audit',
      'What was changed and what was refused, newest first; for admins of the platform, and by pipeline for its owners',
      audit.auditAnswer,
      audit.auditQuery,
    ),
    security: 'token',
  },
  {
    ...getOperation(
      '/v1/audit/verification',
      'Whether the chains of the audit hold; for admins',
      audit.verificationAnswer,
    ),
    security: 'token',
  },
  getOperation('/v1/stats', 'How releases and deploys went, as `conveyor stats` shows it', statsAnswer, statsQuery),
  ...CONFIG_OPERATIONS,
  getOperation(
    '/v1/pipelines',
    'Pipelines, as `conveyor list pipelines` shows them',
    schemas.pipelinesAnswer,
    schemas.listQuery,
  ),
  getOperation('/v1/pipelines/{name}', 'The status of a pipeline', schemas.pipelineAnswer, schemas.liveQuery),
  changeOperation('put', '/v1/pipelines/{name}', 'Creates the pipeline, or changes its spec', changes.applyRequest, {
    422: 'A push type refuses the config of a deploy',
  }),
  getOperation('/v1/pipelines/{name}/spec', 'What the pipeline is, as it keeps it', changes.applyRequest),
  getOperation('/v1/pipelines/{name}/history', 'Its releases, newest first', schemas.historyAnswer, schemas.liveQuery),
  getOperation(
    '/v1/pipelines/{name}/export',
    'All that it remembers, also once its workflow has ended',
    documentSchema,
  ),
  changeOperation('post', '/v1/pipelines/{name}/import', 'Puts back what export answered', documentSchema),
  startOperation(
    '/v1/pipelines/{name}/releases',
    'Starts a release of some artifact versions',
    schemas.releaseRequest,
    schemas.startedAnswer,
  ),
  startOperation(
    '/v1/pipelines/{name}/pushes',
    'In an emergency: deploys these versions now, ahead of the queue',
    changes.pushRequest,
    changes.pushedAnswer,
  ),
  startOperation(
    '/v1/pipelines/{name}/submissions',
    'Brings what came into being elsewhere: a release once every input has a value and one is new',
    changes.submitRequest,
    changes.submittedAnswer,
  ),
  commandOperation('/v1/pipelines/{name}/commands/{verb}', 'a pipeline'),
  {
    method: 'post',
    path: '/v1/runs/{run}/ended',
    summary:
      'An action service says that a run has ended: `callback.url` of its startRun, where the id has its slashes',
    status: 204,
    security: 'key',
    also: { 403: 'The key is not that of this run', 404: 'Nobody may say so here', 503: 'Try again after Retry-After' },
  },
  {
    method: 'post',
    path: '/v1/runs/{run}/look',
    summary: 'Whoever follows a run looks at once; the id of the run has its slashes',
    status: 200,
    security: 'token',
    answer: changes.lookAnswer,
  },
  getOperation(
    '/v1/freshness',
    'Which pipelines have not been deployed for long, as `conveyor freshness` shows them',
    schemas.freshnessAnswer,
  ),
  getOperation('/v1/bugs', 'What is reported to be bad, newest first', bugs.bugsAnswer),
  getOperation('/v1/bugs/{n}', 'A bug, and what contains it', bugs.bugAnswer),
  {
    method: 'post',
    path: '/v1/bugs',
    summary: 'Reports a bug: nothing that contains it deploys any more. The same again is the same bug',
    status: 201,
    security: 'token',
    request: bugs.reportBugRequest,
    answer: bugs.bugAnswer,
    also: { 403: 'platform.bugs does not list whoever asks' },
  },
  {
    method: 'post',
    path: '/v1/bugs/{n}/close',
    summary: 'Says what fixes a bug, or that it was not a bug',
    status: 200,
    security: 'token',
    request: bugs.closeBugRequest,
    answer: bugs.bugAnswer,
    also: { 403: 'platform.bugs does not list whoever asks', 404: REFUSED[404] },
  },
  getOperation('/v1/finders', 'Whether the finders answer, as `conveyor list finders` shows it', schemas.findersAnswer),
  getOperation(
    '/v1/deploys',
    'Deploys, as `conveyor list deploys` shows them',
    schemas.deploysAnswer,
    schemas.listQuery,
  ),
  getOperation(
    '/v1/releases',
    'Releases, as `conveyor list releases` shows them',
    schemas.releasesAnswer,
    schemas.listQuery,
  ),
  getOperation('/v1/releases/{pipeline}/{n}', 'The status of a release', schemas.releaseAnswer, schemas.liveQuery),
  getOperation(
    '/v1/releases/{pipeline}/{n}/{action}',
    'The status of a deploy',
    schemas.deployAnswer,
    schemas.liveQuery,
  ),
  getOperation(
    '/v1/releases/{pipeline}/{n}/{action}/logs',
    'What an action wrote',
    schemas.logsAnswer,
    schemas.logsQuery,
  ),
  startOperation(
    '/v1/releases/{pipeline}/{n}/rerun',
    'Runs again what failed of a release that has ended, in a new release; actions that had succeeded are carried over',
    schemas.rerunRequest,
    schemas.startedAnswer,
  ),
  commandOperation('/v1/releases/{pipeline}/{n}/commands/{verb}', 'a release, or to its only running deploy'),
  commandOperation(
    '/v1/releases/{pipeline}/{n}/{action}/commands/{verb}',
    'a deploy, or to another action of a release',
  ),
];
