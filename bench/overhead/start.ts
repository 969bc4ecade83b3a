import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A worker with the workflows of Temporal alone, in its own process, as ours is. @returns a function that ends it */
export async function startBareWorker(address: string): Promise<() => void> {
  const worker = fork(join(__dirname, 'worker.ts'), [address], { execArgv: ['--import', 'jiti/register'] });
  await once(worker, 'message');
  return () => void worker.kill();
}
