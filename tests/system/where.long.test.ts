import type { PipelineSource } from '../../domain/spec/pipeline';
import type { WhereRelease, WhereView } from '../../domain/where/view';
import { given, PATIENT } from './service';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.open();
});
afterAll(() => stack.close());

const COMMIT = '4f0c1d2e9b8a7c6d5e4f3a2b1c0d9e8f7a6b5c4d';

test('an engineer follows a commit from the build to the whole fleet, and sees what replaced it', async () => {
  const built: Partial<PipelineSource> = {
    artifacts: { source: { finder: 'manual' } },
    actions: { build: { type: 'build', inputs: ['source'], outputs: ['executable'], with: { target: '//shop' } } },
  };
  const jobs = await given(stack, PATIENT);
  const deploy = jobs.source.actions?.['deploy'];
  const shop = await given(stack, {
    jobsOf: jobs,
    pipeline: { ...built, actions: { ...built.actions, ...(deploy && { deploy }) } },
  });
  const where = async (revision: string): Promise<WhereView> => await stack.client.where({ revision, limit: 10 });
  const sees = (what: string, revision: string, holds: (row: WhereRelease) => boolean): Promise<WhereRelease> =>
    eventually(`${revision} ${what}`, async () => {
      const [row] = (await where(revision)).releases;
      return row !== undefined && holds(row) && row;
    });
  await stack.client.release(
    shop.name,
    [
      {
        name: 'source',
        kind: 'source',
        version: '77',
        builtFrom: { repository: 'acme/shop', revision: COMMIT },
        metadata: {},
      },
    ],
    { kind: 'manual', actor: OWNER, key: null },
  );

  const baking = await sees('bakes', COMMIT.slice(0, 9), ({ deploys }) => deploys[0]?.state === 'baking');
  expect(baking).toMatchObject({
    ...{ id: `${shop.name}/1`, stage: 'deploying', contains: { by: 'revision', revision: COMMIT } },
    deploys: [{ action: 'deploy', phase: { n: 1, of: 2, name: 'first' } }],
    // One of the six tasks of each of the two jobs.
    share: 2 / 12,
    wait: { why: expect.stringMatching(/^baking phase first/) as string, until: expect.stringMatching(/Z$/) as string },
  });
  expect(Date.parse(baking.everywhereAt ?? '')).toBeGreaterThan(Date.parse(baking.wait?.until ?? ''));
  // The output of the build is found as well, although the release began without it.
  const [executable] = (await shop.release(1)).artifacts.filter(({ name }) => name === 'executable');
  expect(await sees('is found', executable?.version ?? '', () => true)).toMatchObject({ id: `${shop.name}/1` });

  const { code, stdout } = await stack.conveyor(['where', COMMIT.slice(0, 9)]);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('phase 1 of 2') as string });

  for (const phase of ['first', 'completion'])
    await stack.conveyor(['skip-bake', `${shop.name}/1/deploy`, '--phase', phase, '--reason', 'a test']);
  await shop.ended(1);
  expect(await sees('is everywhere', COMMIT, ({ stage }) => stage === 'everywhere')).toMatchObject({ share: 1 });

  const none = await stack.conveyor(['where', 'f'.repeat(40)]);
  expect({ code: none.code, stdout: none.stdout }).toMatchObject({
    code: 4,
    stdout: expect.stringMatching(/No release contains f{40}\.\nSearched: .*\nNot searched: /) as string,
  });
});
