import { admit, enqueueReady, withdraw } from '../../../domain/pipeline/admission';
import { recordDeploy, recordRelease } from '../../../domain/pipeline/recordOutcome';
import type { PipelineState } from '../../../domain/pipeline/state';
import type { DeployEndRecord } from '../../../domain/release/state';
import { artifact, deployed, NOW, pipelineOf, resultOf, running } from '../../builders/pipelineWorld';

const BAD = deployed('deploy', { revertedBy: 'health' }, artifact('kv:2'));
const ask = (state: PipelineState, release: number, version: string): PipelineState =>
  enqueueReady(state, { release, action: 'deploy', artifacts: [artifact(version)], rollback: false }, NOW);
/** Release 1 deploys kv:2, and release 2 waits with the version given. */
const waiting = (version: string, onRevert: 'until-newer' | 'hold' = 'until-newer'): PipelineState => {
  const two = running(running(pipelineOf(['deploy'], { releases: { onRevert } }), artifact('kv:2')), artifact(version));
  return ask(admit(ask(two, 1, 'kv:2'), NOW).state, 2, version);
};
/** After the deploy of release 1 ended like this, while the release continues. */
const after = (state: PipelineState, deploy: DeployEndRecord): PipelineState =>
  withdraw(recordDeploy(state, 1, deploy, NOW), { release: 1, action: 'deploy' });
const told = (state: PipelineState): string[] =>
  admit(state, NOW).decisions.map(({ release, admission }) => `${release} ${admission.kind}`);

describe('the end of a deploy counts before the next one is admitted, even while its release continues', () => {
  test.each<[string, PipelineState, string[]]>([
    ['another version may deploy after a revert', waiting('kv:3'), ['2 granted']],
    ['the version that was reverted may not', waiting('kv:2'), ['2 bad-package']],
    ['nothing may with onRevert: hold', waiting('kv:3', 'hold'), []],
  ])('%s', (_, state, expected) => expect(told(after(state, BAD))).toEqual(expected));

  test('and counts once when the release ends', () => {
    const booked = after(waiting('kv:3'), BAD);
    const over = recordRelease(booked, resultOf(1, [BAD], [artifact('kv:2')]), NOW);
    expect(over.revertsInARow).toBe(1);
    expect(over.knownBad).toEqual(booked.knownBad);
    expect(over.history).toHaveLength(1);
  });

  test('two reverts of one release are one in a row', () => {
    const east = { ...BAD, action: 'east' };
    const booked = recordDeploy(recordDeploy(waiting('kv:3'), 1, BAD, NOW), 1, east, NOW);
    expect(booked.revertsInARow).toBe(1);
    expect(booked.held).toBeNull();
  });

  test('a deploy that succeeds is what the next one goes back to', () => {
    const good = deployed('deploy', 'succeeded', artifact('kv:2'));
    const state = recordRelease(after(waiting('kv:3'), good), resultOf(1, [good], [artifact('kv:2')]), NOW);
    expect(state.good['deploy']?.map(({ release }) => release)).toEqual([1]);
  });

  test('and no less when its release ends with it, and says both at once', () => {
    const left = { left: ['kv:2'], before: { units: [] } };
    const ended = (deploy: DeployEndRecord): PipelineState =>
      recordRelease(waiting('kv:3'), resultOf(1, [deploy]), NOW);
    const mixed = deployed('deploy', 'cancelled', artifact('kv:2'));
    expect(told(ended(BAD))).toEqual(['2 granted']);
    expect(ended(BAD)).toMatchObject({ revertsInARow: 1, inherited: {}, deploys: { holder: null } });
    expect(ended({ ...mixed, result: { ...mixed.result, leaves: left } }).inherited).toEqual({ deploy: left });
  });
});
