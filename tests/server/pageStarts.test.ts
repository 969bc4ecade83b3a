import { conveyorError } from '../../domain/errors';
import type { PipelineStatus, ReleaseStatus } from '../../domain/views';
import type { FrontClient } from '../../server/deps';
import { buttonWorld, readConfirmFields } from '../builders/buttonWorld';
import { action } from '../builders/cliSamples';
import { busyPipeline, pageWorld, succeeded } from '../builders/pageWorld';
import { specOf } from '../builders/pipelineWorld';

const REASON = 'the test bed is up again';
const RERUN = '/releases/kvstore/10/commands/rerun';
const RELEASE = '/pipelines/kvstore/commands/release';
const STARTS = [
  ['/releases/kvstore/10', RERUN, 'rerun', 'kvstore/10'],
  ['/pipelines/kvstore', RELEASE, 'release', 'kvstore'],
] as const;

const failedRelease = (): ReleaseStatus => ({
  ...succeeded(10),
  state: 'failed',
  actions: [
    action(),
    action({ name: 'load-test', type: 'perf-test', needs: ['build'], state: 'failed' }),
    action({ name: 'deploy', type: 'deploy', needs: ['load-test'], state: 'skipped' }),
  ],
});

/** A pipeline whose release 10 has failed, and that can run it again unless the records say otherwise. */
function startWorld(records: Partial<PipelineStatus> = { rerunnable: [10] }, over: Partial<FrontClient> = {}) {
  const started: (readonly unknown[])[] = [];
  const begun = { id: 'kvstore/15', number: 15, duplicate: false };
  const plain = pageWorld();
  const state = { pipeline: { ...busyPipeline(), ...records } };
  const world = buttonWorld({
    spec: () =>
      Promise.resolve({
        ...specOf(['deploy'], { artifacts: { source: { finder: 'manual' }, config: { finder: 'manual' } } }),
        ...{ pipeline: 'kvstore', owners: ['group:storage'] },
      }),
    status: (id) =>
      id === 'kvstore'
        ? Promise.resolve(state.pipeline)
        : id === 'kvstore/10'
          ? Promise.resolve(failedRelease())
          : id === 'kvstore/15'
            ? Promise.resolve({ ...succeeded(15), state: 'queued', endedAt: null, actions: [], timeline: [] })
            : plain.client.status(id),
    rerun: (...call) => (started.push(['rerun', ...call]), Promise.resolve(begun)),
    release: (...call) => (started.push(['release', ...call]), Promise.resolve(begun)),
    ...over,
  });
  return { ...world, started, state };
}

describe('a page starts a release', () => {
  test.each(STARTS)('from %s by %s for an owner, as the API does', async (page, path, verb, target) => {
    const { signIn, started, audited } = startWorld();
    const alice = await signIn('user:alice');
    const shown = await (await alice.get(page)).text();
    expect(shown).toContain(`action="${path}"`);
    expect(shown.replace(/<\/?span>/g, '')).toContain(`conveyor ${verb} ${target} --reason`);
    const preview = await (await alice.get(path)).text();
    expect(started).toEqual([]);
    const fields = readConfirmFields(preview);
    const more: Record<string, string> = verb === 'release' ? { 'version.config': ' 7 ' } : {};
    const done = await alice.post(path, { ...fields, ...more, reason: REASON });
    expect([done.status, done.headers.get('location')]).toEqual([
      303,
      expect.stringMatching(/^\/releases\/kvstore\/15\?done=./),
    ]);
    const given = { kind: 'manual', actor: 'user:alice', reason: REASON, key: fields['key'] };
    expect(started).toEqual([
      verb === 'rerun'
        ? ['rerun', 'kvstore', 10, expect.objectContaining(given)]
        : [
            ...['release', 'kvstore', [{ name: 'config', kind: 'config', version: '7', metadata: {} }]],
            expect.objectContaining(given),
          ],
    ]);
    expect(audited.at(-1)).toMatchObject({
      ...{ door: 'api', operation: verb, actor: 'user:alice', reason: REASON, outcome: 'accepted' },
      result: 'kvstore/15',
    });
    const landed = await alice.get(done.headers.get('location') ?? '');
    expect([landed.status, await landed.text()]).toEqual([
      200,
      expect.stringMatching(/<title>kvstore\/15 .*Done\.<\/b> <bdi>kvstore\/15: it is started/s),
    ]);
  });

  test.each(STARTS)('from %s by %s never for a stranger, who sees the rule', async (page, path, verb) => {
    const { signIn, started, audited } = startWorld();
    const wendy = await signIn('user:wendy');
    expect(await (await wendy.get(page)).text()).not.toContain(`action="${path}"`);
    const preview = await wendy.get(path);
    expect([preview.status, await preview.text()]).toEqual([403, expect.stringContaining('group:storage')]);
    const csrf = /name="csrf" value="([^"]+)"/.exec(await (await wendy.get('/')).text())?.[1] ?? '';
    const sent = await wendy.post(path, { csrf, seen: '', key: 'k', reason: REASON, 'version.source': '1' });
    expect([sent.status, started]).toEqual([403, []]);
    expect(audited.at(-1)).toMatchObject({ operation: verb, actor: 'user:wendy', outcome: 'refused', reason: REASON });
  });

  test.each(STARTS)('from %s by %s only with its token, from here, and with a reason', async (_page, path) => {
    const { signIn, started } = startWorld();
    const alice = await signIn('user:alice');
    const page = await (await alice.get(path)).text();
    const fields: Record<string, string> = { ...readConfirmFields(page), reason: REASON, 'version.config': '7' };
    expect((await alice.post(path, { ...fields, csrf: '' })).status).toBe(403);
    expect((await alice.post(path, fields, { origin: 'https://evil.example' })).status).toBe(403);
    const blank = await alice.post(path, { ...fields, reason: '  ' });
    expect([blank.status, started]).toEqual([400, []]);
    // The form keeps its key, so a second try is not a second release.
    expect(readConfirmFields(await blank.text())['key']).toBe(fields['key']);
    expect((await alice.post(path, { ...fields, key: 'k'.repeat(201) })).status).toBe(413);
    expect(started).toEqual([]);
  });
});

