import { admit, enqueueReady } from '../../../domain/pipeline/admission';
import { recordDeploy, recordRelease } from '../../../domain/pipeline/recordOutcome';
import { queueRelease, markReleaseRunning, type PipelineState } from '../../../domain/pipeline/state';
import { judgeSoak, judgeReplaced, type SoakAsk } from '../../../domain/release/soak';
import type { DeployEndRecord } from '../../../domain/release/state';
import { artifact, deployed, manual, NOW, pipelineOf, resultOf, running } from '../../builders/pipelineWorld';

const HOUR = 3_600_000;
const at = (hours: number) => NOW + hours * HOUR;
const iso = (hours: number) => new Date(at(hours)).toISOString();

/** Release 1 has brought kv:2 to staging, at hour 0. */
const one = (): PipelineState =>
  recordDeploy(
    running(pipelineOf(['staging', 'deploy']), artifact('kv:2')),
    1,
    deployed('staging', 'succeeded', artifact('kv:2')),
    NOW,
  );
/** A release that deploys to staging for an hour, which ends at an hour. */
const then = (state: PipelineState, hours: number, version: string, how: Parameters<typeof deployed>[1]) => {
  const number = state.nextNumber;
  const deploy = deployed('staging', how, artifact(version));
  return recordDeploy(running(state, artifact(version)), number, lasting(deploy), at(hours));
};
const lasting = (deploy: DeployEndRecord): DeployEndRecord => ({
  ...deploy,
  result: { ...deploy.result, spans: { ...deploy.result.spans, updateMs: HOUR } },
});
const rolledBack = (state: PipelineState, of: number, hours: number, version: string): PipelineState => {
  const number = state.nextNumber;
  const trigger = { ...manual(), kind: 'rollback' as const, of };
  const begun = markReleaseRunning(queueRelease(state, [artifact(version)], trigger, NOW), number);
  return recordDeploy(begun, number, lasting(deployed('staging', 'succeeded', artifact(version))), at(hours));
};

const asking = (more: Partial<SoakAsk> = {}): SoakAsk => ({
  ...{ pipeline: 'kvstore', action: 'staging', wanted: [{ name: 'executable', version: 'kv:2' }] },
  ...{ forMs: 24 * HOUR, release: 1, ...more },
});
/** `waiting until 24h: why`, hours from the first deploy. */
function told(state: PipelineState | null, hours: number, more: Partial<SoakAsk> = {}): string {
  const answer = judgeSoak(state, asking(more), at(hours));
  const until = 'untilMs' in answer && answer.untilMs !== undefined ? ` until ${(answer.untilMs - NOW) / HOUR}h` : '';
  return `${answer.kind}${until}${'by' in answer ? ` by ${answer.by}` : ''}: ${answer.reason}`;
}

