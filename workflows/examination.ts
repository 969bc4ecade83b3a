import { setWorkflowOptions } from '@temporalio/workflow';
import { aheadBetween, clocksOfWorkers, type WorkerClock } from '../domain/clocks';
import type { Examination, ExaminationOrder } from '../domain/examination';
import { clockExaminers, extensionExaminers } from './proxies';
import { buildVersioningOptions } from './versioning';

/**
 * Its completion shows that Temporal writes and that workers take up work; its result is how extensions answer the
 * workers.
 */
export async function examination(order: ExaminationOrder): Promise<Examination> {
  const { clockLooks = 0 } = order;
  const extensions = extensionExaminers.lookAtExtensions(order);
  if (clockLooks === 0) return { extensions: await extensions };
  const clocks = Promise.all(Array.from({ length: clockLooks }, lookAtClock));
  return { extensions: await extensions, clocks: clocksOfWorkers((await clocks).flat()) };
}

const HOLD_MS = 300;

/**
 * A workflow runs on Temporal's time. The clock of the worker has to lie between Temporal's times before and after the look. A failed look shows
 * nothing.
 */
async function lookAtClock(): Promise<WorkerClock[]> {
  const fromMs = Date.now();
  try {
    const { identity, atMs } = await clockExaminers.lookAtClock({ holdMs: HOLD_MS });
    return [{ identity, aheadMs: aheadBetween(atMs, fromMs, Date.now()) }];
  } catch {
    return [];
  }
}

setWorkflowOptions(buildVersioningOptions('examination'), examination);
