import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ZodError } from 'zod';
import { recordRelease } from '../../../domain/pipeline/recordOutcome';
import { adoptReleases, toPipelineDocument, importDocument, refuseImport } from '../../../domain/pipeline/document';
import { markKnownBad } from '../../../domain/pipeline/knownBad';
import {
  queueRelease,
  goesBackTo,
  holdPipeline,
  newPipeline,
  markReleaseRunning,
  type PipelineState,
} from '../../../domain/pipeline/state';
import { recordLatestInputs } from '../../../domain/pipeline/submissions';
import { parsePipelineDocument } from '../../../domain/spec/pipelineDocument';
import { run } from '../../builders/cliWorld';
import { artifact, manual, NOW, pipelineOf, resultOf } from '../../builders/pipelineWorld';

const OWNER = 'user:alice';
const BY = { actor: 'user:root', permitted: 'platform.admins', nowMs: NOW };
const source = artifact('s1', 'source');
const fresh = pipelineOf(['deploy']);
const queued = queueRelease(recordLatestInputs(fresh, [source]), [source], { ...manual(), key: 'k1' }, NOW);
const used = holdPipeline(
  markKnownBad(
    recordRelease(markReleaseRunning(queued, 1), resultOf(1, [], [source]), NOW),
    [artifact('s0', 'source')],
    'bad',
    NOW,
  ),
  ...([OWNER, 'audit', NOW] as const),
);
const document = toPipelineDocument(used, NOW);
const read = (value: unknown) => {
  const parsed = parsePipelineDocument(JSON.parse(JSON.stringify(value)));
  if (parsed instanceof ZodError) throw parsed;
  return parsed;
};

