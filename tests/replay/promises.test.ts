import { readFileSync } from 'node:fs';
import { promiseHooks } from 'node:v8';
import { Worker } from '@temporalio/worker';
import { createSinks } from '../../workers/sinks';
import { files, read, silenceWorkers, startOf } from './histories';

silenceWorkers();

/** The promises that our code makes in one workflow task: each delays the next step by a turn, and every replay makes them again. */
const MOST_PROMISES = 30;

const codePath = process.env['CONVEYOR_TEST_BUNDLE'] ?? '';
const lines = readFileSync(codePath, 'utf8').split('\n');

/** The module of each line of the bundle. */
function listModules(): string[] {
  let module = '';
  return lines.map((line) => (module = /^\/\*\*\*\/ "([^"]+)"/.exec(line)?.[1] ?? module));
}

const modules = listModules();

const isOfNode = (site: NodeJS.CallSite): boolean => site.getFileName()?.startsWith('node:') === true;

/** The function of ours that makes a promise at this moment; undefined if it is none of ours. */
function findMaker(): string | undefined {
  const { prepareStackTrace } = Error;
  let frames: readonly NodeJS.CallSite[] = [];
  Error.prepareStackTrace = (_, sites) => void (frames = sites);
  const error: { stack?: unknown } = {};
  Error.captureStackTrace(error, findMaker);
  void error.stack;
  Error.prepareStackTrace = prepareStackTrace;
  // Before it come the hook, and those through which Node calls it.
  const maker = frames.find((site) => ![null, __filename].includes(site.getFileName()) && !isOfNode(site));
  if (!maker?.getFileName()?.includes('workflow-bundle')) return undefined;
  const module = modules[(maker.getLineNumber() ?? 1) - 1] ?? '';
  return module.includes('node_modules') ? undefined : `${module} ${maker.getFunctionName() ?? ''}`;
}

/** The hook for a new promise. `await` alone makes one only because there is a hook, so a promise that has a parent does not count. */
function watchPromises(made: string[]): () => void {
  return promiseHooks.onInit((_promise, parent) => {
    const maker = parent === undefined ? findMaker() : undefined;
    if (maker !== undefined) made.push(maker);
  }) as () => void;
}

/** @returns the makers of the promises of each workflow task. */
async function replayCounting(file: string): Promise<string[][]> {
  const history = read(file);
  const tasks: string[][] = [];
  const made: string[] = [];
  const sinks = createSinks();
  const stop = watchPromises(made);
  try {
    const { activate } = workflowClass.prototype;
    workflowClass.prototype.activate = async function (this: unknown, activation: unknown) {
      made.length = 0;
      const completion: unknown = await activate.call(this, activation);
      tasks.push([...made]);
      return completion;
    };
    try {
      await Worker.runReplayHistory({ workflowBundle: { codePath }, sinks }, history, startOf(history).workflowId);
    } finally {
      workflowClass.prototype.activate = activate;
    }
  } finally {
    stop();
  }
  return tasks;
}

interface WorkflowClass {
  readonly prototype: { activate: (activation: unknown) => Promise<unknown> };
}

// eslint-disable-next-line @typescript-eslint/no-require-imports
const { BaseVMWorkflow: workflowClass } = require('@temporalio/worker/lib/workflow/vm-shared') as {
  BaseVMWorkflow: WorkflowClass;
};

test('no task of a release or deploy makes more than thirty promises of ours', async () => {
  const counts: Record<string, number> = {};
  for (const file of files().filter((name) => ['deploy', 'release'].includes(startOf(read(name)).type))) {
    const tasks = await replayCounting(file);
    counts[file] = Math.max(...tasks.map((makers) => makers.length));
  }
  const most = Math.max(...Object.values(counts));
  expect(Object.entries(counts).filter(([, count]) => count > MOST_PROMISES)).toEqual([]);
  // The count sees them at all.
  expect(most).toBeGreaterThan(MOST_PROMISES / 3);
});
