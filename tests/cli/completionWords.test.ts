import { setImmediate as turn } from 'node:timers/promises';
import type { ConveyorClient } from '../../client/api';
import { conveyorError } from '../../domain/errors';
import { action, deploy, release } from '../builders/cliSamples';
import { run } from '../builders/cliWorld';

const ended = { state: 'succeeded', endedAt: '2026-11-20T14:02:00.000Z' } as const;
const picking = action({ name: 'approve', type: 'manual-pick', state: 'running', endedAt: null, pickBy: [] });
const failed = action({ name: 'tests', type: 'integr-test', state: 'failed' });

/** A server with two pipelines, a release that runs and one that has ended. */
const client: Partial<ConveyorClient> = {
  listPipelines: () =>
    Promise.resolve([
      { id: 'kvstore', description: 'Sharded key-value store' },
      { id: 'web', description: '' },
    ] as never),
  listReleases: () => Promise.resolve([release(), release({ id: 'kvstore/12', ...ended })]),
  listDeploys: () => Promise.resolve([deploy(), deploy({ id: 'kvstore/12/deploy', ...ended, state: 'ended' })]),
  status: (id) =>
    Promise.resolve(
      id === 'kvstore'
        ? ({ kind: 'pipeline', knownBad: [{ artifact: 'executable@kv:13#sha256:a', reason: 'errors' }] } as never)
        : release({ actions: [action(), picking, failed] }),
    ),
  spec: () =>
    Promise.resolve({
      artifacts: { source: {}, config: {} },
      actions: { build: { type: 'build' }, deploy: { type: 'deploy' } },
    } as never),
};

/** The offers at the end of a line; the last word is the one being typed. */
async function offered(line: string, offline = false): Promise<string[]> {
  const unreachable = () =>
    Promise.reject(conveyorError('temporal-unreachable', { address: 'x:1', detail: 'refused' }));
  const world = offline ? { client: { listPipelines: unreachable, spec: unreachable } } : { client };
  const ran = await run(['__complete', '--', ...line.split(' ').slice(1)], world);
  expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: '' });
  return ran.out
    .split('\n')
    .slice(0, -1)
    .map((one) => one.split('\t')[0] ?? '');
}

