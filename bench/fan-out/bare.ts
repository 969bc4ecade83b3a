import {
  condition,
  defineSignal,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  proxyActivities,
  setHandler,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';

/** The same fan-out with Temporal alone: two levels, the same window, and children that run one activity and report it. */

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '1m' });
const over = defineSignal('over');

export async function bareRoot(name: string, sizes: readonly number[], share: number): Promise<void> {
  const shards = await Promise.all(
    sizes.map((size, index) =>
      startChild(bareShard, { workflowId: `${name}/${index}`, args: [`${name}/${index}`, size, share] }),
    ),
  );
  await Promise.all(shards.map((shard) => shard.result()));
}

export async function bareShard(name: string, size: number, share: number): Promise<void> {
  let running = 0;
  setHandler(over, () => void (running -= 1));
  for (let child = 0; child < size; child += 1) {
    await condition(() => running < share);
    running += 1;
    const args: [string] = [workflowInfo().workflowId];
    await startChild(bareChild, {
      workflowId: `${name}/${child}`,
      args,
      parentClosePolicy: ParentClosePolicy.ABANDON,
    });
  }
  await condition(() => running === 0);
}

export async function bareChild(shard: string): Promise<void> {
  await nothing();
  await getExternalWorkflowHandle(shard).signal(over);
}
