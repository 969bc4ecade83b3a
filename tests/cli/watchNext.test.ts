import { conveyorError } from '../../domain/errors';
import type { PipelineStatus } from '../../domain/views';
import { pipeline, release } from '../builders/cliSamples';
import { run, type Ran } from '../builders/cliWorld';

interface Given {
  /** The release is known from this look on. */
  readonly startsAtLook?: number;
  readonly state?: Partial<PipelineStatus>;
}

const succeeded = release({ state: 'succeeded', actions: [] });

/** Watches release 13 of a pipeline whose last one was 12. */
async function watched(
  { startsAtLook = Infinity, state = { lastRelease: 12 } }: Given,
  args: readonly string[] = [],
): Promise<Ran & { readonly looks: number }> {
  let looks = 0;
  const status = (id: string): Promise<never> => {
    if (id === 'kvstore') return Promise.resolve(pipeline(state) as never);
    looks += 1;
    return looks < startsAtLook
      ? Promise.reject(conveyorError('unknown-release', { id }))
      : Promise.resolve(succeeded as never);
  };
  return { ...(await run(['watch', 'kvstore/13', ...args], { client: { status } })), looks };
}

describe('watching the next release of a pipeline before it starts', () => {
  test('waits for it, and says once for what and until when', async () => {
    const { code, looks, err } = await watched({ startsAtLook: 5 });
    expect([code, looks]).toEqual([0, 5]);
    expect(err).toBe(
      'kvstore/13 is the next release of kvstore and has not started; waiting for it until 14:04:10, in 2m (--timeout sets another end)\n',
    );
  });

  test('waits for the first one too', async () => {
    const client = {
      status: (id: string): Promise<never> =>
        id === 'kvstore'
          ? Promise.resolve(pipeline({ lastRelease: null, releases: [] }) as never)
          : Promise.reject(conveyorError('unknown-release', { id })),
    };
    expect((await run(['watch', 'kvstore/1', '--timeout', '5s'], { client })).err).toContain('is the next release');
  });

  test('looks once more if it starts between two questions', async () => {
    expect(await watched({ startsAtLook: 2, state: { lastRelease: 13 } })).toMatchObject({ code: 0, looks: 2 });
  });

  test('is unknown-release, exit code 4, if it does not start in time', async () => {
    const { code, err } = await watched({});
    expect(code).toBe(4);
    expect(err).toContain('error: unknown-release: ');
  });

  test('ends with 5 when --timeout expires first, and does not say that it continues', async () => {
    const { code, err } = await watched({}, ['--timeout', '10m']);
    expect(code).toBe(5);
    expect(err).toContain('waiting for it until 14:12:10, in 10m\n');
    expect(err).toContain('the time is up; kvstore/13 has not started. Watch it again: conveyor watch kvstore/13\n');
  });

  test.each<[string, Partial<PipelineStatus>]>([
    ['of a later number', { lastRelease: 11 }],
    ['that is forgotten', { lastRelease: 40 }],
    [
      'of a retired pipeline',
      { lastRelease: 12, retired: { actor: 'user:eve', at: '2026-11-20T14:00:00.000Z', reason: 'r' } },
    ],
  ])('does not wait for one %s', async (_title, state) => {
    expect(await watched({ state })).toMatchObject({ code: 4, looks: 1 });
  });
});
