import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WorkflowUpdateFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Landing } from '../../configerator/domain/landing';
import { workflowIds } from '../../domain/ids';
import type { Stack } from '../system/stack';
import type { Save } from './recordModel';

/** A stack whose configuration names a repository, and keeps its copies, in this folder. */
export const withRepository = (folder: string) => ({
  config: { config: { repositories: { flags: { git: join(folder, 'flags.git') } } } },
  env: { CONVEYOR_CACHE: join(folder, 'cache') },
});

/** Changes land one after the other, and one that has landed is asked for again. */
export async function recordLanding(stack: Stack, save: Save, folder: string): Promise<void> {
  const { propose, land, id } = await strip(stack, folder);
  const steps: readonly Readonly<Record<string, string>>[] = [{ a: '1' }, { a: '1', b: '2' }];
  for (const [index, files] of steps.entries()) {
    await propose(files, index);
    await land(index + 1);
  }
  await land(1);
  await save(stack, 'landing-strip', id);
}

/** With short histories the strip continues under a new one, and a request at that moment is repeated. */
export async function recordLandingContinued(stack: Stack, save: Save, folder: string): Promise<void> {
  const { propose, land, id, handle } = await strip(stack, folder);
  const { runId } = await handle.describe();
  let files: Record<string, string> = {};
  for (let change = 1; (await handle.describe()).runId === runId; change++) {
    if (change > 200) throw new Error('the strip never continues as new');
    files = { ...files, [`v${change}`]: String(change) };
    await propose(files, change);
    await land(change);
  }
  await land(1);
  await save(stack, 'landing-continued', id);
}

async function strip(stack: Stack, folder: string) {
  const sources = join(folder, 'sources');
  mkdirSync(sources, { recursive: true });
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', join(folder, 'flags.git')]);
  const id = workflowIds.landing('flags');
  await stack.temporal.workflow.start('landing', {
    ...{ workflowId: id, taskQueue: stack.taskQueue },
    args: [{ repository: 'flags', heartbeatTimeoutMs: 30_000 }],
  });
  const latest = stack.temporal.workflow.getHandle(id);
  return {
    ...{ id, handle: latest },
    propose: async (files: Readonly<Record<string, string>>, n: number): Promise<void> => {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(sources, `${name}.json`), text);
      await stack.json(['config', 'propose', sources, '-m', `Change ${n}`]);
    },
    land: (change: number) => landAgain(latest, change),
  };
}

async function landAgain(handle: WorkflowHandle, change: number): Promise<Landing> {
  for (;;) {
    try {
      return await handle.executeUpdate<Landing, [object]>('land', { args: [{ change }] });
    } catch (error) {
      const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
      const goesOn =
        cause instanceof ApplicationFailure && cause.type === 'landing-refused' && cause.nonRetryable !== true;
      if (!goesOn) throw error;
    }
  }
}
