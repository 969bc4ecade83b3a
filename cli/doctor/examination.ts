import type { ExaminationEnd, ExaminationView, UnansweredQuestion } from '../../domain/examination';
import { attributeChecks } from './attributes';
import { backlogChecks } from './backlogs';
import { buildChecks } from './builds';
import { certificateChecks } from './certificates';
import type { DoctorCheck } from './check';
import { workerChecks } from './workers';

/** All checks of an examination, by its origin: `machine` has the clock that Temporal's was compared with. */
export function examinationChecks(view: ExaminationView, machine: 'this machine' | 'the server'): DoctorCheck[] {
  const builds = buildChecks(view);
  const isWorkTaken = ANSWERED.includes(view.end.kind) && builds.every(({ state }) => state !== 'missing');
  return [
    ...(view.attributes === null ? [] : attributeChecks(view.namespace, view.attributes)),
    ...workerChecks(view, machine),
    ...builds,
    ...backlogChecks(view, isWorkTaken),
    ...(UNSTORED.includes(view.end.kind) ? [] : listUnansweredChecks(view.unanswered ?? [])),
    ...certificateChecks(view.certificates ?? [], Date.now(), ` of ${machine}`),
  ];
}

const ANSWERED: readonly ExaminationEnd['kind'][] = ['answered', 'refused'];

/** In these cases the workers' check already says that Temporal refuses or stores nothing. */
const UNSTORED: readonly ExaminationEnd['kind'][] = ['unwritten', 'unbegun'];

/** One line for each reason, since a slow server leaves all questions unanswered. */
function listUnansweredChecks(unanswered: readonly UnansweredQuestion[]): DoctorCheck[] {
  const reasons = [...new Set(unanswered.map(({ reason }) => reason))];
  return reasons.map((reason) => ({
    ...{ name: 'Temporal answers', state: 'warning' },
    found: `not about ${unanswered
      .filter((one) => one.reason === reason)
      .map(({ subject }) => subject)
      .join(', ')}: ${reason}`,
    how: 'run conveyor doctor again; if this stays, see the log of the Temporal server, and whether these credentials may read the namespace',
  }));
}
