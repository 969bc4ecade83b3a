import { SERVER_QUESTIONS } from '../../client/operations/questions';
import { conveyorError } from '../../domain/errors';
import { callerRoute, type ApiRoute } from '../apiRoute';
import type { ServerDeps } from '../deps';
import { examinationAnswer } from '../examinationSchemas';
import { SharedReader } from '../sharedRead';

/** Each examination is a workflow: however many people ask, there is only one every few seconds. */
export const EXAMINED_FRESH_MS = 5_000;

/** One examination for all callers; undefined if nothing can be examined. */
export const shareExamination = ({ examine, now }: Pick<ServerDeps, 'examine' | 'now'>) =>
  examine && new SharedReader(examine, EXAMINED_FRESH_MS, now);

/** Callers need a token, since answers name processes and extensions. */
export const EXAMINATION_ROUTE: ApiRoute = callerRoute(SERVER_QUESTIONS.examine.route, {
  summary:
    'Health of Temporal, the workers and the extensions behind this server, as `conveyor doctor` shows it; for signed-in callers. It starts a workflow',
  ...{ answer: examinationAnswer, also: { 503: 'Retry after Retry-After' } },
  run: ({ c, deps: { examination, lanes } }) => {
    if (examination === undefined) throw conveyorError('not-found', { what: 'examination' });
    return lanes.examinations.run(() => examination.read(), c.req.raw.signal);
  },
});