describe('the page about a release that is to start', () => {
  test('says what a rerun repeats', async () => {
    const alice = await startWorld().signIn('user:alice');
    const page = await (await alice.get(RERUN)).text();
    expect(page).toContain('It takes source@10');
    expect(page).toContain('2 actions run again; the results of 1 other are taken over');
  });

  test('asks for the versions, and names the latest', async () => {
    const alice = await startWorld().signIn('user:alice');
    const page = await (await alice.get(RELEASE)).text();
    expect(page).toContain('The latest version is source@14.');
    expect(page).toMatch(/name="version\.source" value="" placeholder="14"/);
    expect(page).toMatch(/name="version\.config" value="" placeholder="" required/);
  });

  test('shows the new latest version before a release takes it', async () => {
    const { signIn, state, started, clock } = startWorld();
    const alice = await signIn('user:alice');
    const fields = { ...readConfirmFields(await (await alice.get(RELEASE)).text()), reason: REASON };
    state.pipeline = {
      ...state.pipeline,
      inputs: [{ name: 'source', kind: 'source', version: '15', metadata: {} }],
    };
    clock.ms += 2_000;
    const stale = await alice.post(RELEASE, { ...fields, 'version.config': '7' });
    expect([stale.status, started]).toEqual([409, []]);
    const page = await stale.text();
    expect(page).toContain('The latest version is source@15.');
    expect(page).toMatch(/name="version\.config" value="7"/);
  });

  test('shows the refusal of the pipeline in place', async () => {
    const refusal = conveyorError('not-rerunnable', {
      ...{ id: 'kvstore/10', why: 'release 13 is newer and has begun deploy' },
      instead: 'conveyor release kvstore releases the same versions',
    });
    const { signIn } = startWorld({ rerunnable: [10] }, { rerun: () => Promise.reject(refusal) });
    const alice = await signIn('user:alice');
    const fields = readConfirmFields(await (await alice.get(RERUN)).text());
    const refused = await alice.post(RERUN, { ...fields, reason: REASON });
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('13 is newer')]);
  });
});

test('a release that its pipeline would not run again has no button, and none succeeds by its address', async () => {
  const { signIn, started } = startWorld({});
  const alice = await signIn('user:alice');
  expect(await (await alice.get('/releases/kvstore/10')).text()).not.toContain(RERUN);
  const refused = await alice.get(RERUN);
  expect([refused.status, started]).toEqual([409, []]);
});

test('a pipeline that is retired starts no release', async () => {
  const retired = { actor: 'user:alice', at: '2026-11-20T14:00:00.000Z', reason: 'it is part of the shop' };
  const alice = await startWorld({ retired }).signIn('user:alice');
  expect(await (await alice.get('/pipelines/kvstore')).text()).not.toContain(RELEASE);
});
