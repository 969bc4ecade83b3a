import { CancellationScope, condition, defineQuery, defineSignal, setHandler } from '@temporalio/workflow';
import { runBeside, runInterruptible } from '../../workflows/interrupts';
import { BackgroundTasks, settle, until } from '../../workflows/waitFor';

/** Workflows that show how interruptible work ends (interrupts.test.ts). */

export const outerSignal = defineSignal<[string | null]>('outer');
export const innerSignal = defineSignal<[string | null]>('inner');
export const finishSignal = defineSignal('finish');
/** The present reasons, after all signals that were sent before. */
export const reasonsQuery = defineQuery<object>('reasons');

interface Reasons {
  outer: string | null;
  inner: string | null;
  finished: boolean;
}

function listen(): Reasons {
  const reasons: Reasons = { outer: null, inner: null, finished: false };
  setHandler(outerSignal, (reason) => void (reasons.outer = reason));
  setHandler(innerSignal, (reason) => void (reasons.inner = reason));
  setHandler(finishSignal, () => void (reasons.finished = true));
  setHandler(reasonsQuery, () => reasons);
  return reasons;
}

/** Work that is given up only once it has ended. */
export async function settling(): Promise<unknown> {
  const reasons = listen();
  const work = () => CancellationScope.nonCancellable(() => condition(() => reasons.finished));
  return runInterruptible(
    () => reasons.outer,
    () => settle(new BackgroundTasks(), work, { awaitsEnd: true }),
  );
}

/** Two scopes, each with a clean-up that waits. */
export async function nested(): Promise<unknown> {
  const reasons = listen();
  const told: string[] = [];
  const cleaning = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } finally {
      await CancellationScope.nonCancellable(() => until(() => reasons.finished));
      told.push(`${name} cleaned`);
    }
  };
  const inner = () =>
    runInterruptible(
      () => reasons.inner,
      () => cleaning('inner', () => until(() => false)),
    );
  const end = await runInterruptible(
    () => reasons.outer,
    () => cleaning('outer', async () => told.push(`inner: ${(await inner()).kind}`)),
  );
  return { end, told };
}

/** Work with other work beside it, which ends with it. */
export async function beside(): Promise<unknown> {
  const reasons = listen();
  const told: string[] = [];
  const other = async () => {
    await until(() => reasons.inner !== null);
    told.push('beside');
    await until(() => false);
  };
  const end = await runInterruptible(
    () => reasons.outer,
    () => runBeside(other, () => until(() => reasons.finished)),
  );
  return { end, told };
}
