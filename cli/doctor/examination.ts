import type { ExaminationView } from '../../domain/examination';
import { attributeChecks } from './attributes';
import { buildChecks } from './builds';
import { certificateChecks } from './certificates';
import type { DoctorCheck } from './check';
import { workerChecks } from './workers';

/** All checks of an examination, by its origin: `machine` has the clock that Temporal's was compared with. */
export const examinationChecks = (view: ExaminationView, machine: 'this machine' | 'the server'): DoctorCheck[] => [
  ...(view.attributes === null ? [] : attributeChecks(view.namespace, view.attributes)),
  ...workerChecks(view, machine),
  ...buildChecks(view),
  ...certificateChecks(view.certificates ?? [], Date.now(), ` of ${machine}`),
];
