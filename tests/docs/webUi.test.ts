import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listPage } from '../../client/webUi';
import { deployDetails } from '../../domain/deploy/details';
import { queueRelease, newPipeline, type PipelineState } from '../../domain/pipeline/state';
import { pipelineDetails } from '../../domain/pipeline/view';
import { releaseDetails } from '../../domain/release/details';
import { DEFAULT_SETTINGS } from '../../domain/settings';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import { deploy, NOW, release, revertedDeploy } from '../builders/cliSamples';

test('docs/guides/operate.md leads to the list of what people look for, at the address that commands print', () => {
  const page = readFileSync(join(__dirname, '../../docs/guides/operate.md'), 'utf8');
  expect(page).toContain(`<${listPage('http://localhost:8233', 'default')}>`);
});

/** The view of a person who has only the Temporal Web UI (docs/images). */
describe('the page of a deploy in the Temporal Web UI', () => {
  test('says what is deployed, which phase bakes until when, and what to type next', () => {
    const text = deployDetails(deploy());
    expect(text).toContain('## kvstore/13/deploy → kv:13\n\n**phase first bakes**');
    expect(text).toContain(
      [
        '```',
        '◌ first       3 of region:x  running  3/3 live  bakes until 2026-11-20 14:02:52 UTC',
        '◷ completion  100% of *      waiting',
        '```',
      ].join('\n'),
    );
    expect(text).toMatch(/Next:\n```\nconveyor pause kvstore\/13\/deploy --reason "…"\n```$/);
  });

  test('names the outcome and the check that decided it', () => {
    const text = deployDetails(revertedDeploy());
    expect(text).toContain('**reverted: errors of kvstore-x is unhealthy**');
    expect(text).toContain('Health\n\n- ✖ **kvstore-x errors** unhealthy: the mean of 3 tasks is above the limit');
  });

  test('does not say the outcome twice', () => {
    const text = deployDetails(deploy({ outcome: 'cancelled', summary: 'cancelled by user:alice: wrong artifact' }));
    expect(text).toContain('**cancelled by user:alice: wrong artifact**');
  });

  test('stays below what the server keeps, however long the reasons are', () => {
    const timeline = Array.from({ length: 8 }, () => ({
      at: '2026-11-20T14:01:32.000Z',
      kind: 'x',
      text: 'y'.repeat(4_000),
    }));
    expect(Buffer.byteLength(deployDetails(deploy({ timeline })))).toBeLessThan(20_000);
  });
});

test('the page of a release lists its actions and leads to the deploy', () => {
  const text = releaseDetails(release());
  expect(text).toContain('✔ build    build   succeeded\n◌ deploy   deploy  running\n◷ publish  pkg     waiting');
  expect(text).toMatch(/Next:\n```\nconveyor watch kvstore\/13\nconveyor status kvstore\/13\/deploy\n```$/);
});

describe('the page of a pipeline in the Temporal Web UI', () => {
  const spec = {
    pipeline: 'kvstore',
    description: '',
    owners: [],
    labels: {},
    mutex: {},
    releases: { maxActive: 5 },
    ...{ schedule: {}, actions: {} },
  } as unknown as PipelineSpec;
  const empty = newPipeline(spec, {}, DEFAULT_SETTINGS);

  test('says that nothing was deployed yet', () => {
    expect(pipelineDetails(empty, NOW)).toContain('Nothing has been deployed yet.');
  });

  test('lists releases, what is known to be bad and why it is held', () => {
    const at = '2026-11-20T14:02:10.000Z';
    const state: PipelineState = {
      ...queueRelease(empty, [], { kind: 'manual', actor: 'user:alice', key: null }, NOW),
      knownBad: [{ artifact: 'executable@kv:13', at, reason: 'errors' }],
      held: { actor: 'user:bob', at, reason: 'incident' },
    };
    const text = pipelineDetails(state, NOW);
    expect(text).toContain('**held by user:bob since 2026-11-20 14:02:10 UTC: incident**');
    expect(text).toContain('```\n1  queued  2026-11-20 14:02:10\n```');
    expect(text).toContain('- `executable@kv:13`: errors');
    expect(text).toContain('conveyor status kvstore # shows which releases are paused, and why\n');
    expect(text).toContain('conveyor unhold kvstore --reason "…"\nconveyor allow-artifact kvstore executable@kv:13');
  });
});