describe('an export', () => {
  test('comes back: spec, records, known-bad, keys and numbers; decisions of people are kept only in the file', () => {
    const back = importDocument(null, read(document), fresh.groups, fresh.settings, BY);
    const again = toPipelineDocument(back, NOW);
    expect(again).toMatchObject({
      ...{ spec: document.spec, keys: [['k1', 1]], nextNumber: 2 },
      held: { actor: 'service:import', reason: 'imported: audit' },
      knownBad: [{ artifact: 'source@s0', reason: 'imported: bad' }],
      history: [{ number: 1, imported: true, trigger: { actor: 'service:import' } }],
    });
    expect(back).toMatchObject({ active: [], imported: { actor: 'user:root', vouched: true } });
    expect(JSON.stringify(again).replace(JSON.stringify(again.spec), '')).not.toContain('user:alice');
    const { imported: _mark, ...twice } = importDocument(null, read(again), fresh.groups, fresh.settings, BY);
    expect(toPipelineDocument(twice, NOW)).toEqual(again);
  });

  test('is good to go back to only by the rules, and says neither what it held nor for how long it ran', () => {
    const deploy = { release: 1, version: 'kv:1', artifacts: [artifact('kv:1')] };
    const good = { deploy: [{ ...deploy, held: { ids: ['kvstore-x'] }, ranMs: 9, since: '2026-01-05T12:00:00.000Z' }] };
    const file = read(toPipelineDocument({ ...used, good }, NOW));
    const back = importDocument(null, file, fresh.groups, fresh.settings, BY);
    expect(back.good).toEqual({ deploy: [{ ...deploy, since: null, imported: true }] });
    const known = { ...used, good };
    expect(importDocument(known, file, fresh.groups, fresh.settings, BY).good).toEqual(good);
    expect(goesBackTo(back, back.good['deploy']?.[0])).toBe('kv:1');
    const claimed = importDocument(null, file, fresh.groups, fresh.settings, {
      ...BY,
      permitted: 'platform.pipelines.0.creators',
    });
    expect(goesBackTo(claimed, claimed.good['deploy']?.[0])).toBeNull();
  });

  test('leaves what runs as it is', () => {
    const running = queueRelease(fresh, [source], manual(), NOW);
    const back = importDocument(running, { ...document, nextNumber: 9 }, fresh.groups, fresh.settings, BY);
    expect(back).toMatchObject({ nextNumber: 9, active: [{ number: 1 }], history: [{ number: 1 }] });
  });

  test('takes nothing back that its pipeline has learned since', () => {
    const since = holdPipeline(markKnownBad(used, [artifact('s2', 'source')], 'reverted', NOW), OWNER, 'reverted', NOW);
    const command = {
      at: '2026-01-05T12:00:00.000Z',
      verb: 'freeze',
      actor: OWNER,
      reason: '',
      accepted: true,
    } as const;
    const frozen = { actor: OWNER, at: command.at, reason: 'audit' };
    const state = { ...since, frozen, commands: [command], badUnlisted: 2 };
    const back = importDocument(state, read({ ...document, held: null }), fresh.groups, fresh.settings, BY);
    expect(back.knownBad.map((bad) => bad.artifact)).toEqual(['source@s0', 'source@s2']);
    expect(back).toMatchObject({ held: since.held, frozen, badUnlisted: 2, commands: [command] });
    const again = importDocument(state, read(toPipelineDocument(state, NOW)), fresh.groups, fresh.settings, BY);
    const { knownBad: bad, ...others } = toPipelineDocument(again, NOW);
    const { knownBad: had, ...before } = toPipelineDocument(state, NOW);
    expect([others, bad.map((one) => one.artifact)]).toEqual([before, had.map((one) => one.artifact)]);
  });

  test('forgets nothing of the releases that have begun since, and takes no request twice', () => {
    const before = { ...used, newestBegun: { deploy: 5, test: 2 }, keys: [['ci-1', 1]] as const };
    const begunAt = { deploy: [[7, NOW]] as const };
    const proofs = [{ id: 'freeze-1', atMs: NOW }];
    const state = {
      ...before,
      newestBegun: { deploy: 7 },
      keys: [
        ['ci-1', 1],
        ['ci-7', 7],
      ] as const,
      begunAt,
      proofs,
    };
    const back = importDocument(state, read(toPipelineDocument(before, NOW)), fresh.groups, fresh.settings, BY);
    expect(back).toMatchObject({ newestBegun: { deploy: 7, test: 2 }, keys: state.keys, begunAt, proofs });
  });

  test('comes back with what is known of offers, and takes none of it from its pipeline', () => {
    const own = { ...used, offered: true as const, uses: { deploy: ['network'] } };
    const file = read(toPipelineDocument(own, NOW, { made: ['vpc 2.3.0'], users: ['shop/deploy'], more: 0 }));
    expect(file.offers).toEqual({ made: ['vpc 2.3.0'], users: ['shop/deploy'], more: 0 });
    const back = importDocument(null, file, fresh.groups, fresh.settings, BY);
    expect(back).toMatchObject({ offered: true, uses: { deploy: ['network'] } });
    expect(back).not.toHaveProperty('offers');
    const before = read(document);
    const since = { ...own, uses: { deploy: ['dns'], other: ['network'] } };
    expect(importDocument(since, before, fresh.groups, fresh.settings, BY)).toMatchObject({
      offered: true,
      uses: since.uses,
    });
    const both = importDocument(since, file, fresh.groups, fresh.settings, BY);
    expect(both.uses).toEqual({ deploy: ['network', 'dns'], other: ['network'] });
    expect(importDocument(used, before, fresh.groups, fresh.settings, BY)).not.toHaveProperty('offered');
    const offering = { ...used, spec: { ...used.spec, offers: [{ name: 'vpc', value: {}, to: ['*'] }] } };
    expect(importDocument(offering, before, fresh.groups, fresh.settings, BY)).toMatchObject({ offered: true });
  });

  test('comes back with what deploys left behind, and with what the list of known-bad had no room for', () => {
    const left = { left: ['kv:2'], before: { at: 'snapshots/1', pages: 2 }, settled: ['a'] };
    const state = { ...used, inherited: { deploy: left }, inheritedOmitted: { other: 3 }, badUnlisted: 1 };
    const back = importDocument(null, read(toPipelineDocument(state, NOW)), fresh.groups, fresh.settings, BY);
    expect(back).toMatchObject({ inherited: { deploy: left }, inheritedOmitted: { other: 3 }, badUnlisted: 1 });
    const owner = { ...BY, permitted: 'platform.pipelines.0.creators' };
    expect(
      importDocument(null, read(toPipelineDocument(state, NOW)), fresh.groups, fresh.settings, owner).inherited,
    ).toEqual({});
  });

  test('is refused when a pipeline could not carry it', () => {
    const bad = Array.from({ length: 600 }, (_, n) => ({ artifact: `source@${n}`, at: '', reason: 'x'.repeat(100) }));
    expect(refuseImport(null, { ...document, knownBad: bad }, {}, OWNER)?.code).toBe('over-limit');
    const good = { deploy: [{ release: 1, version: 'kv:1', artifacts: [{ ...source, uri: 'x'.repeat(600_000) }] }] };
    expect(refuseImport(null, { ...document, good }, {}, OWNER)?.code).toBe('over-limit');
    const spec = { ...document.spec, owners: [OWNER, ...bad.map(({ artifact: name }) => `user:${name}`)] };
    expect(refuseImport(null, { ...document, spec }, {}, OWNER)?.code).toBe('over-limit');
  });

  test.each<[string, PipelineState | null, number, string, string | undefined]>([
    ['is taken where there is no pipeline', null, 2, OWNER, undefined],
    ['is taken over one that has come as far', used, 2, OWNER, undefined],
    ['is refused over one that has come further', used, 1, OWNER, 'invalid-state'],
    ['is refused from somebody who is not an owner', used, 2, 'user:bob', 'not-permitted'],
    ['is refused from somebody who would be none', null, 2, 'user:bob', 'not-permitted'],
  ])('%s', (_, state, nextNumber, actor, code) => {
    expect(refuseImport(state, { ...document, nextNumber }, {}, actor)?.code).toBe(code);
  });

  test('is refused when its spec cannot be run, and read when an artifact has no metadata', () => {
    const { deploy } = document.spec.actions;
    const actions = { deploy: { ...deploy, mutex: undefined } } as unknown as typeof document.spec.actions;
    const broken = { ...document, spec: { ...document.spec, actions } };
    expect(refuseImport(null, broken, {}, OWNER)?.message).toBe('its spec is none that an export wrote');
    const { metadata: _, ...bare } = source;
    expect(read({ ...document, inputs: { source: bare } }).inputs['source']).toEqual({ ...bare, metadata: {} });
  });

  test.each<[string, object, string]>([
    ['another kind of file', { kind: 'pipeline' }, 'kind'],
    ['a later version', { version: 2 }, 'version'],
    ['a number that is none', { nextNumber: 0 }, 'nextNumber'],
    ['a number that its history has', { nextNumber: 1 }, 'nextNumber'],
    ['books without names', { good: [] }, 'good'],
    ['more than there is', { extra: 1 }, ''],
    ['the spec of another pipeline', { pipeline: 'other' }, 'spec.pipeline'],
  ])('is not read from %s', (_, change, path) => {
    const parsed = parsePipelineDocument({ ...document, ...change });
    expect(parsed).toBeInstanceOf(ZodError);
    expect((parsed as ZodError).issues[0]?.path.join('.')).toBe(path);
  });
});

