import type { ConveyorClient } from '../../client/api';
import { CLIENT_OPERATIONS } from '../../client/operations';
import { toPipelineDocument } from '../../domain/pipeline/document';
import { ConveyorError, ERRORS, type ErrorCode } from '../../domain/errors';
import { deploy, pipeline, release } from '../builders/cliSamples';
import { artifact, NOW, pipelineOf, specOf } from '../builders/pipelineWorld';

/** Readiness is no operation, but goes through a server as well. */
export type Operation = Exclude<keyof ConveyorClient, 'close'>;
export const OPERATIONS_TRIED: readonly Operation[] = [...(Object.keys(CLIENT_OPERATIONS) as Operation[]), 'readiness'];

/** Who asks, as the client states it and as the server finds out. */
export const ACTOR = 'service:ci';

/** The backend of the client under test: it answers as it is set, and keeps the calls. */
export class Behind {
  readonly calls: (readonly unknown[])[] = [];
  private readonly answers = new Map<string, () => Promise<unknown>>();

  answer(operation: Operation, answer: () => Promise<unknown>): void {
    this.answers.set(operation, answer);
  }

  readonly client = Object.fromEntries(
    [...OPERATIONS_TRIED, 'close'].map((operation) => [
      operation,
      (...given: readonly unknown[]) => {
        this.calls.push([operation, ...given]);
        return (this.answers.get(operation) ?? (() => Promise.resolve({ owners: [ACTOR] })))();
      },
    ]),
  ) as unknown as ConveyorClient;
}

interface Case {
  readonly operation: Operation;
  readonly title?: string;
  readonly ask: (client: ConveyorClient) => Promise<unknown>;
  /** The questions to the backend. */
  readonly asked: readonly unknown[];
  readonly answer: unknown;
}

const spec = specOf();
const document = toPipelineDocument(pipelineOf(), NOW);
const artifacts = [{ ...artifact('kv:14'), digest: 'sha256:1', metadata: { branch: 'main' } }];
const started = { id: 'kvstore/7', number: 7, duplicate: false };
const receipt = { id: 'kvstore/12', accepted: true, effect: 'it is so' };
const command = { actor: ACTOR, reason: 'it is time' };
const trigger = { kind: 'manual', actor: ACTOR, key: 'k' } as const;
const query = { pipeline: 'kvstore', state: 'running', limit: 3 };
const whole = {
  noRevert: true,
  acceptMissing: true,
  notBad: true,
  check: 'errors',
  for: 'deploy',
  phase: 'first',
} as const;

const same = <O extends Operation>(
  operation: O,
  args: Parameters<ConveyorClient[O]>,
  answer: unknown,
  title?: string,
): Case => ({
  ...{ operation, asked: args, answer, ...(title === undefined ? {} : { title }) },
  ask: (client) => (client[operation] as (...given: readonly unknown[]) => Promise<unknown>)(...args),
});

/** One of each operation at least. */
export const CASES: readonly Case[] = [
  same('apply', [spec, ACTOR], { created: false, previous: spec, continued: { after: 12, books: true } }),
  same('exportPipeline', ['kvstore'], document),
  same('importPipeline', [document, ACTOR], { created: true, previous: null }),
  same('spec', ['kvstore'], spec),
  same('release', ['kvstore', artifacts, trigger], { ...started, passedOver: ['source 11 failed'] }),
  same('release', ['kvstore', [], { ...trigger, kind: 'api' }], started, 'a release that a program asks for'),
  same('submit', ['kvstore', artifacts, { ...trigger, kind: 'webhook' }], { id: null, number: null, duplicate: false }),
  same('push', ['kvstore', 'deploy', artifacts, { ...command, skipBake: true, key: 'k' }], {
    ...started,
    approvals: 2,
  }),
  same('rerun', ['kvstore', 12, { ...command, kind: 'manual', key: 'k' }], started),
  same('status', ['kvstore'], pipeline()),
  same('status', ['kvstore/13'], release(), 'the status of a release'),
  same('status', ['kvstore/13/deploy'], deploy(), 'the status of a deploy'),
  same('listPipelines', [query], [pipeline()]),
  same('listReleases', [query], [release()]),
  same('listDeploys', [{ limit: 50 }], [deploy()]),
  same('where', [{ revision: '4f0c1d2e', limit: 3 }], {
    ...{ kind: 'where', asked: '4f0c1d2e', revision: null, candidates: [], releases: [] },
    ...{ total: 0, underWay: 0, succeeded: 0 },
    searched: { retentionMs: null, older: null, archive: null, repositories: [] },
  }),
  same('listFinders', [], [{ id: 'commits', kind: 'finder', state: 'answers' }]),
  same('listOffers', [{ to: 'shop', limit: 3 }], { offers: [], more: 2, unread: [], unasked: 0 }),
  same('offers', ['network'], { id: 'network', kind: 'offers', offers: [], changes: [] }),
  same('freshness', [], { at: '2026-12-27T06:00:00.000Z', weekly: 0.5, tickets: null, pipelines: [] }),
  same('reportBug', [{ target: '//lib:rpc', from: '12', to: null, reason: 'bad' }, ACTOR], { id: 'bug/7' }),
  same('closeBug', [{ id: 'bug/7', to: '15', reason: 'fixed' }, ACTOR], { id: 'bug/7', to: '15' }),
  same('listBugs', [], [{ id: 'bug/7' }]),
  same('history', ['kvstore'], [{ ...release(), durationMs: 12, deploys: [] }]),
  same('logs', ['kvstore/13/test', 2], { id: 'kvstore/13/test', attempt: 2, ended: true, runs: [] }),
  same(
    'command',
    ['kvstore', 'freeze', { ...command, until: '2026-12-27T06:00:00Z' }],
    receipt,
    'a command to a pipeline',
  ),
  same(
    'command',
    ['kvstore', 'allow-artifact', { ...command, artifact: 'executable@kv:13' }],
    receipt,
    'allow-artifact',
  ),
  same('command', ['kvstore/12', 'pause', { ...command, ...whole }], receipt),
  same('command', ['kvstore/12/go', 'pick', { ...command, approve: true, action: 'go' }], receipt, 'a pick'),
  same('command', ['kvstore/12/deploy', 'skip-bake', command], receipt, 'a command to a deploy'),
  same('lookNow', ['deploy/kvstore/12/deploy/1/0/pre/0/1'], 'busy'),
  same(
    'readiness',
    [],
    [
      { name: 'temporal', ok: true, detail: 'answers' },
      { name: 'worker', ok: false, detail: 'no worker polls' },
    ],
  ),
];

