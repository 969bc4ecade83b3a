import type { ExaminationEnd, ExaminationView } from '../../domain/examination';
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
    ...backlogChecks(view.backlogs, isWorkTaken),
    ...certificateChecks(view.certificates ?? [], Date.now(), ` of ${machine}`),
  ];
}

const ANSWERED: readonly ExaminationEnd['kind'][] = ['answered', 'refused'];