test('a pipeline that continues gives no number twice and forgets no release', () => {
  const missed = { number: 4, state: 'running', artifacts: [source], trigger: manual(), createdAt: '' } as const;
  const next = adoptReleases(newPipeline(fresh.spec, {}, fresh.settings), { nextNumber: 5, releases: [missed] });
  expect(next).toMatchObject({ nextNumber: 5, active: [{ number: 4 }] });
  expect(adoptReleases(used, { nextNumber: 1, releases: [{ ...missed, number: 1 }] })).toEqual(used);
});

describe('conveyor pipeline', () => {
  test('writes what it exports into the file of -o, and puts that back', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'conveyor-export-')), 'kvstore.json');
    const taken: unknown[] = [];
    const client = {
      exportPipeline: () => Promise.resolve(document),
      importPipeline: (...given: unknown[]) => {
        taken.push(...given);
        return Promise.resolve({ created: true, previous: null });
      },
    };
    const saved = await run(['pipeline', 'export', 'kvstore', '-o', file], { client });
    expect(saved).toMatchObject({ code: 0, out: '' });
    const { code, out } = await run(['pipeline', 'import', file], { client });
    expect([code, out]).toEqual([0, `kvstore created from ${file}; its next release is kvstore/2\n`]);
    expect(taken[0]).toEqual(JSON.parse(JSON.stringify(document)));
  });

  test('prints what it exports as JSON, whatever the format', async () => {
    const client = { exportPipeline: () => Promise.resolve(document) };
    for (const argv of [[], ['-o', 'json']]) {
      const { code, out } = await run(['pipeline', 'export', 'kvstore', ...argv], { client });
      expect([code, JSON.parse(out)]).toEqual([0, JSON.parse(JSON.stringify(document))]);
    }
  });

  test.each([
    ['a cycle', { deploy: { ...fresh.spec.actions['deploy'], needs: ['deploy'] } }, 'actions.deploy'],
    [
      'what no schema would take',
      { deploy: { ...fresh.spec.actions['deploy'], with: {} } },
      'the spec is not one that',
    ],
  ])('puts back a pipeline whose spec has %s, and warns of it', async (_, actions, said) => {
    const file = join(mkdtempSync(join(tmpdir(), 'conveyor-export-')), 'kvstore.json');
    writeFileSync(file, JSON.stringify({ ...document, spec: { ...document.spec, actions } }));
    const client = { importPipeline: () => Promise.resolve({ created: true, previous: null }) };
    const { code, err } = await run(['pipeline', 'import', file], { client });
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining(`warning: ${said}`) as string });
  });
  test('refuses a pipeline whose spec lacks what each has, and says where', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'conveyor-export-')), 'kvstore.json');
    writeFileSync(
      file,
      JSON.stringify({ ...document, spec: { ...document.spec, actions: { deploy: { type: 'deploy' } } } }),
    );
    const { code, err } = await run(['pipeline', 'import', file], { client: {} });
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('spec: not a spec') as string });
  });
});