describe('a version soaks where it was deployed', () => {
  test('from the end of its deploy, for as long as it has to', () => {
    expect(told(one(), 1)).toBe(`waiting until 24h: soaking: staging runs executable@kv:2 since ${iso(0)}, of 1d`);
    expect(told(one(), 24)).toBe('soaked: executable@kv:2 has run in staging for 1d');
  });

  test('anew once a newer version was taken back', () => {
    const state = then(one(), 10, 'kv:3', { revertedBy: 'health' });
    expect(told(state, 33)).toContain('waiting until 34h');
    expect(told(state, 34)).toContain('soaked');
  });

  test('without end while another deploy runs there, and after one that left it mixed', () => {
    const busy = running(one(), artifact('kv:3'));
    const ready = { release: 2, action: 'staging', artifacts: [artifact('kv:3')], rollback: false };
    expect(told(admit(enqueueReady(busy, ready, NOW), NOW).state, 30)).toBe(
      'waiting: soaking: kvstore/2 deploys to staging meanwhile',
    );
    expect(told(then(one(), 30, 'kv:3', 'cancelled'), 60)).toContain('soaked');
    expect(told(then(one(), 10, 'kv:3', 'cancelled'), 60)).toBe(
      'waiting: soaking: executable@kv:2 does not run everywhere in staging any more',
    );
  });

  test('undisturbed by a deploy that never touched it', () => {
    const untouched = deployed('staging', 'cancelled', artifact('kv:3'));
    const state = recordDeploy(running(one(), artifact('kv:3')), 2, untouched, at(10));
    expect(told(state, 24)).toContain('soaked');
  });

  test('on where it was deployed once more and ran everywhere already, as in a rerun', () => {
    const again = (unchanged: object) => {
      const deploy = deployed('staging', 'succeeded', artifact('kv:2'));
      const known = running(one(), artifact('kv:2'));
      return recordDeploy(known, 2, { ...deploy, result: { ...deploy.result, ...unchanged } }, at(10));
    };
    expect(told(again({ unchanged: true }), 11)).toContain('waiting until 24h');
    expect(told(again({}), 11)).toContain('waiting until 34h');
  });

  test('in vain when a newer one takes its place before its time, and enough when it does after', () => {
    expect(told(then(one(), 24, 'kv:3', 'succeeded'), 60)).toBe(
      'replaced by 2: staging runs kv:3, which took the place of executable@kv:2 before it had run for 1d',
    );
    expect(told(then(one(), 25, 'kv:3', 'succeeded'), 60)).toContain('soaked');
  });

  test('in vain when it was rolled back, and anew once it is what is gone back to', () => {
    const two = then(one(), 5, 'kv:3', 'succeeded');
    const undone = rolledBack(two, 2, 50, 'kv:2');
    expect(told(undone, 60)).toContain('waiting until 74h');
    const kv3 = { wanted: [{ name: 'executable', version: 'kv:3' }] };
    expect(told(two, 29, kv3)).toContain('soaked');
    expect(told(undone, 60, kv3)).toContain('replaced by 3');
  });

  test('not at all where it is known to be bad, or has never been', () => {
    const bad = { ...one(), knownBad: [{ artifact: 'executable@kv:2#sha', at: iso(1), reason: 'it leaks' }] };
    expect(told(bad, 30)).toBe('bad: executable@kv:2#sha is known to be bad in kvstore: it leaks');
    expect(told(one(), 30, { action: 'other' })).toBe('waiting: soaking: other has not brought executable@kv:2 yet');
    expect(told(null, 30)).toBe('waiting: soaking: there is no pipeline kvstore yet');
  });

  test('another digest is another version', () => {
    const wanted = [{ name: 'executable', version: 'kv:2', digest: 'sha256:1' }];
    expect(told(one(), 30, { wanted })).toContain('soaked');
    const [good] = one().good['staging'] ?? [];
    const other = { ...artifact('kv:2'), digest: 'sha256:2' };
    const state = { ...one(), good: { staging: [{ ...good!, artifacts: [other] }] } };
    expect(told(state, 30, { wanted })).toContain('has not brought');
  });

  test('from the end of its release where its pipeline did not keep since when', () => {
    const old = (state: PipelineState): PipelineState => ({
      ...state,
      good: Object.fromEntries(
        Object.entries(state.good).map(([name, all]) => [name, all.map(({ since: _, ...deploy }) => deploy)]),
      ),
    });
    expect(told(old(one()), 5, { deployedAt: iso(2) })).toContain('waiting until 26h');
    const ended = recordRelease(one(), resultOf(1, [], [artifact('kv:2')]), NOW);
    expect(told(old(ended), 5)).toContain('waiting until 25h');
  });
});

describe('a version that soaks in another pipeline', () => {
  const elsewhere = { action: null, release: 7 } as const;
  const ended = (state: PipelineState, result: 'succeeded' | 'failed') =>
    recordRelease(state, { ...resultOf(1, [], [artifact('kv:2')]), state: result }, NOW);

  test('has soaked when every deploy of it has, and its release has come through', () => {
    expect(told(one(), 30, elsewhere)).toBe('waiting: soaking: kvstore/1 has not ended yet');
    expect(told(ended(one(), 'failed'), 30, elsewhere)).toBe('bad: kvstore/1 failed');
    const later = recordDeploy(one(), 1, deployed('deploy', 'succeeded', artifact('kv:2')), at(3));
    expect(told(ended(one(), 'succeeded'), 30, elsewhere)).toContain('deploy of kvstore has not brought');
    expect(told(ended(later, 'succeeded'), 25, elsewhere)).toContain('waiting until 27h');
    expect(told(ended(later, 'succeeded'), 27, elsewhere)).toContain('soaked');
  });

  test('waits for a deploy of it that there is none of yet', () => {
    const wanted = [{ name: 'model', version: '1' }];
    expect(told(one(), 1, { ...elsewhere, wanted })).toBe('waiting: soaking: kvstore deploys no model');
  });

  test('is given up for a newer release here once it was replaced there, in order at once, and else may come back', () => {
    const replaced = { kind: 'replaced', reason: 'kv:3 runs', by: 2 } as const;
    const here = running(running(pipelineOf(), artifact('kv:2')), artifact('kv:3'));
    expect(judgeReplaced(replaced, here, 1)).toEqual({ ...replaced, by: 2 });
    expect(judgeReplaced(replaced, here, 2)).toEqual({ kind: 'waiting', reason: 'soaking: kv:3 runs' });
    const inOrder = running(pipelineOf(['deploy'], { releases: { supersede: 'never' } }), artifact('kv:2'));
    expect(judgeReplaced(replaced, inOrder, 1)).toEqual(replaced);
  });
});
