import type { ActionLogs, RunLog } from '../../client/api';
import { action, release } from '../builders/cliSamples';
import { run, type World } from '../builders/cliWorld';

const script = (over: Partial<RunLog> = {}): RunLog => ({
  run: 'release/kvstore/13/load-test/1',
  title: 'load-test, attempt 1',
  state: 'running',
  message: null,
  url: null,
  log: { head: 'one\n', cut: 0, tail: '' },
  ...over,
});

/** The answers of `logs`, one look after the other, and its questions. */
function world(
  ...looks: readonly (Partial<ActionLogs> & Pick<ActionLogs, 'runs'>)[]
): World & { readonly asked: unknown[] } {
  const asked: unknown[] = [];
  return {
    asked,
    client: {
      logs: (...call) => {
        asked.push(call);
        const look = looks[Math.min(asked.length, looks.length) - 1]!;
        return Promise.resolve({ id: 'kvstore/13/load-test', attempt: 1, ended: false, ...look });
      },
    },
  };
}

const over = { state: 'failed', message: './load.sh ended with exit code 1: two' } as const;

describe('conveyor logs', () => {
  test('prints what a script wrote to stdout, and all that is about it to stderr', async () => {
    const it = world({ ended: true, runs: [script({ ...over, log: { head: 'one\ntwo\n', cut: 0, tail: '' } })] });
    const { code, out, err } = await run(['logs', 'kvstore/13/load-test'], it);
    expect([code, out]).toEqual([0, 'one\ntwo\n']);
    expect(err).toBe('── load-test, attempt 1\n── failed: ./load.sh ended with exit code 1: two\n');
    expect(it.asked).toEqual([['kvstore/13/load-test', undefined]]);
  });

  test('follows a script until it has ended, and prints every line once', async () => {
    const two = { head: 'one\ntwo\n', cut: 0, tail: '' };
    const it = world(
      { runs: [] },
      { runs: [script()] },
      { runs: [script()] },
      { ended: true, runs: [script({ ...over, log: two })] },
    );
    const { code, out, err } = await run(['logs', 'kvstore/13/load-test', '--follow'], it);
    expect([code, out, it.asked.length]).toEqual([0, 'one\ntwo\n', 4]);
    expect(err.match(/── load-test/g)).toHaveLength(1);
  });

  test('leaves a script that it follows to itself when Ctrl-C is pressed', async () => {
    const { code } = await run(['logs', 'kvstore/13/load-test', '-f'], {
      ...world({ runs: [script()] }),
      interruptAtMs: 3_000,
    });
    expect(code).toBe(130);
  });

  test('escapes text that could harm a terminal, whatever its origin', async () => {
    const log = { head: 'a\tb\u001b[2J\u202e', cut: 0, tail: '' };
    const { out } = await run(
      ['logs', 'kvstore/13/load-test'],
      world({ ended: true, runs: [script({ ...over, log })] }),
    );
    expect(out).toBe('a\tb\\u001b[2J\\u202e\n');
  });

  test('names the page of a service, and the attempt that is asked for is that', async () => {
    const it = world({ ended: true, runs: [script({ ...over, log: null, url: 'http://ci/7' })] });
    const { out, err } = await run(['logs', 'kvstore/13/build', '--attempt', '2'], it);
    expect([out, err.split('\n')[1]]).toEqual(['', 'full log: http://ci/7']);
    expect(it.asked).toEqual([['kvstore/13/build', 2]]);
  });

  test('says so when there is nothing', async () => {
    expect((await run(['logs', 'kvstore/13/load-test'], world({ runs: [] }))).err).toBe(
      'kvstore/13/load-test has written nothing yet\n',
    );
  });

  test('with -o json is one document', async () => {
    const { out } = await run(
      ['logs', 'kvstore/13/load-test', '-o', 'json'],
      world({ ended: true, runs: [script(over)] }),
    );
    expect(JSON.parse(out)).toMatchObject({
      id: 'kvstore/13/load-test',
      runs: [{ state: 'failed', log: { head: 'one\n' } }],
    });
  });
});

test('status of a release whose script failed names the command that shows what it wrote', async () => {
  const actions = [action({ name: 'load-test', type: 'custom-script', state: 'failed' })];
  const status = () => Promise.resolve(release({ actions, state: 'failed' }));
  const { out } = await run(['status', 'kvstore/13'], { client: { status, history: () => Promise.resolve([]) } });
  expect(out).toContain('conveyor logs kvstore/13/load-test');
});
