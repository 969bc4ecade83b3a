import { taskControllerProtocol, type TaskControlAnswer, type TaskOp } from '../protocol/taskController';
import { demand, demandEqual, inspectValue, type ConformCheck } from './check';
import type { Conversation, Reachable } from './conversation';

/** A task controller under test that watches one job, all of whose tasks run. */
export interface TaskControllerSubject extends Reachable {
  readonly job: string;
  readonly tasks: readonly string[];
  /** The prefix of all operation ids: a different one for each check if the controller remembers the others. */
  readonly ops: string;
}

const taskControllerCheck = (
  title: string,
  advice: string,
  story: (manager: Manager) => Promise<void>,
): ConformCheck<TaskControllerSubject> => ({
  ...{ title, method: 'process', advice },
  run: (subject, talk) => story(new Manager(subject, talk)),
});

const APPROVAL_ADVICE =
  'approve something whenever all tasks run, or the update never ends; approve less than all, or the service is away at once';

const throughIn = async (manager: Manager): Promise<void> => {
  const atOnce = await manager.finish();
  demandEqual(manager.done.length, manager.size, `tasks that came through in ${atOnce.length} calls`);
  const most = Math.max(...atOnce);
  demand(most < manager.size, `one answer approved all ${most} tasks, expected fewer: some have to keep running`);
};

const OPERATION_KINDS = ['restart', 'move', 'stop'] as const;

/** The obligations of every task controller (Twine §2.5). */
export const TASK_CONTROLLER_CHECKS: readonly ConformCheck<TaskControllerSubject>[] = [
  taskControllerCheck(
    'approves only what waits, each operation once',
    'acknowledge ids of `request`, each once, at least one while all tasks run',
    async (manager) => {
      const { ack } = await manager.call();
      demand(ack.length > 0, 'ack is [], expected an approval: all tasks run, and nothing else is under way');
      demandEqual(new Set(ack).size, ack.length, 'the number of different ids in ack');
      const waiting = manager.waiting.map(({ id }) => id);
      const strangers = ack.filter((id) => !waiting.includes(id));
      demand(strangers.length === 0, `ack names ${inspectValue(strangers)}, which do not wait`);
    },
  ),
  taskControllerCheck(
    'lets a whole update through, one call after the other, and keeps some tasks at each moment',
    APPROVAL_ADVICE,
    throughIn,
  ),
  ...OPERATION_KINDS.map((kind) =>
    taskControllerCheck(
      `lets each task ${kind} in the end, as it lets them be updated`,
      APPROVAL_ADVICE,
      async (manager) => {
        manager.waiting = manager.waiting.map(({ id, task }) => ({ id, task, kind }));
        await throughIn(manager);
      },
    ),
  ),
  taskControllerCheck(
    'answers the same call in the same way',
    'remember the last call of each job with its answer: the same sequenceNumber and body is the same call',
    async (manager) => {
      const first = await manager.call();
      demandEqual(await manager.repeat(), first, 'the answer to the same call');
    },
  ),
  taskControllerCheck(
    'continues when an answer is lost: what is requested again was not begun',
    'what stands in `request` is not under way, whatever you answered before: decide anew',
    async (manager) => {
      await manager.call();
      await manager.call();
      await manager.finish();
      demandEqual(manager.done.length, manager.size, 'tasks that came through');
    },
  ),
  taskControllerCheck(
    'continues when a task fails on the way and comes back',
    'wait while allUnhealthyTasks names a task that matters, and continue once it does not',
    async (manager) => {
      const failed = manager.waiting.at(-1)?.task ?? '';
      manager.failed.add(failed);
      await manager.round();
      await manager.round();
      manager.failed.delete(failed);
      await manager.finish();
      demandEqual(manager.done.length, manager.size, 'tasks that came through');
    },
  ),
  taskControllerCheck(
    'has nothing to say when nothing is asked',
    'answer { "ack": [] } to an empty request',
    async (manager) => {
      manager.waiting = [];
      demandEqual(await manager.call(), { ack: [] }, 'the answer');
    },
  ),
];

/** The cluster manager's side of the protocol, for one update of a job. */
class Manager {
  waiting: TaskOp[];
  done: TaskOp[] = [];
  readonly size: number;
  readonly failed = new Set<string>();
  private completed: TaskOp[] = [];
  private sequenceNumber = 0;
  private last: object = {};

  constructor(
    private readonly subject: TaskControllerSubject,
    private readonly talk: Conversation,
  ) {
    const { tasks, ops } = subject;
    this.waiting = tasks.map((task) => ({ id: `${ops} ${task}`, task, kind: 'update', toVersion: 'v:2' }));
    this.size = tasks.length;
  }

  /** One call; approved operations do not begin. */
  call(): Promise<TaskControlAnswer> {
    this.sequenceNumber += 1;
    this.last = {
      ...{ jobHandle: this.subject.job, request: this.waiting, completed: this.completed, advanceNotices: [] },
      ...{ allUnhealthyTasks: [...this.failed], sequenceNumber: this.sequenceNumber },
    };
    return this.repeat();
  }

  repeat(): Promise<TaskControlAnswer> {
    const request = this.last as never;
    return this.talk.ask({ protocol: taskControllerProtocol, method: 'process', request, context: null });
  }

  /** One call, after which all approved operations run; returns their number. */
  async round(): Promise<number> {
    const { ack } = await this.call();
    this.completed = this.waiting.filter(({ id }) => ack.includes(id));
    this.waiting = this.waiting.filter(({ id }) => !ack.includes(id));
    this.done.push(...this.completed);
    return ack.length;
  }

  /** Rounds until nothing waits, at most one per task. */
  async finish(): Promise<number[]> {
    const counts: number[] = [];
    while (this.waiting.length > 0 && counts.length < this.size) counts.push(await this.round());
    return counts;
  }
}
