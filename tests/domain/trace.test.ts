import { deployTrace, parentOfCall, releaseTrace } from '../../domain/trace';
import { computeTraceId } from '../../domain/traceIds';
import { createTraceparent } from '../../sdk/trace';
import { deploy, release as sample } from '../builders/cliSamples';

const release = sample();
const spans = releaseTrace(release);
const root = spans[0]!;
const named = (name: string) => [...spans, ...deployTrace(deploy())].find((span) => span.name === name);

describe('the trace of a release', () => {
  test('is one tree: the release, its actions, the phases of its deploys', () => {
    expect(root).toMatchObject({ name: `RUN ${release.pipeline}`, parent: null });
    const all = [...spans, ...deployTrace(deploy())];
    expect(new Set(all.map(({ trace }) => trace))).toEqual(new Set([root.trace]));
    const ids = all.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { name, parent } of all.slice(1)) expect([name, ids.includes(parent ?? '')]).toEqual([name, true]);
  });

  test('has the ids that calls of extensions have in their traceparent, and within which action they are', () => {
    const { pipeline, number } = release;
    const [, trace] = createTraceparent({ pipeline, release: number }).split('-');
    expect([trace, root.trace]).toEqual([computeTraceId(pipeline, number), computeTraceId(pipeline, number)]);
    const parent = (deployId: string) => parentOfCall({ pipeline, release: number, deployId });
    const deploy = named('deploy')?.id;
    expect(parent(`deploy/${pipeline}/${number}/deploy/1`)).toBe(deploy);
    expect(parent(`deploy/${pipeline}/${number}/deploy/1/0/pre/0/1`)).toBe(deploy);
    expect(parent(`${pipeline}/${number}/deploy/1`)).toBe(deploy);
    expect(parent('anything else')).toBe(root.id);
  });

  test('has the phases of each attempt of a deploy, all within its action', () => {
    const [first, second] = [1, 2].map((attempt) => deployTrace(deploy({ attempt })));
    expect(second?.map(({ name, parent }) => [name, parent])).toEqual(first?.map(({ name, parent }) => [name, parent]));
    expect(second?.filter(({ id }) => first?.some((one) => one.id === id))).toEqual([]);
  });

  test('has ids as W3C wants them, and others for another release', () => {
    expect(root.trace).toMatch(/^[0-9a-f]{32}$/);
    expect(root.id).toMatch(/^[0-9a-f]{16}$/);
    expect(computeTraceId('kvstore', 1)).not.toBe(computeTraceId('kvstore', 2));
  });

  test('leaves out what never began, and says what failed', () => {
    const began = release.actions.filter(({ startedAt }) => startedAt !== null);
    expect(spans).toHaveLength(1 + began.length);
    const failed = releaseTrace({ ...release, state: 'failed' })[0];
    expect([failed?.failed, failed?.attributes['cicd.pipeline.result']]).toEqual([true, 'failure']);
  });
});
