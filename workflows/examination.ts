import { setWorkflowOptions } from '@temporalio/workflow';
import type { Examination, ExaminationOrder } from '../domain/examination';
import { extensionExaminers } from './proxies';
import { versioned } from './versioning';

/** That it ends shows that Temporal writes, and that workers take up work; its result is how extensions answer them. */
export async function examination(order: ExaminationOrder): Promise<Examination> {
  return { extensions: await extensionExaminers.lookAtExtensions(order) };
}
setWorkflowOptions(versioned('examination'), examination);
