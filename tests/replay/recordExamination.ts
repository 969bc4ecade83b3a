import type { ExaminationOrder } from '../../domain/examination';
import { workflowIds } from '../../domain/ids';
import type { Stack } from '../system/stack';
import type { Save } from './recordModel';

/** As `doctor` starts it. */
export async function recordExamination(stack: Stack, save: Save): Promise<void> {
  const workflowId = workflowIds.examination('recorded');
  const args: [ExaminationOrder] = [{ answerMs: 3_000 }];
  await stack.temporal.workflow.execute('examination', { workflowId, taskQueue: stack.taskQueue, args });
  await save(stack, 'examination', workflowId);
}
