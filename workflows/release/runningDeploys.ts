import { CancellationScope } from '@temporalio/workflow';
import { workflowIds } from '../../domain/ids';
import { getFailureMessage } from '../deploy/calls';
import type { ReleaseInput, ReleaseRecord } from '../../domain/release/state';
import { hasActionEnded } from '../../domain/release/nextActions';

/** The parts of their release that they need. */
interface Parent {
  readonly input: ReleaseInput;
  readonly record: ReleaseRecord;
  log(kind: string, text: string): void;
  track(work: Promise<void>): void;
}

/** The running deploys and canaries of a release; messages that concern them are passed on to each. */
export class RunningDeploys {
  private readonly starts = new Map<string, Promise<unknown>>();

  constructor(private readonly run: Parent) {}

  workflowId(action: string): string {
    const { input, record } = this.run;
    return workflowIds.deploy(input.spec.pipeline, input.number, action, record.actions[action]?.attempt ?? 1);
  }

  /** Announces a deploy that starts: messages to it wait until it can receive them. */
  starting(action: string, start: Promise<unknown>): void {
    this.starts.set(action, start);
  }

  /**
   * Passes a message, named by `what`, on to each. Handlers run in the root scope, which can send nothing once Temporal has cancelled the
   * release. A deploy that cannot be reached has ended, and its end is recorded.
   */
  forward(what: string, send: (deployWorkflowId: string) => Promise<void>): void {
    for (const name of this.names())
      this.run.track(
        Promise.resolve(this.starts.get(name))
          .then(() => CancellationScope.nonCancellable(() => send(this.workflowId(name))))
          .catch((error: unknown) =>
            this.run.log('not-told', `${name} did not receive ${what}: ${getFailureMessage(error)}`),
          ),
      );
  }

  areAny(): boolean {
    return this.names().length > 0;
  }

  private names(): string[] {
    return Object.entries(this.run.record.actions).flatMap(([name, { deploying, state }]) =>
      deploying && !hasActionEnded(state) ? [name] : [],
    );
  }
}