/** A malformed id is refused without a request, in the same words. */
const NO_IDS: readonly (readonly [title: string, ask: (client: ConveyorClient) => Promise<unknown>, says: RegExp])[] = [
  [
    'the status of what is not an id',
    (client) => client.status('kvstore/x'),
    /is not the id of a pipeline, release or deploy/,
  ],
  [
    'a command to what is not an id',
    (client) => client.command('a b', 'pause', command),
    /is not the id of a pipeline/,
  ],
  [
    'a hold of a release',
    (client) => client.command('kvstore/1', 'hold', command),
    /is not the id of a pipeline, which hold needs/,
  ],
  [
    'a pause of a pipeline',
    (client) => client.command('kvstore', 'pause', command),
    /a release or deploy, which pause/,
  ],
  ['the logs of a release', (client) => client.logs('kvstore/1'), /is not the id of an action/],
];

const errorOf = async (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    (answer) => ({ answer }),
    ({ name, code, message, hint, retryable, exit }: ConveyorError) => ({ name, code, message, hint, retryable, exit }),
  );

/** An error as it would be thrown, whose words are its own. */
const errorWith = (code: string, retryable: boolean, exit: number): ConveyorError =>
  new ConveyorError(code as ErrorCode, `${code} happened to “kvstore”`, `fix ${code}`, retryable, exit);

/**
 * The use of the backend by every implementation of `ConveyorClient`.
 * @param checksIds whether it finds out by itself what is not an id
 */
export function describeConveyorClient(
  name: string,
  open: (behind: Behind) => ConveyorClient,
  { checksIds }: { readonly checksIds: boolean },
): void {
  describe(`${name}, as a client`, () => {
    test.each(CASES.map((one) => [one.title ?? one.operation, one] as const))(
      '%s asks what it was asked and answers what it was answered',
      async (_title, { operation, ask, asked, answer }) => {
        const behind = new Behind();
        behind.answer(operation, () => Promise.resolve(answer));
        expect(await ask(open(behind))).toEqual(answer);
        expect(behind.calls.filter(([called]) => called === operation)).toEqual([[operation, ...asked]]);
      },
    );

    const failing = CASES.filter(({ operation, title }) => operation !== 'readiness' && title === undefined);
    test.each(failing.map((one) => [one.operation, one] as const))(
      '%s fails as what stands behind it fails, and asks once',
      async (_operation, { operation, ask }) => {
        const codes = Object.entries(ERRORS).map(([code, { retryable, exit }]) => errorWith(code, retryable, exit));
        for (const error of [...codes, errorWith('of-a-later-version', true, 7)]) {
          const behind = new Behind();
          behind.answer(operation, () => Promise.reject(error));
          expect(await errorOf(ask(open(behind)))).toEqual(await errorOf(Promise.reject(error)));
          expect(behind.calls.filter(([called]) => called === operation)).toHaveLength(1);
        }
      },
    );

    if (checksIds)
      test.each(NO_IDS)('%s is refused without a request', async (_title, ask, says) => {
        const behind = new Behind();
        await expect(ask(open(behind))).rejects.toMatchObject({
          code: 'invalid-id',
          message: expect.stringMatching(says),
        });
        expect(behind.calls).toEqual([]);
      });
  });
}
