import { createRunCallback, fitsRun } from '../../settings/callbacks';
import { parseRegistry } from '../../settings/registry';
import { runEnded } from '../../sdk/runEnded';
import type { Fetch } from '../../sdk/request';
import { workflowOfRun } from '../../domain/ids';

const A = 'a secret that is long enough';
const given = { url: 'http://conveyor:4500/', secretEnv: ['A', 'B'] };
const callbacks = (env: Record<string, string>, value: object | undefined = given) =>
  parseRegistry({ callbacks: value }, env).callbacks;

describe('callbacks in the configuration', () => {
  test('exist only with an address and a secret', () => {
    expect(parseRegistry({}, { A }).callbacks).toBeNull();
    expect(callbacks({})).toBeNull();
    expect(callbacks({ A: '' })).toBeNull();
    expect(callbacks({ A })).toEqual({ url: 'http://conveyor:4500', secrets: [A] });
  });

  test.each([
    ['the secret itself', { ...given, secret: 'a' }],
    ['no variable', { url: given.url }],
    ['an address that is none of HTTP', { ...given, url: 'ftp://conveyor' }],
  ])('with %s are refused with their path', (_what, value) =>
    expect(() => callbacks({ A }, value)).toThrow(/callbacks/),
  );
});

describe('the key of a run', () => {
  const one = { url: 'http://conveyor:4500', secrets: ['a'] };

  test('fits that run and no other, and cannot be guessed from the id', () => {
    const { url, key } = createRunCallback(one, 'kvstore/12/build/1');
    expect(url).toBe('http://conveyor:4500/v1/runs/kvstore/12/build/1/ended');
    expect(fitsRun(one, 'kvstore/12/build/1', key)).toBe(true);
    expect(fitsRun(one, 'kvstore/12/build/2', key)).toBe(false);
    expect(fitsRun({ ...one, secrets: ['b'] }, 'kvstore/12/build/1', key)).toBe(false);
    for (const forged of ['', key.slice(1), `${key}0`, key.replace(/.$/, (c) => (c === '0' ? '1' : '0'))])
      expect(fitsRun(one, 'kvstore/12/build/1', forged)).toBe(false);
  });

  test('fits while a secret is replaced, whichever made it', () => {
    const both = { ...one, secrets: ['new', 'a'] };
    expect(fitsRun(both, 'r/1/a/1', createRunCallback(one, 'r/1/a/1').key)).toBe(true);
    expect(fitsRun(both, 'r/1/a/1', createRunCallback(both, 'r/1/a/1').key)).toBe(true);
  });
});

test.each([
  ['kvstore/12/build/1', 'release/kvstore/12'],
  ['deploy/12/build/1', 'release/deploy/12'],
  ['deploy/kvstore/12/deploy/1/0/pre/0/2', 'deploy/kvstore/12/deploy/1'],
  ['deploy/kvstore/12/deploy/1', undefined],
  ['kvstore/12/build', undefined],
  ['kvstore/012/build/1', undefined],
  ['pipeline/kvstore/12/build/1/0/pre/0/1', undefined],
  ['../12/build/1', undefined],
  ['', undefined],
])('the run %s is followed by %s', (runId, workflowId) => expect(workflowOfRun(runId)).toBe(workflowId));

describe('a service that says that a run has ended', () => {
  const callback = { url: 'http://conveyor:4500/v1/runs/kvstore/12/build/1/ended', key: 'k' };
  const say = async (...statuses: readonly (number | Error)[]) => {
    const requests: Request[] = [];
    const fetch: Fetch = (request) => {
      const status = statuses[requests.length] ?? 503;
      requests.push(request);
      return status instanceof Error ? Promise.reject(status) : Promise.resolve(new Response(null, { status }));
    };
    return { said: await runEnded(callback, { fetch, pausesMs: [0, 0] }), requests };
  };

  test('sends one request, with the key of the run and without a body', async () => {
    const { said, requests } = await say(204);
    expect([said, requests.length]).toEqual([true, 1]);
    expect([requests[0]?.method, requests[0]?.url, requests[0]?.headers.get('authorization')]).toEqual([
      ...['POST', callback.url, 'Bearer k'],
    ]);
    expect(await requests[0]?.text()).toBe('');
  });

  test('tries a few times, and then leaves it to be asked', async () => {
    expect((await say(new Error('refused'), 503, 204)).said).toBe(true);
    const { said, requests } = await say();
    expect([said, requests.length]).toEqual([false, 3]);
  });

  test.each([403, 404, 302])('does not repeat what was answered with %i', async (status) => {
    const { said, requests } = await say(status, 204);
    expect([said, requests.length]).toEqual([false, 1]);
  });

  test('sends nothing where Conveyor wants no message', async () => {
    const fetch = jest.fn<ReturnType<Fetch>, Parameters<Fetch>>();
    expect(await runEnded(undefined, { fetch })).toBe(false);
    expect(fetch).not.toHaveBeenCalled();
  });
});
