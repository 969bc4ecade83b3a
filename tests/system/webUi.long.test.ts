import { listPage } from '../../client/webUi';
import { workflowIds } from '../../domain/ids';
import { given, type Given, type Service } from './service';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

/** The view of a person who has only the Temporal Web UI: the test asks the server as the page does. */

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.open();
});
afterAll(() => stack.close());

const PATIENT: Given = {
  deploy: { phases: [{ name: 'first', scope: 'region:x', amount: 2, bake: '1h' }] },
  pipeline: { description: 'Sells things', labels: { tier: 'web' } },
};

/** Ids that Temporal's own list finds; visibility lags by a moment. */
const finds = (query: string, ids: readonly string[]): Promise<unknown> =>
  eventually(`a list of ${query} shows ${ids.join(', ')}`, async () => {
    const rows = JSON.parse(await stack.temporalCli(['workflow', 'list', '-q', query, '-o', 'json'])) as {
      execution: { workflowId: string };
    }[];
    const found = rows.map(({ execution }) => execution.workflowId).sort();
    return JSON.stringify(found) === JSON.stringify([...ids].sort());
  });

async function detailsOf(workflowId: string): Promise<string> {
  const metadata = await stack.temporal.workflow
    .getHandle(workflowId)
    .query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return metadata.currentDetails ?? '';
}

async function summaryOf(workflowId: string): Promise<string | undefined> {
  return (await stack.temporal.workflow.getHandle(workflowId).describe()).staticSummary();
}

describe('while a deploy bakes', () => {
  let shop: Service;
  let ids: { pipeline: string; release: string; deploy: string };
  beforeAll(async () => {
    shop = await given(stack, PATIENT);
    ids = {
      pipeline: workflowIds.pipeline(shop.name),
      release: workflowIds.release(shop.name, 1),
      deploy: shop.deployWorkflow(1),
    };
    await shop.ships(2);
    await shop.isIn(1, 'baking');
  });

  test('everything of a pipeline is found by search attributes, and a deploy by what it does now', async () => {
    await finds(`ConveyorPipeline='${shop.name}'`, Object.values(ids));
    await finds(`ConveyorRelease='${shop.name}/1'`, [ids.release, ids.deploy]);
    await finds(
      `ConveyorPipeline='${shop.name}' AND ConveyorState='baking' AND ConveyorPhase='first' AND ConveyorPushType='twine'`,
      [ids.deploy],
    );
    await finds(`ConveyorArtifact='${shop.version(2)}'`, [ids.deploy]);
    await finds(`ConveyorPipeline='${shop.name}' AND ConveyorLabels='tier=web' AND ConveyorFinders='manual'`, [
      ids.pipeline,
    ]);
    await finds(`ConveyorPipeline='${shop.name}' AND ConveyorOwners='${OWNER}'`, [ids.pipeline, ids.release]);
  });

  test('the list that commands lead to has all of it, and nothing superfluous', async () => {
    const queryOf = (page: string): string => new URL(page).searchParams.get('query') ?? '';
    await finds(queryOf(listPage('http://localhost:8233', 'default', shop.name)), Object.values(ids));
    const all = await stack.temporalCli([
      'workflow',
      'list',
      '-q',
      queryOf(listPage('http://x', 'default')),
      '-o',
      'json',
    ]);
    const types = (JSON.parse(all) as { type: { name: string } }[]).map(({ type }) => type.name);
    expect(types).toEqual(expect.arrayContaining(['deploy', 'pipeline', 'release']));
    // Other files on this server have parents with children, too.
    for (const machinery of ['artifactSweep', 'lock', 'snapshot']) expect(types).not.toContain(machinery);
  });

  test('summaries say what each is, and the current details what it does and what to type next', async () => {
    expect(await summaryOf(ids.pipeline)).toBe(`pipeline ${shop.name}`);
    expect(await summaryOf(ids.release)).toBe(`${shop.name}/1: executable@${shop.version(2)}, manual by ${OWNER}`);
    expect(await summaryOf(ids.deploy)).toBe(`${shop.name}/1/deploy: ${shop.version(2)} through twine`);
    const deploy = await detailsOf(ids.deploy);
    expect(deploy).toContain(`## ${shop.name}/1/deploy → ${shop.version(2)}`);
    expect(deploy).toContain('**baking phase first (1 of 2) until ');
    expect(deploy).toMatch(/^◌ first +2 of region:x +running +2\/2 live +bakes until \S+ \S+ UTC$/m);
    expect(deploy).toMatch(/^◷ completion +100% of \* +waiting$/m);
    for (const verb of ['watch', 'pause', 'skip-bake', 'revert'])
      expect(deploy).toMatch(new RegExp(`^conveyor ${verb} ${shop.name}/1/deploy`, 'm'));
    expect(await detailsOf(ids.release)).toMatch(/^◌ deploy +deploy +running$/m);
    expect(await detailsOf(ids.pipeline)).toMatch(/^1 +running /m);
  });

  test('timers and activities say what they are for', async () => {
    const { events } = await stack.temporal.workflow.getHandle(ids.deploy).fetchHistory();
    const text = (event: NonNullable<typeof events>[number]): string =>
      Buffer.from(event.userMetadata?.summary?.data ?? []).toString();
    const summaries = (events ?? []).map(text).filter((summary) => summary !== '');
    expect(summaries).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/first: send updates/),
        expect.stringMatching(/first: follow updates/),
        expect.stringMatching(/bake first until \d{4}-/),
      ]),
    );
  });
});