describe('completion offers', () => {
  test.each([
    ['commands', 'conveyor re', ['release', 'rerun', 'resume', 'revert', 'retry', 'retire', 'restore']],
    ['commands to ask help for', 'conveyor help wa', ['watch']],
    ['nothing after a command that does not exist', 'conveyor relase ', []],
    ['what comes after a command of commands', 'conveyor health st', ['statistics']],
    ['nothing after what does not come after it', 'conveyor health relase ', []],
    ['pipelines after others', 'conveyor health statistics web k', ['kvstore']],
    ['options of what comes after a command', 'conveyor health statistics --si', ['--since']],
    [
      'options of the command and of all',
      'conveyor list --',
      expect.arrayContaining(['--state', '--output', '--help']),
    ],
    ['an option once', 'conveyor list --limit 5 --li', []],
    ['an option that may be repeated, again', 'conveyor release kvstore -a source=1 --art', ['--artifact']],
    [
      'options where no operand is left',
      'conveyor pause kvstore/13 ',
      expect.arrayContaining(['--reason', '--no-revert']),
    ],
    ['output formats', 'conveyor status kvstore -o js', ['json', 'jsonl']],
    ['the page among the output formats of what draws one', 'conveyor stats -o ht', ['html']],
    ['no page of any other command', 'conveyor status kvstore -o ht', []],
    ['a file for the page', 'conveyor stats --html st', [':files']],
    ['output formats behind an equals sign', 'conveyor --output=y', ['--output=yaml']],
    ['kinds of lists', 'conveyor list ', ['pipelines', 'releases', 'deploys', 'finders']],
    ['states of what is listed', 'conveyor list deploys -s waiting', ['waiting-lock', 'waiting-window']],
    ['what comes after offers', 'conveyor offers ', ['list', 'show', 'export', 'check']],
    ['pipelines whose offers to show', 'conveyor offers show k', ['kvstore']],
    ['pipelines that may use offers', 'conveyor offers list --to w', ['web']],
    ['files to check, and a folder of excerpts', 'conveyor offers check a.yaml --excerpts ', [':files']],
    ['shells', 'conveyor completion ', ['bash', 'zsh', 'fish']],
    ['nothing for free text', 'conveyor pause kvstore/13 --reason ', []],
    ['files to lint, apply and plan', 'conveyor lint pipe', [':files']],
    ['files to apply after others', 'conveyor apply a.yaml b', [':files']],
    ['files as the value of an option', 'conveyor plan a.yaml --units ', [':files']],
    ['pipelines', 'conveyor release ', ['kvstore', 'web']],
    ['pipelines that begin as typed', 'conveyor freeze kv', ['kvstore']],
    ['pipelines as the value of an option', 'conveyor list releases -p w', ['web']],
    ['whatever has a status', 'conveyor status ', ['kvstore', 'web', 'kvstore/13', 'kvstore/13/deploy']],
    ['what runs, to verbs', 'conveyor cancel ', ['kvstore/13', 'kvstore/13/deploy']],
    ['deploys that run, to verbs for deploys', 'conveyor skip-bake ', ['kvstore/13/deploy']],
    ['actions that wait for a person', 'conveyor pick ', ['kvstore/13/approve']],
    ['actions that failed', 'conveyor retry ', ['kvstore/13/tests']],
    ['inputs of the pipeline', 'conveyor release kvstore -a ', ['source=', 'config=']],
    ['known-bad artifacts of the pipeline', 'conveyor allow-artifact kvstore ', ['executable@kv:13']],
  ])('%s', async (_title, line, expected) => {
    expect(await offered(line)).toEqual(expected);
  });

  test('nothing, and says nothing, where no server answers', async () => {
    expect(await offered('conveyor release ', true)).toEqual([]);
    expect(await offered('conveyor release kvstore -a ', true)).toEqual([]);
  });

  test('nothing from a server that takes too long', async () => {
    const never = { listPipelines: () => new Promise<never>(() => undefined) };
    const ran = run(['__complete', '--', 'release', ''], { client: never });
    await turn();
    expect(await ran).toMatchObject({ code: 0, out: '', err: '' });
  });

  test('the words of those that answer, where one is silent', async () => {
    const picks = (id: string) =>
      release({ id, actions: [action({ name: 'ok', type: 'manual-pick', pickBy: [], endedAt: null })] });
    const some: Partial<ConveyorClient> = {
      listReleases: () => Promise.resolve(['shop/1', 'web/2', 'kvstore/3'].map((id) => release({ id, endedAt: null }))),
      listPipelines: () => new Promise<never>(() => undefined),
      listDeploys: () => Promise.reject(new Error('no')),
      status: (id) => (id === 'shop/1' ? new Promise<never>(() => undefined) : Promise.resolve(picks(id))),
    };
    const values = async (...words: string[]): Promise<string[]> => {
      const { out } = await run(['__complete', '--', ...words, ''], { client: some });
      return out.split('\n').flatMap((line) => line.split('\t')[0] || []);
    };
    expect(await values('pick')).toEqual(['web/2/ok', 'kvstore/3/ok']);
    expect(await values('status')).toEqual(['shop/1', 'web/2', 'kvstore/3']);
  });

  test('the words of the server that the line itself names', async () => {
    const { connections } = await run(
      ['__complete', '--', 'release', '--address', 'temporal:7', '--namespace=prod', ''],
      {
        client,
      },
    );
    expect(connections).toEqual([{ address: 'temporal:7', namespace: 'prod' }]);
  });

  test('a description beside each, on one line', async () => {
    const { out } = await run(['__complete', '--', 'release', 'kv'], { client });
    expect(out).toBe('kvstore\tSharded key-value store\n');
  });
});

test('there are scripts for bash, zsh and fish, and for nothing else', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) expect((await run(['completion', shell])).out).toMatch(/__complete/);
  expect(await run(['completion', 'cmd'])).toMatchObject({ code: 2, err: expect.stringContaining('bash, zsh, fish') });
});
