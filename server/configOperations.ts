import * as config from './configSchemas';
import { getOperation, REFUSED, startOperation, type HttpOperation } from './operation';

/** Every route of repositories of configuration. */
export const CONFIG_OPERATIONS: readonly HttpOperation[] = [
  getOperation('/v1/config', 'Repositories of configuration', config.repositoriesAnswer),
  {
    ...startOperation(
      '/v1/config/{repository}/changes',
      'Proposes a change of values, or of sources; it reaches nobody until it is released',
      config.proposalRequest,
      config.proposalAnswer,
    ),
    status: 201,
    headers: [['Idempotency-Key', false, 'The same key gives the same change.']],
    also: {
      403: 'Not an owner of the repository',
      404: REFUSED[404],
      409: 'Nothing would change, somebody else changed a file since the base, or the key was used for something else',
      413: 'Larger than docs/reference/limits.md has it',
      422: 'A program, a schema or the owner of a schema refuses it',
      503: 'The repository does not answer: try again after Retry-After',
    },
  },
  {
    ...{ method: 'post', path: '/v1/config/{repository}/diff', status: 200, security: 'token' },
    summary: 'Which values other sources would change, as `conveyor config diff` shows it; changes nothing',
    ...{ request: config.diffRequest, answer: config.diffAnswer },
    also: {
      403: 'Not an owner of the repository',
      404: REFUSED[404],
      413: 'Larger than docs/reference/limits.md has it',
    },
  },
  getOperation(
    '/v1/config/{repository}/changes',
    'Changes, newest first, as `conveyor config status` shows them',
    config.changesAnswer,
    config.rowsQuery,
  ),
  getOperation('/v1/config/{repository}/changes/{n}', 'One change, and whether it has landed', config.changeAnswer),
  getOperation(
    '/v1/config/{repository}/log',
    'What has landed, newest first, as `conveyor config log` shows it',
    config.landedAnswer,
    config.rowsQuery,
  ),
  getOperation(
    '/v1/config/{repository}/value',
    'A value, as `conveyor config show` shows it',
    config.valueAnswer,
    config.valueQuery,
  ),
  getOperation(
    '/v1/config/{repository}/sources',
    'The sources of a commit, so that only what differs is proposed',
    config.sourcesAnswer,
    config.sourcesQuery,
  ),
  getOperation(
    '/v1/config/{repository}/why',
    'Where a value comes from or what a file contributes to, and who subscribes, as `conveyor config why` shows it',
    config.whyAnswer,
    config.whyQuery,
  ),
  getOperation(
    '/v1/config/{repository}/subscriber',
    'What a host has of a value, as `conveyor config show --host` shows it',
    config.hostAnswer,
    config.hostQuery,
  ),
];
