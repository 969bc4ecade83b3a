import { callExtension, type Fetch } from '../../sdk/client';
import { taskControllerProtocol, type TaskControlAnswer, type TaskOp } from '../../sdk/protocol/taskController';

/** A task controller under test that watches one job of some tasks, all of which run. */
export interface TaskControllerSubject {
  readonly fetch: Fetch;
  readonly url: string;
  readonly job: string;
  readonly tasks: readonly string[];
}

/** What every task controller owes (docs/design/protocols.md#task-controller; Twine §2.5). */
export function describeTaskController(name: string, makeSubject: () => Promise<TaskControllerSubject>): void {
  describe(`task controller ${name}`, () => {
    let manager: Manager;
    beforeEach(async () => {
      manager = new Manager(name, await makeSubject());
    });

    test('approves only what waits, each operation once', async () => {
      const { ack } = await manager.call();
      expect(ack.length).toBeGreaterThan(0);
      expect(new Set(ack).size).toBe(ack.length);
      expect(manager.waiting.map(({ id }) => id)).toEqual(expect.arrayContaining(ack));
    });

    test('lets a whole update through, one call after the other, and keeps some tasks at each moment', async () => {
      const atOnce = await manager.finish();
      expect(manager.done).toHaveLength(manager.size);
      expect(Math.max(...atOnce)).toBeLessThan(manager.size);
    });

    test.each(['restart', 'move', 'stop'] as const)(
      'lets each task %s in the end, as it lets them be updated',
      async (kind) => {
        manager.waiting = manager.waiting.map(({ id, task }) => ({ id, task, kind }));
        const atOnce = await manager.finish();
        expect(manager.done).toHaveLength(manager.size);
        expect(Math.max(...atOnce)).toBeLessThan(manager.size);
      },
    );

    test('answers the same call in the same way', async () => {
      const first = await manager.call();
      expect(await manager.repeat()).toEqual(first);
    });

    test('goes on when an answer is lost: what is requested again was not begun', async () => {
      await manager.call();
      await manager.call();
      await manager.finish();
      expect(manager.done).toHaveLength(manager.size);
    });

    test('goes on when a task fails on the way and comes back', async () => {
      const failed = manager.waiting.at(-1)!.task;
      manager.failed.add(failed);
      await manager.round();
      await manager.round();
      manager.failed.delete(failed);
      await manager.finish();
      expect(manager.done).toHaveLength(manager.size);
    });

    test('has nothing to say when nothing is asked', async () => {
      manager.waiting = [];
      expect(await manager.call()).toEqual({ ack: [] });
    });
  });
}

/** The cluster manager's side of the conversation, for one update of a job. */
class Manager {
  waiting: TaskOp[];
  done: TaskOp[] = [];
  readonly size: number;
  readonly failed = new Set<string>();
  private completed: TaskOp[] = [];
  private sequenceNumber = 0;
  private last: object = {};

  constructor(
    private readonly name: string,
    private readonly subject: TaskControllerSubject,
  ) {
    const { tasks } = subject;
    this.waiting = tasks.map((task) => ({ id: `u/0/1 ${task}`, task, kind: 'update', toVersion: 'v:2' }));
    this.size = tasks.length;
  }

  /** One call; what it approves is not begun. */
  call(): Promise<TaskControlAnswer> {
    this.sequenceNumber += 1;
    this.last = {
      ...{ jobHandle: this.subject.job, request: this.waiting, completed: this.completed, advanceNotices: [] },
      ...{ allUnhealthyTasks: [...this.failed], sequenceNumber: this.sequenceNumber },
    };
    return this.repeat();
  }

  repeat(): Promise<TaskControlAnswer> {
    const { fetch, url } = this.subject;
    const service = { name: this.name, url, timeoutMs: 5000 };
    const common = { service, protocol: taskControllerProtocol, method: 'process', context: null } as const;
    return callExtension({ ...common, request: this.last as never, fetch });
  }

  /** A call, and all that it approves; returns how much that was. */
  async round(): Promise<number> {
    const { ack } = await this.call();
    this.completed = this.waiting.filter(({ id }) => ack.includes(id));
    this.waiting = this.waiting.filter(({ id }) => !ack.includes(id));
    this.done.push(...this.completed);
    return ack.length;
  }

  /** Rounds until nothing waits, at most one a task. */
  async finish(): Promise<number[]> {
    const counts: number[] = [];
    while (this.waiting.length > 0 && counts.length < this.size) counts.push(await this.round());
    return counts;
  }
}
