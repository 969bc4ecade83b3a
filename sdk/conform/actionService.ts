import { actionServiceProtocol, type ActionServiceProtocol } from '../protocol/actionService';
import type { RequestInput, ResponseOf } from '../protocol/common';
import {
  demand,
  demandEqual,
  demandFields,
  demandRefusal,
  inspectValue,
  SkippedRuleError,
  type ConformCheck,
} from './check';
import type { Conversation, Reachable } from './conversation';

/** An action service under test, in a world whose time the suite controls. */
export interface ActionServiceSubject extends Reachable {
  /** The input of a run, as an action of a pipeline would write it. */
  readonly with: Readonly<Record<string, unknown>>;
  /** The input of a run, with a version for which it succeeds. */
  readonly input: { readonly name: string; readonly version: string };
  /** A version of the input for which a run fails. */
  readonly badVersion?: string | undefined;
  /** Names of outputs that a run may have, in order. */
  readonly outputs?: readonly string[] | undefined;
  /** The prefix of all run ids: a different one for each check if the service remembers earlier runs. */
  readonly runs: string;
  /** Lets a run end. */
  readonly settle: (runId: string) => Promise<void>;
}

type ActionServiceMethods = ActionServiceProtocol;
type ActionServiceCall = <M extends keyof ActionServiceMethods & string>(
  method: M,
  request: RequestInput<ActionServiceMethods[M]>,
  key?: string,
) => Promise<ResponseOf<ActionServiceMethods[M]>>;

/** The tools of the cases of the suite. */
class RunWorld {
  readonly run: string;
  readonly stranger: string;

  constructor(
    readonly subject: ActionServiceSubject,
    private readonly talk: Conversation,
  ) {
    [this.run, this.stranger] = [`${subject.runs}/1`, `${subject.runs}/9`];
  }

  ask: ActionServiceCall = (method, request, key) => {
    const context = {
      pipeline: 'kvstore',
      release: 12,
      deployId: 'release/kvstore/12',
      actor: 'user:alice',
      config: {},
    };
    return this.talk.ask({ protocol: actionServiceProtocol, method, request, context, key });
  };

  start(version: string = this.subject.input.version, key: string = this.run): Promise<{ runId: string }> {
    const input = { name: this.subject.input.name, kind: 'source', version, metadata: {} };
    return this.ask('startRun', { ...this.request(), inputs: [input] }, key);
  }

  request() {
    const ids = { runId: this.run, pipeline: 'kvstore', release: 12, action: 'build', attempt: 1 };
    return { ...ids, with: { ...this.subject.with }, inputs: [] };
  }

  cancel = (runId: string = this.run) => this.ask('cancelRun', { runId }, `${runId}/cancel`);
  progress = (runId: string = this.run) => this.ask('getRunProgress', { runId });
  settle = () => this.subject.settle(this.run);
}

const actionServiceCheck = (
  title: string,
  method: keyof ActionServiceMethods & string,
  advice: string,
  story: (runs: RunWorld) => Promise<void>,
): ConformCheck<ActionServiceSubject> => ({
  ...{ title, method, advice },
  run: (subject, talk) => story(new RunWorld(subject, talk)),
});

/** The obligations of every action service; each check needs its own subject. */
export const ACTION_SERVICE_CHECKS: readonly ConformCheck<ActionServiceSubject>[] = [
  actionServiceCheck(
    'a run continues after startRun answered, and ends',
    'startRun',
    'answer startRun with the runId at once, let the work continue afterwards, and report it by getRunProgress',
    async (runs) => {
      demandEqual(await runs.start(), { runId: runs.run }, 'the answer of startRun');
      const { state } = await runs.progress();
      demand(state !== 'failed', 'the run failed at once, expected running or succeeded');
      await runs.settle();
      const end = await runs.progress();
      demandFields(end, { state: 'succeeded' }, 'the run');
      demand((end.progress ?? 1) === 1, `progress of a run that succeeded is ${end.progress}, expected 1 or nothing`);
    },
  ),
  actionServiceCheck(
    'the outputs that the action declares come out under their names',
    'getRunProgress',
    'name outputs as with.outputs says, in that order',
    async (runs) => {
      const { outputs: declared } = runs.subject;
      if (declared === undefined)
        throw new SkippedRuleError('outputs', 'needs the names of the outputs that a run has');
      await runs.start();
      await runs.settle();
      const outputs = (await runs.progress()).outputs?.map(({ name }) => name) ?? [];
      demandEqual(outputs, declared.slice(0, outputs.length), 'the names of the outputs');
    },
  ),
  actionServiceCheck(
    'a run id that is known starts nothing new, whatever the key',
    'startRun',
    'remember run ids: the same one answers as before, and the run that it names is not begun again',
    async (runs) => {
      await runs.start();
      await runs.settle();
      demandEqual(await runs.start(), { runId: runs.run }, 'the answer to the same run id');
      const again = await runs.start(undefined, `${runs.run}/another key`);
      demandEqual(again, { runId: runs.run }, 'the answer to the same run id under another key');
      demandFields(await runs.progress(), { state: 'succeeded' }, 'the run');
    },
  ),
  actionServiceCheck(
    'a run that has ended stays as it ended, however often it is asked for',
    'getRunProgress',
    'write the end of a run down, with its message and its outputs, and answer it for a week at least',
    async (runs) => {
      await runs.start();
      await runs.settle();
      const { state, message, outputs } = await runs.progress();
      await runs.settle();
      demandFields(await runs.progress(), { state, message, outputs }, 'the run, asked for again');
    },
  ),
  actionServiceCheck(
    'a run that is cancelled does not succeed any more, and cancelling again is harmless',
    'cancelRun',
    'answer {} each time; from then on getRunProgress answers failed with the message cancelled',
    async (runs) => {
      await runs.start();
      if ((await runs.progress()).state !== 'running')
        throw new SkippedRuleError('slow', 'a run ends before it can be cancelled');
      for (const time of ['first', 'second']) demandEqual(await runs.cancel(), {}, `the ${time} answer of cancelRun`);
      await runs.settle();
      demandFields(await runs.progress(), { state: 'failed', message: 'cancelled' }, 'the run');
    },
  ),
  actionServiceCheck(
    'cancelling a run that was never begun changes nothing',
    'cancelRun',
    'answer {} for a run id that you do not know',
    async (runs) => {
      demandEqual(await runs.cancel(runs.stranger), {}, 'the answer of cancelRun');
    },
  ),
  actionServiceCheck(
    'a run that fails says why',
    'getRunProgress',
    'answer failed with a message that a person understands, naming the version',
    async (runs) => {
      const { badVersion } = runs.subject;
      if (badVersion === undefined) throw new SkippedRuleError('badVersion', 'needs a version with which a run fails');
      await runs.start(badVersion);
      await runs.settle();
      const end = await runs.progress();
      demandFields(end, { state: 'failed' }, 'the run');
      const names = end.message?.includes(badVersion) ?? false;
      demand(names, `message is ${inspectValue(end.message)}, expected it to name ${badVersion}`);
    },
  ),
  actionServiceCheck(
    'an unknown run cannot be followed, and starting needs a key',
    'getRunProgress',
    'answer 404 for a run id that never came, and 400 to startRun without the header Idempotency-Key',
    async (runs) => {
      await demandRefusal(runs.progress(runs.stranger), 'getRunProgress of an unknown run');
      await demandRefusal(runs.ask('startRun', runs.request()), 'startRun without Idempotency-Key');
    },
  ),
];