test('a pause is seen in the list of the Web UI, and in that of releases, until it is over', async () => {
  const shop = await given(stack, { ...PATIENT, pipeline: {} });
  await shop.ships(2);
  await shop.isIn(1, 'baking');
  const stateIs = (state: string, id: string) =>
    finds(`ConveyorPipeline='${shop.name}' AND ConveyorState='${state}'`, [id]);
  const because = ['--reason', 'a graph'];
  const release = stack.temporal.workflow.getHandle(workflowIds.release(shop.name, 1));
  await release.signal('pause', { actor: OWNER, reason: 'a graph' });
  await stateIs('paused (baking)', shop.deployWorkflow(1));
  await stateIs('paused', workflowIds.release(shop.name, 1));
  expect(await detailsOf(shop.deployWorkflow(1))).toMatch(/^Paused since \S+ \S+ UTC\.$/m);
  const listed = await stack.conveyor(['list', 'releases', '-p', shop.name]);
  expect(listed.stdout).toMatch(new RegExp(`^‖ ${shop.name}/1/deploy by \\S+ .*: a graph$`, 'm'));
  const pipeline = await stack.conveyor(['status', shop.name]);
  expect(pipeline.stdout).toMatch(new RegExp(`^‖ ${shop.name}/1/deploy by \\S+ .*: a graph$`, 'm'));
  expect(await stack.conveyor(['list', 'deploys', '-p', shop.name, '--state', 'baking', '-o', 'name'])).toMatchObject({
    stdout: `${shop.name}/1/deploy\n`,
  });
  expect(await stack.conveyor(['resume', `${shop.name}/1`, ...because])).toMatchObject({ code: 0 });
  await stateIs('baking', shop.deployWorkflow(1));
  await stateIs('running', workflowIds.release(shop.name, 1));
  await shop.stack.conveyor(['cancel', `${shop.name}/1`, ...because]);
  await shop.ended(1);
});

test('the end of a deploy is found by its outcome', async () => {
  const shop = await given(stack, { ...PATIENT, pipeline: {} });
  await shop.ships(2);
  await shop.isIn(1, 'baking');
  expect(await stack.conveyor(['revert', `${shop.name}/1`, '--reason', 'no'])).toMatchObject({ code: 0 });
  await shop.ended(1);
  await finds(`ConveyorPipeline='${shop.name}' AND ConveyorOutcome='reverted'`, [shop.deployWorkflow(1)]);
  expect(await detailsOf(shop.deployWorkflow(1))).toMatch(/^↩ first /m);
  const bad = await detailsOf(workflowIds.pipeline(shop.name));
  expect(bad).toContain(`- \`executable@${shop.version(2)}\`: release 1 was reverted by ${OWNER}: no`);
  expect(bad).toContain(`conveyor unhold ${shop.name} --reason`);
  expect(bad).toContain(`conveyor allow-artifact ${shop.name} executable@${shop.version(2)} --reason`);
});
